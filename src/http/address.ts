import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';

/**
 * Decides which peers are trusted proxies, and which client sent a request through them.
 *
 * Any client can send forwarded headers, so they count only from a trusted peer. `X-Forwarded-For` is read from its end
 * up to the first address that is not a trusted proxy, so only entries that trusted proxies added count.
 */
export type ProxyCheck = (address: string) => boolean;

/** @param trusted addresses, networks in CIDR form, and the names `loopback` and `private` */
export const createProxyCheck = (trusted: readonly string[]): ProxyCheck => {
  const list = new BlockList();
  for (const network of trusted.flatMap((each) => NAMED[each] ?? [each])) {
    const [address = '', prefix] = network.split('/');
    const family = familyOf(address);
    list.addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
};

const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** `isIPv4` avoids the large expression of Node for IPv6, which takes milliseconds of a start to compile. */
const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

/**
 * Returns the address of the client.
 *
 * @param lines values of `X-Forwarded-For` in their order; empty for an untrusted peer
 * @param peer address of the peer in its short form
 */
export const clientAddress = (lines: readonly string[], peer: string, isProxy: ProxyCheck): string => {
  if (lines.length === 0) return peer;
  const hops = lines.flatMap((line) => line.split(',')).map((hop) => hop.trim());
  let client = peer;
  for (const hop of hops.reverse()) {
    if (isIP(hop) === 0) return client;
    client = shortAddress(hop);
    if (!isProxy(client)) return client;
  }
  return client;
};

const MAPPED_V4 = '::ffff:';

/** Shortens IPv6 addresses and converts IPv4-mapped ones to IPv4. */
export const shortAddress = (peer: string): string => {
  if (!peer.includes(':')) return peer;
  const { address } = new SocketAddress({ address: peer, family: 'ipv6' });
  return address.startsWith(MAPPED_V4) ? address.slice(MAPPED_V4.length) : address;
};
