import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isObject } from '../schema/endpoint.ts';
import { traceContextOf } from '../schema/trace-context.ts';
import type { McpFailure } from './failure.ts';

/**
 * The revision without sessions (2026-07-28) over HTTP. Every message names its revision, and headers repeat what
 * proxies need of it. A server is asked for this revision first, for a short time; one that does not answer as the
 * revision says is offered a session. A server that refuses the session and may know this revision is asked again.
 */
export const MODERN = '2026-07-28';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** What the name of a message is, where it has one. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

export const modernHeaders = (message: JSONRPCMessage): Record<string, string> => {
  if (!('method' in message)) return {};
  const { method, params } = message;
  const version = isObject(params?._meta) ? params._meta[VERSION_KEY] : undefined;
  if (typeof version !== 'string') return {};
  const name = params?.[NAMED_BY[method] ?? ''];
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': headerText(name) }),
  };
};

/** What a request says of the trace that it belongs to stands in its headers too, where proxies look for it. */
export const traceHeaders = (message: JSONRPCMessage): Record<string, string> => {
  const _meta = 'method' in message ? message.params?._meta : undefined;
  return isObject(_meta) ? { ...traceContextOf((name) => textAt(_meta, name)) } : {};
};

const textAt = (meta: Record<string, unknown>, name: string): string | undefined => {
  const value = meta[name];
  return typeof value === 'string' ? value : undefined;
};

/** A header takes visible ASCII only; anything else is encoded. */
export const headerText = (value: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/i.test(value)
    ? value
    : `=?base64?${Buffer.from(value).toString('base64')}?=`;

const STATUSES: ReadonlySet<number | undefined> = new Set([400, 404, 405]);
/** An unknown method, a header that is missing, a version that is not known. */
const CODES: ReadonlySet<number | undefined> = new Set([-32_601, -32_020, -32_022]);

/** Whether a server that refuses a handshake may be one that knows none. */
export const mayBeModern = ({ kind, status, code }: McpFailure): boolean =>
  (kind === 'transport' && STATUSES.has(status)) || (kind === 'server' && CODES.has(code));
