import { createOriginCheck } from '../http/cors.ts';
import { isMisframed } from '../http/framing.ts';
import { readHeaders } from '../http/headers.ts';
import type { WireRequest } from '../http/wire.ts';
import { isLoopback } from '../schema/loopback.ts';
import { fullness, type Programs } from './programs.ts';

/**
 * Decides which requests open a report: the handshake of a WebSocket, from this host, while there is capacity. Both
 * HTTP servers use it, so that they reject the same requests with the same responses.
 */

export type Place = { programs: Programs; acceptsHost: (host: string) => boolean };

export type Refusal = { kind: 'refused'; status: string; text: string; headers: Record<string, string> };

/** `cut`: the connection is closed without a response, because it is unclear where the request ends. */
export type Rejection = { kind: 'cut' } | Refusal;

type Admission = { kind: 'admitted'; programs: Programs; name: string } | Rejection;

/**
 * @param place undefined while the listener closes
 * @param peer address of the client
 */
export const admit = (place: Place | undefined, req: WireRequest, peer: string): Admission => {
  if (isAmbiguous(req) || !isHandshake(req)) return rejectPlain(req);
  if (!place) return unavailable('the service stops');
  if (!isLoopback(peer)) return forbidden('only programs on this host may connect');
  if (!place.acceptsHost(req.getHeader('host'))) return forbidden('name a loopback host, such as 127.0.0.1');
  const origin = req.getHeader('origin');
  if (origin !== '' && !acceptsOrigin(origin)) return forbidden('only pages of this host may connect');
  if (req.getHeader('sec-websocket-version') !== VERSION)
    return upgradeRequired(`version ${VERSION} of the WebSocket protocol only`);
  const full = fullness(place.programs);
  if (full !== undefined) return unavailable(full);
  return { kind: 'admitted', programs: place.programs, name: nameIn(req.getUrl()) };
};

/** The response to a request that is not a handshake. */
export const rejectPlain = (req: WireRequest): Rejection =>
  isAmbiguous(req) ? { kind: 'cut' } : upgradeRequired('programs of XState report here, over a WebSocket');

const isAmbiguous = (req: WireRequest): boolean => isMisframed(readHeaders(req, () => false));

const acceptsOrigin = createOriginCheck(['loopback']);

/** RFC 6455, 4.2.1: the version is checked separately, because its rejection names the supported one. */
const VERSION = '13';

const isHandshake = (req: WireRequest): boolean =>
  req.getMethod() === 'get' &&
  req.getHeader('upgrade').toLowerCase() === 'websocket' &&
  /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(req.getHeader('connection')) &&
  /^[+/\da-z]{22}==$/i.test(req.getHeader('sec-websocket-key'));

const forbidden = (text: string): Refusal => refusal('403 Forbidden', text);

const unavailable = (text: string): Refusal => refusal('503 Service Unavailable', text);

const upgradeRequired = (text: string): Refusal =>
  refusal('426 Upgrade Required', text, { upgrade: 'websocket', 'sec-websocket-version': VERSION });

const refusal = (status: string, text: string, headers: Record<string, string> = {}): Refusal => ({
  kind: 'refused',
  status,
  text: `${text}\n`,
  headers: { 'content-type': 'text/plain', ...headers },
});

/** The path without its slash: the name of the program, if the client sends one. */
const nameIn = (path: string): string => {
  try {
    return decodeURIComponent(path.slice(1));
  } catch {
    return path.slice(1);
  }
};
