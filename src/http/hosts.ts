import { isIP } from 'node:net';
import { isLoopback } from '../schema/loopback.ts';

/**
 * Checks the `Host` header against DNS rebinding: a page of any site can point its own name at the address of this
 * host, and a browser then treats the service as the page's own server. Only the name reveals that, so a service on a
 * loopback address checks it, as dev servers do.
 */
export type HostCheck = (host: string) => boolean;

/**
 * Returns undefined if nothing is checked, which is the default beyond loopback unless names are given.
 *
 * @param listening the address that the service listens on
 * @param names accepted hosts in addition to loopback names and addresses, without a port
 * @param publicUrls public URLs of the service, whose hosts are accepted too
 */
export const createHostCheck = ({
  listening,
  names,
  publicUrls,
}: {
  listening: string;
  names: readonly string[];
  publicUrls: readonly (string | undefined)[];
}): HostCheck | undefined => {
  if (names.length === 0 && !isLoopback(listening)) return undefined;
  const accepted = new Set(names.map((name) => hostname(name)));
  for (const url of publicUrls) if (url !== undefined) accepted.add(new URL(url).hostname);
  // Most requests repeat the host of the previous one.
  let last = '';
  return (host) => {
    if (host === last && host !== '') return true;
    const name = hostname(host);
    if (name === undefined || !(accepted.has(name) || isLoopback(name))) return false;
    last = host;
    return true;
  };
};

/** A name, an IPv4 address or a bracketed IPv6 address, with or without a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Normalizes a host as browsers do, without the port; undefined if it is invalid. */
export const hostname = (host: string): string | undefined => {
  const bracketed = isIP(host) === 6 ? `[${host}]` : host;
  const url = HOST.test(bracketed) ? `http://${bracketed}` : '';
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : undefined;
};
