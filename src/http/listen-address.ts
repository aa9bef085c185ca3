/** The address of a listener: a TCP port or a Unix socket. */
export type ListenAddress = { host: string; port: number } | { path: string };

export type Scheme = 'http' | 'https';

/** @param port the actual port */
export const urlOf = (scheme: Scheme, address: ListenAddress, port: number | undefined): string => {
  if ('path' in address) return `unix:${address.path}`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${scheme}://${host}:${port}`;
};

/** Formats the address for error messages. */
export const nameOf = (address: ListenAddress): string =>
  'path' in address ? `unix:${address.path}` : `${address.host}:${address.port}`;

/** A Unix socket is only reachable from this host, like a loopback address. */
export const hostOf = (address: ListenAddress): string => ('path' in address ? 'localhost' : address.host);

/** Peers of a Unix socket have no address and are processes of this host. */
export const UNIX_PEER = '127.0.0.1';
