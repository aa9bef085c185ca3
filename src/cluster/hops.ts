import { type Head, type Header, linesOf } from '../http/head.ts';
import { MEMBER_HEADER } from '../http/member-headers.ts';
import { TAIL_BYTES } from './signature.ts';

/**
 * The headers of the two messages between members. Those that describe one connection only (RFC 9110, 7.6.1) are not
 * passed on.
 *
 * Headers that `Connection` names in addition are passed on, unlike RFC 9110 demands: a client could name `X-Forwarded-For`
 * to appear as a client without a proxy. The service ignores them where it serves a request itself, too.
 */
const OF_ONE_CONNECTION = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
] as const;

/** `expect` has been answered by the server that accepted the request. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  ...OF_ONE_CONNECTION,
  'content-length',
  'expect',
  'host',
  MEMBER_HEADER,
  'x-request-id',
]);

/** The server that sends a response sets `date`, its name and the length. */
const NOT_RETURNED: ReadonlySet<string> = new Set([
  ...OF_ONE_CONNECTION,
  'content-length',
  'date',
  'uwebsockets',
]);

type Forwarded = {
  head: Head;
  /** Host of the member that receives the request. */
  host: string;
  requestId: string;
  signature: string;
  /** The length of the body, `unknown`, or undefined without a body. */
  length: number | 'unknown' | undefined;
};

/** Returns names and values in turn, as `node:http` takes them. */
export const forwardedHeaders = ({ head, host, requestId, signature, length }: Forwarded): string[] => {
  const headers = ['host', host, MEMBER_HEADER, signature, 'x-request-id', requestId];
  if (length === 'unknown') headers.push('transfer-encoding', 'chunked');
  else if (length !== undefined) headers.push('content-length', String(length + TAIL_BYTES));
  else if (!SAFE.has(head.method)) headers.push('content-length', '0');
  for (const [name, value] of head.headers) {
    if (!NOT_FORWARDED.has(name)) headers.push(name, toBytes(value));
  }
  return headers;
};

/** `node:http` sends requests of other methods as chunked ones unless they declare a length. */
const SAFE: ReadonlySet<string> = new Set(['get', 'head']);

/** Returns the head as the client sent it, from that of a forwarded request. */
export const headOfClient = (head: Head, { host, hasBody }: { host: string; hasBody: boolean }): Head => ({
  ...head,
  headers: head.headers.flatMap(([name, value]): Header[] => {
    if (name === MEMBER_HEADER) return [];
    if (name === 'host') return [[name, host]];
    if (name === 'content-length' && hasBody) return [[name, String(Number(value) - TAIL_BYTES)]];
    return [[name, value]];
  }),
});

/** Returns the length of the body that a client on the network sends, `unknown`, or undefined without a body. */
export const bodyLength = (head: Head): Forwarded['length'] => {
  if (linesOf(head, 'transfer-encoding').length > 0) return 'unknown';
  const length = Number(linesOf(head, 'content-length')[0] ?? 0);
  return length > 0 ? length : undefined;
};

/** Path and query, which are signed and sent. */
export const targetOf = ({ path, query }: Head): string => (query ? `${path}?${query}` : path);

/** @param raw names and values in turn, as `node:http` returns them */
export const returnedHeaders = (raw: readonly string[]): Header[] => {
  const headers: Header[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    if (!NOT_RETURNED.has(name)) headers.push([name, raw[index + 1] ?? '']);
  }
  return headers;
};

/** `node:http` writes the text of a head as Latin-1, and the bytes are to be UTF-8. */
export const toBytes = (text: string): string =>
  Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1');
