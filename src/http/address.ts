import { isIP, SocketAddress } from 'node:net';

/** Who is asking: the peer, or the client that a trusted proxy names (settings.md 2). */
export const clientAddress = (
  header: (name: string) => string | undefined,
  peer: string,
  trustForwarded: boolean,
): string => {
  if (trustForwarded) {
    const named = [header('x-forwarded-for')?.split(',')[0], header('x-real-ip')].map((each) => each?.trim());
    const address = named.find((each) => each !== undefined && isIP(each) !== 0);
    if (address !== undefined) return address;
  }
  return shortAddress(peer);
};

const MAPPED_V4 = '::ffff:';

/** IPv6 in its short form; an IPv4 address that came through an IPv6 socket as IPv4. */
const shortAddress = (peer: string): string => {
  if (!peer.includes(':')) return peer;
  const { address } = new SocketAddress({ address: peer, family: 'ipv6' });
  return address.startsWith(MAPPED_V4) ? address.slice(MAPPED_V4.length) : address;
};
