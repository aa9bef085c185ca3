import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { Unavailable } from '../schema/outcome.ts';
import type { Answer } from './pipeline.ts';
import { loadUws } from './uws.ts';

/** A port of this machine on which requests are answered, by uWebSockets.js. */
export type Listening = {
  /** The one that was really taken. */
  readonly port: number;
  /** No new connections. */
  stop(): void;
  /** Cuts off those that are open. */
  close(): void;
};

/** @throws Unavailable when the address cannot be had, or uWebSockets.js does not run on this system */
export const listenOn = async (answer: Answer, host: string, port: number): Promise<Listening> => {
  const uWS = loadUws();
  const app = uWS.App().any('/*', (res, req) => answer(res, req, NETWORK));
  let socket: us_listen_socket | undefined = await listenExclusively(app, host, port);
  return {
    port: uWS.us_socket_local_port(socket),
    stop() {
      if (socket) uWS.us_listen_socket_close(socket);
      socket = undefined;
    },
    close: () => app.close(),
  };
};

const NETWORK = { from: 'network' } as const;

/** `LIBUS_LISTEN_EXCLUSIVE_PORT`. Without it the system spreads connections over all who listen on the port. */
const EXCLUSIVE = 1;

export const listenExclusively = (app: TemplatedApp, host: string, port: number): Promise<us_listen_socket> =>
  new Promise((resolve, reject) => {
    // uWebSockets.js takes host and options together; its types only know one of them at a time.
    const listen = app.listen.bind(app) as unknown as (
      host: string,
      port: number,
      options: number,
      done: (socket: us_listen_socket | false) => void,
    ) => void;
    listen(host, port, EXCLUSIVE, (socket) => {
      if (socket) resolve(socket);
      else
        reject(
          new Unavailable(`cannot listen on ${host}:${port}: the address is in use or not of this machine`),
        );
    });
  });
