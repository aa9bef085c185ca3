import { checkHost, HostRefused, sendGuarded } from '../outbound/guarded-request.ts';
import { isPublicAddress, type Resolve } from '../outbound/public-address.ts';
import { isObject } from '../schema/endpoint.ts';
import { isLoopback } from '../schema/loopback.ts';
import { ConnectionFailure } from './failure.ts';

/**
 * Requests to addresses that the metadata of an MCP server names: an untrusted server may name any (identity.md 6.1).
 *
 * Guarantees: they are https, and connect to public addresses only, which are checked when the socket connects.
 * `allow_private` of an entry lifts the second rule, and the first one on loopback. Redirects are not followed.
 */
export type Reach = { allowPrivate: boolean; resolve: Resolve };

const TIMEOUT_MS = 10_000;
const LARGEST_BYTES = 256 * 1024;

/** @throws ConnectionFailure `refused` */
export const checkAddress = (text: unknown, what: string, { allowPrivate }: Reach): URL => {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url?.protocol === 'http:' && allowPrivate && isLoopback(url.hostname);
  if (!url || !(url.protocol === 'https:' || isLocal))
    throw new ConnectionFailure('refused', `${what} is not an https URL`);
  if (url.username !== '' || url.password !== '')
    throw new ConnectionFailure('refused', `${what} contains user info`);
  return url;
};

/** Like `checkAddress`, for an address of which this service sends nothing to the server, but the browser. */
export const checkBrowserAddress = (text: unknown, what: string, reach: Reach): URL => {
  const url = checkAddress(text, what, reach);
  try {
    checkHost(url.hostname, { mayConnect: mayConnectTo(reach) });
  } catch {
    throw new ConnectionFailure('refused', `${what} has a non-public host`);
  }
  return url;
};

const mayConnectTo =
  ({ allowPrivate }: Reach) =>
  (address: string): boolean =>
    allowPrivate || isPublicAddress(address);

type Init = { method?: string; headers?: Record<string, string>; body?: string };

/** Returns a response with any status. @throws ConnectionFailure */
export const send = async (
  url: URL,
  what: string,
  reach: Reach,
  { method = 'GET', headers = {}, body }: Init = {},
): Promise<Response> => {
  try {
    const response = await sendGuarded(checkAddress(url.href, what, reach), {
      method,
      headers: { accept: 'application/json', ...headers },
      ...(body !== undefined && { body }),
      timeoutMs: TIMEOUT_MS,
      largestBytes: LARGEST_BYTES,
      resolve: reach.resolve,
      mayConnect: mayConnectTo(reach),
    });
    return toResponse(response);
  } catch (error) {
    if (error instanceof ConnectionFailure) throw error;
    if (error instanceof HostRefused)
      throw new ConnectionFailure('refused', `${what} has a non-public host`, { cause: error });
    throw new ConnectionFailure('unavailable', `${what} cannot be reached`, { cause: error });
  }
};

const toResponse = ({ status, headers, body }: Awaited<ReturnType<typeof sendGuarded>>): Response => {
  const type = headers['content-type'];
  const hasBody = status >= 200 && status !== 204 && status !== 205 && status !== 304;
  return new Response(hasBody ? new Uint8Array(body) : null, {
    status: Math.min(599, Math.max(200, status)),
    ...(type !== undefined && { headers: { 'content-type': type } }),
  });
};

/** Returns undefined where the server has no such document. @throws ConnectionFailure */
export const readDocument = async (
  url: URL,
  what: string,
  reach: Reach,
): Promise<Record<string, unknown> | undefined> => {
  const response = await send(url, what, reach);
  if (response.status >= 500)
    throw new ConnectionFailure('unavailable', `${what}: status ${response.status}`);
  if (response.status >= 300 && response.status < 400)
    throw new ConnectionFailure('refused', `${what} is a redirect, which is not followed`);
  if (response.status !== 200) return undefined;
  const document: unknown = await response.json().catch(() => undefined);
  if (!isObject(document)) throw new ConnectionFailure('refused', `${what} is not a JSON object`);
  return document;
};
