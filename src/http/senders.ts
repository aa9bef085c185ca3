import { isLoopback } from '../schema/loopback.ts';
import { clientAddress, createProxyCheck, shortAddress } from './address.ts';
import { readCookie, SESSION_COOKIE } from './cookies.ts';
import { isCrossSite, isForeignToCookie, type Sender } from './cross-site.ts';
import type { Exchange } from './exchange.ts';
import type { Family } from './family.ts';
import type { RequestHeaders } from './headers.ts';
import { hostname } from './hosts.ts';
import type { Scheme } from './listen-address.ts';
import type { Entry, Origin } from './origin.ts';
import { createOwnOrigin } from './own-origin.ts';
import type { WireResponse } from './wire.ts';

/** Identifies the sender of a request: its proxies, the page that caused it, and whether it is on this host. */
export type SenderDeps = {
  /** Whether only clients on this host can connect. */
  isLocalListener: boolean;
  /** Host of the public address; without it, clients use the address that they connect to. */
  publicHost?: string | undefined;
  /** The origin of the public URL is that of the service, whatever a request names. */
  publicUrl?: string | undefined;
  /** Scheme of the listener. */
  scheme: Scheme;
  settings: { trust_forwarded_headers: boolean; trusted_proxies: readonly string[] };
};

export type Senders = {
  /** Returns whether the forwarded headers of a request count. */
  isTrusted(res: WireResponse, from: Origin): boolean;
  /** Returns the address of the client; empty after a disconnect and without a socket. */
  addressOf(exchange: Exchange, headers: RequestHeaders): string;
  /** Returns whether a page of another site made a browser send this state-changing request. */
  isCrossSite(
    exchange: Exchange,
    of: { family: Family | undefined; from: Origin; headers: RequestHeaders },
  ): boolean;
  /** Returns the origin under which the client reaches this service. */
  originOf(from: Origin, headers: Pick<RequestHeaders, 'lines'>): string;
  /** Returns the value of the session cookie, if the own origin is https. */
  sessionOf(from: Origin, headers: RequestHeaders): string | undefined;
  /** Returns whether a request with a session cookie changes state and was not sent by a page of this origin. */
  isForeignToCookie(exchange: Exchange, headers: RequestHeaders): boolean;
  /**
   * Returns whether the request comes from this host without a proxy, and addresses it by a loopback name; or from the
   * embedding program.
   */
  isLocal(from: Origin, headers: RequestHeaders): boolean;
};

export const createSenders = (deps: SenderDeps): Senders => {
  const { isLocalListener, publicHost, settings } = deps;
  const ownHost = deps.publicUrl === undefined ? undefined : new URL(deps.publicUrl).host;
  const ownOrigin = createOwnOrigin(deps.publicUrl);
  const originOf: Senders['originOf'] = (from, headers) =>
    ownOrigin(headers, entryOf(from)?.scheme ?? deps.scheme);
  const isProxy = createProxyCheck(settings.trust_forwarded_headers ? settings.trusted_proxies : []);

  const addressOf: Senders['addressOf'] = (exchange, headers) =>
    clientAddress(headers.lines('x-forwarded-for'), exchange.done ? '' : peerOf(exchange.res), isProxy);

  // Most requests repeat the host of the previous one.
  let lastLocal: string | undefined;
  const isLocalHost = (host: string): boolean => {
    if (host === lastLocal) return true;
    const name = hostname(host);
    if (name === undefined || !isLoopback(name)) return false;
    lastLocal = host;
    return true;
  };

  const senderOf = (method: string, headers: RequestHeaders): Sender => ({
    method,
    origin: headers.get('origin') ?? '',
    site: headers.get('sec-fetch-site') ?? '',
    hosts: [headers.get('host'), headers.get('x-forwarded-host'), publicHost, ownHost],
  });

  return {
    addressOf,
    isTrusted: (res, { from }) => isProxy(from === 'network' ? peerOf(res) : THIS_HOST),
    isCrossSite({ method, origin: admitted }, { family, from: { from }, headers }) {
      if (from === 'program') return false;
      const origin = headers.get('origin') ?? '';
      // A family that checks the host also checks the origin if present.
      if (family?.checkHost && origin !== '') return false;
      return isCrossSite(senderOf(method, headers), admitted !== '');
    },
    originOf,
    sessionOf(from, headers) {
      const header = headers.get('cookie');
      if (header === undefined || !originOf(from, headers).startsWith('https:')) return undefined;
      return readCookie(header, SESSION_COOKIE);
    },
    isForeignToCookie: ({ method }, headers) => isForeignToCookie(senderOf(method, headers)),
    // A request that has a header of a proxy does not come from this host, whatever its last hop was.
    isLocal(from, headers) {
      if (from.from !== 'network') return true;
      const isLocal = from.entry?.isLocalListener ?? isLocalListener;
      return isLocal && isLocalHost(headers.get('host') ?? '') && !headers.hasPassedProxy;
    },
  };
};

/** Returns the listener of another member that accepted the request, if it is not a listener of this process. */
export const entryOf = (from: Origin): Entry | undefined =>
  from.from === 'network' ? from.entry : undefined;

/** Returns the address in its short form. It is not available after the response has ended. */
export const peerOf = (res: WireResponse): string =>
  shortAddress(Buffer.from(res.getRemoteAddressAsText()).toString('latin1'));

/** Address of requests without a socket. */
const THIS_HOST = '127.0.0.1';
