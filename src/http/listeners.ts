import type { ServiceLog } from '../schema/log-events.ts';
import type { Answer } from './answer.ts';
import { createConnectionBudget, mostConnections } from './connection-budget.ts';
import { createFetch, type Local } from './fetch.ts';
import type { ListenAddress } from './listen-address.ts';
import { listenOnNode } from './node-socket.ts';
import { type Listening, listenOn } from './socket.ts';
import type { Tls, TlsFiles } from './tls.ts';
import type { HttpServerChoice } from './uws.ts';

/**
 * The sockets of a process, and the requests of its program. They outlive what answers the requests, which is replaced
 * while connections are open.
 */
export type Listeners = {
  /** Answers all requests from now on; before the first call, connections are closed. */
  answerWith(answer: Answer): void;
  /** Listens; port 0 selects a free one. Rejects if the address cannot be bound or a file of `tls` is unusable. */
  listen(server: HttpServerChoice, address: ListenAddress): Promise<{ port: number | undefined }>;
  /** Handles a request without a socket, even while nothing listens. */
  fetch: Local['fetch'];
  /** Accepts no new connections. Open ones are served. */
  stop(): void;
  /** Closes the open connections. */
  close(): void;
};

type ListenersDeps = {
  /** If absent, connections are not encrypted. */
  tls?: TlsFiles | undefined;
  log: Pick<ServiceLog, 'warn'>;
};

export const createListeners = ({ tls, log }: ListenersDeps): Listeners => {
  let current: Answer = (res) => res.close();
  const answer: Answer = (res, req, from) => current(res, req, from);
  const local = createFetch(answer);
  const sockets: Listening[] = [];
  const stop = (): void => {
    for (const socket of sockets) socket.stop();
  };
  return {
    answerWith(next) {
      current = next;
    },
    async listen({ uWS }, address) {
      const budget = createConnectionBudget(mostConnections(), (most) =>
        log.warn('http.connection_limit', { most }),
      );
      const options = { address, budget, tls: tls && (await readCertificate(tls, log)) };
      const socket = await (uWS ? listenOn(uWS, answer, options) : listenOnNode(answer, options));
      sockets.push(socket);
      return { port: socket.port };
    },
    fetch: local.fetch,
    stop,
    close() {
      stop();
      for (const socket of sockets) socket.close();
      local.close();
    },
  };
};

const readCertificate = async (files: TlsFiles, log: ListenersDeps['log']): Promise<Tls> => {
  const tls = (await import('./tls.ts')).readTls(files);
  if (tls.expires.getTime() - Date.now() < EXPIRES_SOON_MS) {
    log.warn('http.certificate_expires', { file: tls.cert_file, expires: tls.expires.toISOString() });
  }
  return tls;
};

/** A certificate that expires within this time, or has expired, is reported at the start. */
const EXPIRES_SOON_MS = 14 * 24 * 3_600_000;
