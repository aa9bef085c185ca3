import { isIP } from 'node:net';
import { isLoopback } from '../schema/loopback.ts';

/**
 * Which hosts a request may name in its `Host` header. A page of any site can give its own name the address of the
 * machine that shows it (DNS rebinding): for the browser it then speaks with its own server, with nobody's consent.
 * Only the name tells, so a service that trusts its place, a loopback address, looks at it, as dev servers do.
 */
export type HostCheck = (host: string) => boolean;

/**
 * Undefined: nothing is checked. That is so beyond loopback unless names are given.
 *
 * @param listening the address that the service listens on
 * @param names hosts that are accepted besides loopback names and addresses, without a port
 * @param publicUrl where the service is reached from outside; its host is accepted too
 */
export const createHostCheck = ({
  listening,
  names,
  publicUrl,
}: {
  listening: string;
  names: readonly string[];
  publicUrl: string | undefined;
}): HostCheck | undefined => {
  if (names.length === 0 && !isLoopback(listening)) return undefined;
  const accepted = new Set(names.map((name) => hostname(name)));
  if (publicUrl !== undefined) accepted.add(new URL(publicUrl).hostname);
  // Clients repeat themselves.
  let last = '';
  return (host) => {
    if (host === last && host !== '') return true;
    const name = hostname(host);
    if (name === undefined || !(accepted.has(name) || isLoopback(name))) return false;
    last = host;
    return true;
  };
};

/** A name, an IPv4 address or an IPv6 one in brackets, with or without a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** In the spelling of browsers, without the port; undefined when it is none. */
export const hostname = (host: string): string | undefined => {
  const bracketed = isIP(host) === 6 ? `[${host}]` : host;
  const url = HOST.test(bracketed) ? `http://${bracketed}` : '';
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : undefined;
};
