import { isLoopback } from '../schema/loopback.ts';
import type { RequestHeaders } from './headers.ts';
import { type Reply, reply } from './reply.ts';

/**
 * Cross-origin rules (config.md 1.2), one for the whole server: an origin is echoed only when it is listed, or is of
 * this machine and the word `loopback` is listed; there are no credentials. `vary: origin` is on every response,
 * because every response could have differed.
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
].join(', ');

export const EXPOSE_HEADERS = [
  'x-trace-total-events',
  'x-trace-next-offset',
  'x-request-id',
  'mcp-session-id',
].join(', ');

/** Whether pages of an origin may read answers. */
export const createOriginCheck = (listed: readonly string[]): ((origin: string) => boolean) => {
  const origins = new Set(listed);
  const ofThisMachine = origins.delete('loopback');
  return (origin) => origins.has(origin) || (ofThisMachine && isOfThisMachine(origin));
};

/** Of a page that this machine serves, whatever its port. */
const isOfThisMachine = (origin: string): boolean =>
  ORIGIN.test(origin) && URL.canParse(origin) && isLoopback(new URL(origin).hostname);

/** As browsers write one. */
const ORIGIN = /^https?:\/\/[a-z0-9.:[\]-]+$/;

export const isPreflight = (method: string, headers: RequestHeaders): boolean =>
  method === 'OPTIONS' &&
  headers.get('origin') !== undefined &&
  headers.get('access-control-request-method') !== undefined;

/** Answered without any right, on any path. @param origin that is allowed, else empty */
export const preflight = (origin: string): Reply =>
  reply(204, undefined, origin === '' ? undefined : PREFLIGHT_HEADERS);

const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': ALLOW_METHODS,
  'access-control-allow-headers': ALLOW_HEADERS,
};
