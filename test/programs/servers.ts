import type { Test } from 'tap';
import { chooseHttpServer, type HttpServerSetting } from '../../src/http/uws.ts';

/** Executes a test of a file on the listener of each HTTP server. */

export type Server = Exclude<HttpServerSetting, 'auto'>;

const missing = ((): string | undefined => {
  try {
    chooseHttpServer('uws', { info() {} });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
})();

export const testOnEach = (
  file: Test,
  name: string,
  run: (t: Test, server: Server) => Promise<void>,
): void => {
  file.test(`${name}, on uWebSockets.js`, missing === undefined ? {} : { skip: missing }, (t) =>
    run(t, 'uws'),
  );
  file.test(`${name}, on node:http`, (t) => run(t, 'node'));
};
