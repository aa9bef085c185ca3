/** Where a listener listens: a TCP port, or a Unix socket. */
export type ListenAddress = { host: string; port: number } | { path: string };

/** `port` is the one that was taken. */
export const urlOf = (address: ListenAddress, port: number | undefined): string => {
  if ('path' in address) return `unix:${address.path}`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `http://${host}:${port}`;
};

/** As it is named in errors. */
export const nameOf = (address: ListenAddress): string =>
  'path' in address ? `unix:${address.path}` : `${address.host}:${address.port}`;

/** A Unix socket is reached from this host only, like a loopback address. */
export const hostOf = (address: ListenAddress): string => ('path' in address ? 'localhost' : address.host);

/** The peer of a Unix socket has no address, and is a process of this host. */
export const UNIX_PEER = '127.0.0.1';
