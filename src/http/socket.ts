import type { HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { Unavailable } from '../schema/outcome.ts';
import type { ConnectionBudget } from './connection-budget.ts';
import type { Answer } from './pipeline.ts';
import type { HttpServerChoice } from './uws.ts';

/** A port of this machine on which requests are answered, by uWebSockets.js. */
export type Listening = {
  /** The one that was really taken. */
  readonly port: number;
  /** No new connections. */
  stop(): void;
  /** Cuts off those that are open. */
  close(): void;
};

/**
 * What the callbacks of an app reach. uWebSockets.js holds these for as long as the process lives, so it is emptied once
 * nothing is served any more: a service that has stopped, or could not start, leaves nothing behind.
 */
export type Served<What> = { by: What | undefined };

type UwsModule = NonNullable<HttpServerChoice['uWS']>;

/** @throws Unavailable when the address cannot be had */
export const listenOn = async (
  uWS: UwsModule,
  answer: Answer,
  host: string,
  port: number,
  budget: ConnectionBudget,
): Promise<Listening> => {
  const served: Served<{ answer: Answer; budget: ConnectionBudget }> = { by: { answer, budget } };
  // uWebSockets.js calls this with 1 and -1; closing the connection calls it again, with -1.
  const count = (res: HttpResponse, change: unknown): void => {
    if (Number(change) < 0) served.by?.budget.closed();
    else if (served.by?.budget.opened() === false) res.close();
  };
  const app = uWS
    .App()
    .any('/*', (res, req) => served.by?.answer(res, req, NETWORK))
    .filter(count);
  let socket: us_listen_socket | undefined = await listenExclusively(app, host, port, served);
  return {
    port: uWS.us_socket_local_port(socket),
    stop() {
      if (socket) uWS.us_listen_socket_close(socket);
      socket = undefined;
    },
    close() {
      app.close();
      served.by = undefined;
    },
  };
};

const NETWORK = { from: 'network' } as const;

/** `LIBUS_LISTEN_EXCLUSIVE_PORT`. Without it the system spreads connections over all who listen on the port. */
const EXCLUSIVE = 1;

/**
 * @param served emptied when it cannot
 * @throws Unavailable when the address cannot be had
 */
export const listenExclusively = (
  app: TemplatedApp,
  host: string,
  port: number,
  served: Served<unknown>,
): Promise<us_listen_socket> =>
  new Promise((resolve, reject) => {
    // uWebSockets.js takes host and options together; its types only know one of them at a time.
    const listen = app.listen.bind(app) as unknown as (
      host: string,
      port: number,
      options: number,
      done: (socket: us_listen_socket | false) => void,
    ) => void;
    listen(host, port, EXCLUSIVE, (socket) => {
      if (socket) return resolve(socket);
      served.by = undefined;
      reject(cannotListen(`${host}:${port}`));
    });
  });

export const cannotListen = (address: string, cause?: unknown): Unavailable =>
  new Unavailable(`cannot listen on ${address}: the address is in use or not of this machine`, { cause });
