import { isLoopback } from '../schema/loopback.ts';
import { encode } from './encode.ts';
import type { RequestHeaders } from './headers.ts';
import { type Reply, reply } from './reply.ts';
import type { WireResponse } from './wire.ts';

/**
 * Cross-origin rules of the whole server (config.md 1.2). An origin is echoed only if it is listed, or if it is a
 * loopback origin and `loopback` is listed. Credentials are never allowed. `vary: origin` is on every response, because
 * every response can depend on the origin.
 */

const ALLOW_METHODS = 'GET, POST, PUT, DELETE, PATCH, OPTIONS';

const ALLOW_HEADERS = [
  'authorization',
  'content-type',
  'x-service-actor',
  'x-request-id',
  'last-event-id',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'a2a-version',
  'a2a-extensions',
  'idempotency-key',
  'x-service-user',
  'x-troupe-thread-id',
  'openai-organization',
  'openai-project',
  'openai-beta',
  'x-stainless-arch',
  'x-stainless-async',
  'x-stainless-custom-poll-interval',
  'x-stainless-helper-method',
  'x-stainless-lang',
  'x-stainless-os',
  'x-stainless-package-version',
  'x-stainless-poll-helper',
  'x-stainless-raw-response',
  'x-stainless-read-timeout',
  'x-stainless-retry-count',
  'x-stainless-runtime',
  'x-stainless-runtime-version',
  'x-stainless-timeout',
];

const EXPOSE_HEADERS = [
  'x-trace-total-events',
  'x-trace-next-offset',
  'x-request-id',
  'idempotency-replayed',
  'mcp-session-id',
  'retry-after',
  'openai-processing-ms',
  'x-should-retry',
  'x-troupe-run-id',
  'x-troupe-thread-id',
].join(', ');

/** Returns whether pages of an origin may read responses. */
export const createOriginCheck = (listed: readonly string[]): ((origin: string) => boolean) => {
  const origins = new Set(listed);
  const ofThisMachine = origins.delete('loopback');
  return (origin) => origins.has(origin) || (ofThisMachine && isOfThisMachine(origin));
};

/** Matches pages that this host serves, on any port. */
const isOfThisMachine = (origin: string): boolean =>
  ORIGIN.test(origin) && URL.canParse(origin) && isLoopback(new URL(origin).hostname);

/** An origin as browsers serialize it. */
const ORIGIN = /^https?:\/\/[a-z0-9.:[\]-]+$/;

/**
 * Writes the headers by which pages of an origin may read a response.
 *
 * @param origin the one that was allowed, or an empty text
 */
export const writeOrigin = (res: Pick<WireResponse, 'writeHeader'>, origin: string): void => {
  res.writeHeader('vary', 'origin');
  if (origin === '') return;
  res.writeHeader('access-control-allow-origin', encode(origin));
  res.writeHeader('access-control-expose-headers', EXPOSE_HEADERS);
};

export const isPreflight = (method: string, headers: Pick<RequestHeaders, 'get'>): boolean =>
  method === 'OPTIONS' &&
  headers.get('origin') !== undefined &&
  headers.get('access-control-request-method') !== undefined;

/**
 * Creates the response to a preflight on any path, without authorization. It takes an allowed origin, or an empty text.
 *
 * @param more request headers of this configuration
 */
export const createPreflight = (more: readonly string[] = []): ((origin: string) => Reply) => {
  const headers = {
    'access-control-allow-methods': ALLOW_METHODS,
    'access-control-allow-headers': [...new Set([...ALLOW_HEADERS, ...more])].join(', '),
  };
  return (origin) => reply(204, undefined, origin === '' ? undefined : headers);
};
