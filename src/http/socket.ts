import { createServer, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Unavailable } from '../schema/outcome.ts';
import type { Answer } from './answer.ts';
import type { ConnectionBudget } from './connection-budget.ts';
import { type ListenAddress, nameOf, UNIX_PEER } from './listen-address.ts';
import { ownSocket, removeStaleSocket } from './socket-file.ts';
import type { Tls } from './tls.ts';
import type { UwsApp, UwsListenSocket, UwsModule, UwsResponse } from './uws-module.ts';

/** An address on which the server handles requests. */
export type Listening = {
  /** The actual port; undefined on a Unix socket. */
  readonly port: number | undefined;
  /** Stops accepting connections. */
  stop(): void;
  /** Closes the open connections. */
  close(): void;
};

/**
 * The references of an app's callbacks. uWebSockets.js retains the callbacks for the life of the process, so `by` is
 * cleared when serving ends: a service that has stopped, or could not start, leaks nothing.
 */
export type Served<What> = { by: What | undefined };

/** Where and how the server listens. */
export type ListenOptions = {
  address: ListenAddress;
  budget: ConnectionBudget;
  /** If absent, connections are not encrypted. */
  tls?: Tls | undefined;
};

/** @throws Unavailable when the address cannot be bound */
export const listenOn = async (
  uWS: UwsModule,
  answer: Answer,
  { address, budget, tls }: ListenOptions,
): Promise<Listening> => {
  const served: Served<{ answer: Answer; budget: ConnectionBudget }> = { by: { answer, budget } };
  // uWebSockets.js calls this with 1 and -1; closing the connection calls it again, with -1.
  const count = (res: UwsResponse, change: unknown): void => {
    if (Number(change) < 0) served.by?.budget.closed();
    else if (served.by?.budget.opened() === false) res.close();
  };
  const isUnix = 'path' in address;
  const app = (tls ? uWS.SSLApp({ cert_file_name: tls.cert_file, key_file_name: tls.key_file }) : uWS.App())
    .any('/*', (res, req) => {
      if (isUnix) res.getRemoteAddressAsText = localPeer;
      served.by?.answer(res, req, NETWORK);
    })
    .filter(count);
  let socket: UwsListenSocket | undefined = isUnix
    ? await listenOnUnix(app, address, served)
    : await listenExclusively(app, address.host, address.port, served);
  const removeFile = isUnix ? ownSocket(address.path) : undefined;
  return {
    port: isUnix ? undefined : uWS.us_socket_local_port(socket),
    stop() {
      if (!socket) return;
      uWS.us_listen_socket_close(socket);
      removeFile?.();
      socket = undefined;
    },
    close() {
      app.close();
      served.by = undefined;
    },
  };
};

const NETWORK = { from: 'network' } as const;

const localPeer = (): ArrayBuffer => new TextEncoder().encode(UNIX_PEER).buffer;

/** @throws Unavailable when the address cannot be bound */
const listenOnUnix = async (
  app: UwsApp,
  address: { path: string },
  served: Served<unknown>,
): Promise<UwsListenSocket> => {
  // uWebSockets.js would also replace the file of a listening process.
  await removeStaleSocket(address.path);
  return new Promise((resolve, reject) => {
    app.listen_unix((socket) => {
      if (socket) return resolve(socket);
      served.by = undefined;
      reject(cannotListen(address));
    }, address.path);
  });
};

/** `LIBUS_LISTEN_EXCLUSIVE_PORT`. Without it, the system spreads connections over all listeners of the port. */
const EXCLUSIVE = 1;

/** Retries are needed because another process can take a free port before this one listens on it. */
const FREE_PORT_ATTEMPTS = 5;

/**
 * Listens; port 0 selects a free one. uWebSockets.js sets SO_REUSEADDR only for an explicit port, and without that
 * option no later listener can take the port while closed connections are in TIME_WAIT.
 *
 * @param served cleared on failure
 * @throws Unavailable when the address cannot be bound
 */
export const listenExclusively = async (
  app: UwsApp,
  host: string,
  port: number,
  served: Served<unknown>,
): Promise<UwsListenSocket> => {
  try {
    for (let attempt = 1; attempt <= (port === 0 ? FREE_PORT_ATTEMPTS : 1); attempt += 1) {
      const socket = await listenOnPort(app, host, port === 0 ? await findFreePort(host) : port);
      if (socket) return socket;
    }
    throw cannotListen({ host, port });
  } catch (error) {
    served.by = undefined;
    throw error;
  }
};

const listenOnPort = (app: UwsApp, host: string, port: number): Promise<UwsListenSocket | false> =>
  new Promise((resolve) => {
    app.listen(host, port, EXCLUSIVE, resolve);
  });

/** @throws Unavailable when the host is not an address of this host */
const findFreePort = (host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (cause) => reject(cannotListen({ host, port: 0 }, cause)));
    probe.listen({ host, port: 0, exclusive: true }, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

const WILDCARDS: readonly string[] = ['0.0.0.0', '::'];

/** Whether an address belongs to this host. A name has been resolved by then. */
const isOfThisHost = (host: string): boolean =>
  isIP(host) === 0 ||
  WILDCARDS.includes(host) ||
  host.startsWith('127.') ||
  Object.values(networkInterfaces()).some((own) => own?.some(({ address }) => address === host));

/** Ports below need privileges on most systems. */
const UNPRIVILEGED = 1024;

const reasonOf = (address: ListenAddress): string => {
  if ('path' in address) return 'the folder does not exist or is not writable';
  if (!isOfThisHost(address.host)) return 'the address does not belong to this host';
  const isPrivileged = address.port > 0 && address.port < UNPRIVILEGED;
  const problem = isPrivileged ? 'the port is in use or needs privileges' : 'the address is in use';
  return `${problem}: choose another port, or 0 for any free one`;
};

export const cannotListen = (address: ListenAddress, cause?: unknown): Unavailable => {
  const reason = reasonOf(address);
  return new Unavailable(`cannot listen on ${nameOf(address)}: ${reason}`, { cause });
};
