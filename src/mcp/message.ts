import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/client';
import { isObject } from '../schema/endpoint.ts';
import { inexactInteger, inexactText, inexactTextIn } from '../schema/exact-integers.ts';
import { scanJson, startScan } from '../schema/nesting.ts';
import { excerpt } from './bounds.ts';
import { McpFailure, serverFailure } from './failure.ts';

/**
 * Parses all messages of servers, for both transports and both eras of the protocol.
 *
 * Guarantees: the official client accepts every returned message. It silently ignores messages that it does not accept,
 * and a request whose response it ignores would never end. Members of the envelope that the protocol does not define
 * are omitted, a member that is null is absent, and an empty list in place of an object is an empty object, which is
 * how PHP serializes one. Schemas, structured results and other values that belong to a tool keep their nulls.
 */

/** @throws McpFailure if the message exceeds a limit, or is a response that cannot be used */
export const readMessage = (bytes: Buffer): JSONRPCMessage | undefined => {
  const excess = scanJson(startScan(), bytes);
  if (excess !== undefined) throw new McpFailure('unreadable', `the message of the server ${excess}`);
  const text = bytes.toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const message = asMessage(value);
  if (!message && !Array.isArray(value) && !hasMethod(value)) return undefined;
  const inexact = inexactInteger(text);
  return inexact === undefined ? message : refused(message, value, inexact);
};

/**
 * Method of a replacement for an unusable message of the server that is not a response. A request is rejected with
 * `reason` as an error, see `questions.ts`; the reason of a notification is logged.
 */
export const REFUSED = 'troupe/refused';

/** Includes requests with an unusable id. */
const hasMethod = (value: unknown): value is { method: string } =>
  isObject(value) && value.jsonrpc === '2.0' && typeof value.method === 'string';

/** Replaces a message with a number that would be parsed inexactly. */
function refused(message: JSONRPCMessage | undefined, value: unknown, inexact: string): JSONRPCMessage {
  const text = inexactTextIn(value, inexact);
  const responseId = message && idOfResponse(message);
  if (responseId !== undefined) {
    const error = {
      code: INTERNAL,
      message: `the result contains a number that cannot be represented: ${text}`,
    };
    return { jsonrpc: '2.0', id: responseId, error };
  }
  if (!hasMethod(value))
    throw new McpFailure('unreadable', `the messages of the server: ${inexactText(inexact)}`);
  const id = message && idOfRequest(message);
  if (id !== undefined) return { jsonrpc: '2.0', id, method: REFUSED, params: { reason: text } };
  const reason = `${excerpt(value.method)} of the server was dropped: ${text}`;
  return { jsonrpc: '2.0', method: REFUSED, params: { reason } };
}

/** Returns undefined for a value that is not a message. @throws McpFailure for a response that cannot be used */
export const asMessage = (value: unknown): JSONRPCMessage | undefined => {
  if (!isObject(value) || value.jsonrpc !== '2.0') return undefined;
  const { id, method } = value;
  if (typeof method === 'string') return requestFrom(method, id, objectOf(withoutNulls(value.params)));
  if (method !== undefined && method !== null) return undefined;
  const isResponse = 'result' in value || 'error' in value;
  return isResponse ? responseFrom(id, value) : undefined;
};

const requestFrom = (
  method: string,
  id: unknown,
  params: Members | undefined,
): JSONRPCMessage | undefined => {
  const message = { jsonrpc: '2.0', method, ...(params && { params: withMeta(params) }) } as const;
  if (id === undefined) return message;
  return isId(id) ? { ...message, id } : undefined;
};

const responseFrom = (id: unknown, { result, error }: Members): JSONRPCMessage => {
  if (error !== undefined && error !== null) {
    const details = errorOf(error);
    if (isId(id)) return { jsonrpc: '2.0', id: ownId(id), error: details };
    // The error does not name its request.
    throw serverFailure(details);
  }
  const given = objectOf(result === null ? {} : withoutNulls(result));
  if (!isId(id)) throw new McpFailure('unreadable', 'the response of the server has no legal id');
  if (!given) throw new McpFailure('unreadable', 'the result of the server is not an object');
  const resultType = typeof given.resultType === 'string' ? given.resultType : COMPLETE;
  return { jsonrpc: '2.0', id: ownId(id), result: { ...withHandshake(withMeta(given)), resultType } };
};

/** The newest revision has this in each result, and the client removes it in older ones. */
const COMPLETE = 'complete';

type Members = Readonly<Record<string, unknown>>;

const objectOf = (value: unknown): Members | undefined => {
  if (isObject(value)) return value;
  return Array.isArray(value) && value.length === 0 ? {} : undefined;
};

/** A tool or its author defines the values of these members, and null is one of them. */
const OPAQUE: ReadonlySet<string> = new Set([
  'structuredContent',
  'inputSchema',
  'outputSchema',
  'requestedSchema',
  'schema',
  'arguments',
  'input',
  'config',
]);

/** The scan of the message bounds the recursion. */
const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.flatMap((item) => (item === null ? [] : [withoutNulls(item)]));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      member === null ? [] : [[name, OPAQUE.has(name) ? member : withoutNulls(member)]],
    ),
  );
};

const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/** The official client validates only these members of `_meta`. */
const withMeta = (members: Members): Members => {
  const { _meta, ...rest } = members;
  if (_meta === undefined) return members;
  const given = objectOf(_meta);
  if (!given) return rest;
  const { progressToken, [RELATED_TASK]: task, ...meta } = given;
  return {
    ...rest,
    _meta: {
      ...meta,
      ...(isId(progressToken) && { progressToken }),
      ...(isObject(task) && typeof task.taskId === 'string' && { [RELATED_TASK]: { taskId: task.taskId } }),
    },
  };
};

/**
 * Normalizes the server information of a handshake, so that a malformed name or capability does not fail the
 * connection.
 */
const withHandshake = (result: Members): Members => {
  if (typeof result.protocolVersion !== 'string' && !Array.isArray(result.supportedVersions)) return result;
  const { capabilities, serverInfo, instructions, ...rest } = result;
  const { name, version, title } = objectOf(serverInfo) ?? {};
  return {
    ...rest,
    capabilities: capabilitiesOf(capabilities),
    ...(typeof result.protocolVersion === 'string' && {
      serverInfo: {
        name: textOf(name),
        version: textOf(version),
        ...(typeof title === 'string' && { title }),
      },
    }),
    ...(typeof instructions === 'string' && { instructions }),
  };
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Capabilities that this client uses. `true` stands for an empty object. */
const capabilitiesOf = (given: unknown): Members => {
  const all = objectOf(given) ?? {};
  return Object.fromEntries(
    ['tools', 'prompts', 'resources', 'logging', 'completions'].flatMap((name) => {
      const capability = all[name] === true ? {} : objectOf(all[name]);
      if (!capability) return [];
      const flags = Object.entries(capability).filter(([, value]) => typeof value === 'boolean');
      return [[name, Object.fromEntries(flags)]];
    }),
  );
};

const INTERNAL = -32_603;

/** Any value in place of an error means that the request failed. */
const errorOf = (given: unknown): { code: number; message: string; data?: unknown } => {
  const { code, message, data } = isObject(given) ? given : { message: given };
  const number = typeof code === 'number' || typeof code === 'string' ? Number(code) : Number.NaN;
  return {
    code: Number.isSafeInteger(number) ? number : INTERNAL,
    message: typeof message === 'string' ? message : JSON.stringify(given),
    ...(data !== undefined && data !== null && { data }),
  };
};

const isId = (id: unknown): id is RequestId => typeof id === 'string' || Number.isSafeInteger(id);

/** Requests of this client have numeric ids; some servers return them as strings. */
const ownId = (id: RequestId): RequestId =>
  typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id;

export type RequestId = string | number;

/** Returns the id of a request; undefined for a notification. */
export const idOfRequest = (message: JSONRPCMessage): RequestId | undefined =>
  'method' in message && 'id' in message ? message.id : undefined;

export const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest =>
  idOfRequest(message) !== undefined;

export const idOfResponse = (message: JSONRPCMessage): RequestId | undefined =>
  'method' in message || !('id' in message) ? undefined : message.id;

/** Returns the id of the request that a notification cancels. */
export const cancelledBy = (message: JSONRPCMessage): RequestId | undefined => {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const id = message.params?.requestId;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
};

export const isInitialize = (message: JSONRPCMessage): boolean =>
  'method' in message && message.method === 'initialize';
