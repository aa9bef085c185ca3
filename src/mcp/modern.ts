import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isObject } from '../schema/endpoint.ts';
import { traceContextOf } from '../schema/trace-context.ts';
import type { McpFailure } from './failure.ts';

/**
 * The revision without sessions (2026-07-28) over HTTP. Every message names its revision, and headers repeat the parts
 * that proxies need. This revision is tried first, with a short timeout; a server that does not respond accordingly is
 * offered a session. A server that rejects the session and may support this revision is tried again.
 */
export const MODERN = '2026-07-28';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** The member that contains the name of a message, by method. */
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

/** Trace metadata is repeated in headers for proxies. */
export const traceHeaders = (message: JSONRPCMessage): Record<string, string> => {
  const _meta = 'method' in message ? message.params?._meta : undefined;
  return isObject(_meta) ? { ...traceContextOf((name) => textAt(_meta, name)) } : {};
};

const textAt = (meta: Record<string, unknown>, name: string): string | undefined => {
  const value = meta[name];
  return typeof value === 'string' ? value : undefined;
};

/** A header accepts visible ASCII only; any other value is encoded. */
export const headerText = (value: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/i.test(value)
    ? value
    : `=?base64?${Buffer.from(value).toString('base64')}?=`;

const STATUSES: ReadonlySet<number | undefined> = new Set([400, 404, 405]);
/** Unknown method, missing header and unsupported version. */
const CODES: ReadonlySet<number | undefined> = new Set([-32_601, -32_020, -32_022]);

/** Returns whether a server that rejects a handshake may support only the revision without one. */
export const mayBeModern = ({ kind, status, code }: McpFailure): boolean =>
  (kind === 'transport' && STATUSES.has(status)) || (kind === 'server' && CODES.has(code));
