import { isObject } from '../../schema/endpoint.ts';
import { inexactInteger, inexactTextIn } from '../../schema/exact-integers.ts';
import { INVALID_PARAMS, invalidRequest, McpError, NOT_PARSED, PARSE_ERROR, type RpcId } from './errors.ts';

/** Parses the JSON-RPC message in the body of a request (mcp.md A4). */

export type RpcRequest = { kind: 'request'; id: RpcId; method: string; params: unknown };
export type RpcNotification = { kind: 'notification'; method: string; params: unknown };
export type RpcAnswer = { kind: 'answer'; id: RpcId };

export type RpcMessage = (RpcRequest | RpcNotification | RpcAnswer) & {
  /** The unmodified message. */
  readonly raw: Readonly<Record<string, unknown>>;
};

/** A parsed body, which may be invalid JSON or contain an integer that cannot be represented exactly. */
export type Parsed =
  | { value: unknown; problem?: undefined; inexact?: string }
  | { value?: undefined; problem: string };

export const parseBody = (text: string): Parsed => {
  try {
    const value: unknown = JSON.parse(text);
    const inexact = inexactInteger(text);
    return inexact === undefined ? { value } : { value, inexact: inexactTextIn(value, inexact) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
};

/** @throws McpError 400 */
export const readMessage = (parsed: Parsed): RpcMessage => {
  if (parsed.problem !== undefined) throw new McpError(400, PARSE_ERROR, `${NOT_PARSED}${parsed.problem}`);
  const message = messageIn(parsed.value);
  if (parsed.inexact === undefined) return message;
  throw new McpError(400, INVALID_PARAMS, parsed.inexact, message.kind === 'request' ? message.id : null);
};

const messageIn = (raw: unknown): RpcMessage => {
  if (!isObject(raw)) throw invalidRequest('HTTP body must contain exactly one JSON-RPC object');
  const { jsonrpc, method, id, params } = raw;
  if (jsonrpc !== '2.0') {
    throw invalidRequest('JSON-RPC messages MUST include "jsonrpc": "2.0"', echoed(id));
  }
  if (method === '') throw invalidRequest("missing 'method' field", echoed(id));
  if (typeof method !== 'string') return { ...readAnswer(raw), raw };
  if (id === undefined) return { kind: 'notification', method, params, raw };
  if (id === null) {
    throw invalidRequest('MCP requests MUST use string or integer IDs; notifications MUST omit the id field');
  }
  if (!isId(id)) throw invalidRequest(`invalid JSON-RPC request: ${ID_RULE}`, echoed(id));
  return { kind: 'request', id, method, params, raw };
};

const readAnswer = (raw: Readonly<Record<string, unknown>>): RpcAnswer => {
  const { id, result, error } = raw;
  if (id === null) {
    throw invalidRequest('JSON-RPC responses MUST use the original string or integer request id');
  }
  if (result === undefined && error === undefined) {
    throw invalidRequest('unrecognized JSON-RPC payload', echoed(id));
  }
  const wrong = answerProblem(raw);
  if (wrong !== undefined) throw invalidRequest(`invalid JSON-RPC response: ${wrong}`, echoed(id));
  // `answerProblem` has checked the type.
  return { kind: 'answer', id: id as RpcId };
};

const answerProblem = ({ id, result, error }: Readonly<Record<string, unknown>>): string | undefined => {
  if (!isId(id)) return ID_RULE;
  if (result !== undefined && error !== undefined) return 'result and error exclude each other';
  if (result !== undefined) return isObject(result) ? undefined : 'result must be an object';
  const isError = isObject(error) && Number.isSafeInteger(error.code) && typeof error.message === 'string';
  return isError ? undefined : 'error must have an integer code and a text message';
};

/** JSON parsers do not agree on larger numbers. */
const ID_RULE = `id must be a string or an integer of at most ${Number.MAX_SAFE_INTEGER}`;

const isId = (id: unknown): id is RpcId => typeof id === 'string' || Number.isSafeInteger(id);

/** Returns null for an id that JSON would not preserve. */
const echoed = (id: unknown): RpcId | null => (isId(id) ? id : null);
