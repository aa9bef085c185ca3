import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/client';
import { isObject } from '../schema/endpoint.ts';
import { inexactInteger, inexactText, inexactTextIn } from '../schema/exact-integers.ts';
import { scanJson, startScan } from '../schema/nesting.ts';
import { excerpt } from './bounds.ts';
import { McpFailure, serverFailure } from './failure.ts';

/**
 * The one reader of what a server sends, for both transports and both eras of the protocol.
 *
 * Guarantees: the official client accepts every message that comes out of here. It ignores what it does not accept
 * without a word, and a request whose response it ignores would have no end. Members that the protocol does not
 * define are left out of the envelope; a member that is null is absent; an empty list in place of an object is an
 * empty object, which is how PHP writes one. Schemas, structured results and other values that belong to a tool keep
 * their nulls.
 */

/** @throws McpFailure when the bytes hold more than can be used, or a response that cannot be used */
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
  if (!message && !Array.isArray(value) && !isAsked(value)) return undefined;
  const inexact = inexactInteger(text);
  return inexact === undefined ? message : refused(message, value, inexact);
};

/**
 * The method of what stands in for a message of the server that has no response and cannot be used. A request gets
 * `reason` as an error, see `questions.ts`; the reason of a notification is logged.
 */
export const REFUSED = 'troupe/refused';

/** Also a request whose id cannot be used. */
const isAsked = (value: unknown): value is { method: string } =>
  isObject(value) && value.jsonrpc === '2.0' && typeof value.method === 'string';

/** A message that would be read with other digits than the server wrote. */
function refused(message: JSONRPCMessage | undefined, value: unknown, inexact: string): JSONRPCMessage {
  const text = inexactTextIn(value, inexact);
  const answered = message && idOfResponse(message);
  if (answered !== undefined) {
    const error = { code: INTERNAL, message: `the result holds a number that is lost: ${text}` };
    return { jsonrpc: '2.0', id: answered, error };
  }
  if (!isAsked(value))
    throw new McpFailure('unreadable', `the messages of the server: ${inexactText(inexact)}`);
  const id = message && idOfRequest(message);
  if (id !== undefined) return { jsonrpc: '2.0', id, method: REFUSED, params: { reason: text } };
  const reason = `${excerpt(value.method)} of the server was dropped: ${text}`;
  return { jsonrpc: '2.0', method: REFUSED, params: { reason } };
}

/** Undefined for a value that is no message. @throws McpFailure for a response that cannot be used */
export const asMessage = (value: unknown): JSONRPCMessage | undefined => {
  if (!isObject(value) || value.jsonrpc !== '2.0') return undefined;
  const { id, method } = value;
  if (typeof method === 'string') return asked(method, id, objectOf(withoutNulls(value.params)));
  if (method !== undefined && method !== null) return undefined;
  const isResponse = 'result' in value || 'error' in value;
  return isResponse ? answered(id, value) : undefined;
};

const asked = (method: string, id: unknown, params: Members | undefined): JSONRPCMessage | undefined => {
  const message = { jsonrpc: '2.0', method, ...(params && { params: withMeta(params) }) } as const;
  if (id === undefined) return message;
  return isId(id) ? { ...message, id } : undefined;
};

const answered = (id: unknown, { result, error }: Members): JSONRPCMessage => {
  if (error !== undefined && error !== null) {
    const told = errorOf(error);
    if (isId(id)) return { jsonrpc: '2.0', id: ownId(id), error: told };
    // The server does not name the request that it refuses.
    throw serverFailure(told);
  }
  const given = objectOf(result === null ? {} : withoutNulls(result));
  if (!isId(id)) throw new McpFailure('unreadable', 'the response of the server has no legal id');
  if (!given) throw new McpFailure('unreadable', 'the result of the server is not an object');
  const resultType = typeof given.resultType === 'string' ? given.resultType : COMPLETE;
  return { jsonrpc: '2.0', id: ownId(id), result: { ...withHandshake(withMeta(given)), resultType } };
};

/** The newest revision has this in each result, and the client drops it in older ones. */
const COMPLETE = 'complete';

type Members = Readonly<Record<string, unknown>>;

const objectOf = (value: unknown): Members | undefined => {
  if (isObject(value)) return value;
  return Array.isArray(value) && value.length === 0 ? {} : undefined;
};

/** The values of these members are defined by a tool or its author, and null is one of them. */
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

/** Recursion is bounded by the scan of the message. */
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

/** The official client checks these members of `_meta`, and no others. */
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

/** What a server says of itself in a handshake: a name or a capability that is written loosely refuses no server. */
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

/** Those that this client uses. `true` stands for an empty object. */
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

/** Whatever a server puts in the place of an error, its request has failed. */
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

/** Requests of this client have numbers; some servers send them back as texts. */
const ownId = (id: RequestId): RequestId =>
  typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id;

export type RequestId = string | number;

/** Of a request, which is answered; a notification is not. */
export const idOfRequest = (message: JSONRPCMessage): RequestId | undefined =>
  'method' in message && 'id' in message ? message.id : undefined;

export const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest =>
  idOfRequest(message) !== undefined;

export const idOfResponse = (message: JSONRPCMessage): RequestId | undefined =>
  'method' in message || !('id' in message) ? undefined : message.id;

/** Which request a notification takes back. */
export const cancelledBy = (message: JSONRPCMessage): RequestId | undefined => {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const id = message.params?.requestId;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
};

export const isInitialize = (message: JSONRPCMessage): boolean =>
  'method' in message && message.method === 'initialize';
