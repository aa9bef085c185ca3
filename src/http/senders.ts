import { Unauthorized } from '../schema/outcome.ts';
import { clientAddress, createProxyCheck, shortAddress } from './address.ts';
import { createAdminCheck } from './admin.ts';
import { isCrossSite } from './cross-site.ts';
import type { Exchange } from './exchange.ts';
import type { Family } from './family.ts';
import type { Guesses } from './guesses.ts';
import type { RequestHeaders } from './headers.ts';
import type { Origin } from './origin.ts';
import type { WireResponse } from './wire.ts';

/** Identifies the sender of a request: its proxies, the page that caused it, and its token. */
export type SenderDeps = {
  adminToken: string | undefined;
  guesses: Guesses;
  /** Host of the public address; without it, clients use the address that they connect to. */
  publicHost?: string | undefined;
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
  /** @throws Unauthorized, Refusal (429) */
  checkAdmin(exchange: Exchange, headers: RequestHeaders): void;
};

export const createSenders = ({ adminToken, guesses, publicHost, settings }: SenderDeps): Senders => {
  const check = createAdminCheck(adminToken);
  const isProxy = createProxyCheck(settings.trust_forwarded_headers ? settings.trusted_proxies : []);

  const addressOf: Senders['addressOf'] = (exchange, headers) =>
    clientAddress(headers.lines('x-forwarded-for'), exchange.done ? '' : peerOf(exchange.res), isProxy);

  return {
    addressOf,
    isTrusted: (res, { from }) => isProxy(from === 'network' ? peerOf(res) : THIS_HOST),
    isCrossSite({ method, origin: admitted }, { family, from: { from }, headers }) {
      if (from === 'program') return false;
      const origin = headers.get('origin') ?? '';
      // A family that checks the host also checks the origin if present.
      if (family?.checksHost && origin !== '') return false;
      const site = headers.get('sec-fetch-site') ?? '';
      const hosts = [headers.get('host'), headers.get('x-forwarded-host'), publicHost];
      return isCrossSite({ method, origin, site, hosts }, admitted !== '');
    },
    checkAdmin(exchange, headers) {
      const values = headers.lines('authorization');
      const address = (): string => addressOf(exchange, headers);
      if (values.length > 0) guesses.check(address);
      try {
        check(values);
      } catch (error) {
        if (values.length === 0 || !(error instanceof Unauthorized)) throw error;
        throw guesses.failed(address(), error);
      }
    },
  };
};

/** Returns the address in its short form. It is not available after the response has ended. */
const peerOf = (res: WireResponse): string =>
  shortAddress(Buffer.from(res.getRemoteAddressAsText()).toString('latin1'));

/** Address of requests without a socket. */
const THIS_HOST = '127.0.0.1';
