import { createRequire } from 'node:module';
import type { ServiceLog } from '../schema/log-events.ts';
import { Unavailable } from '../schema/outcome.ts';
import type { UwsModule } from './uws-module.ts';

/**
 * Selects the HTTP server.
 *
 * uWebSockets.js is one binary for each system and version of Node, and some of them need a newer system than Node
 * itself. It is loaded only here, when the service starts to listen, so that a system without a suitable binary is
 * reported in one line.
 */
export type HttpServerSetting = 'auto' | 'uws' | 'node';

/** `uWS` is absent for `node:http`. */
export type HttpServerChoice = { readonly uWS: UwsModule | undefined };

/**
 * @param setting `auto` selects uWebSockets.js where it can be loaded, and otherwise `node:http`
 * @param log receives one line when `auto` falls back to `node:http`
 * @throws Unavailable when the setting is `uws` and uWebSockets.js cannot be loaded
 */
export const chooseHttpServer = (
  setting: HttpServerSetting,
  log: Pick<ServiceLog, 'info'>,
): HttpServerChoice => {
  if (setting === 'node') return { uWS: undefined };
  try {
    return { uWS: loadUws() };
  } catch (error) {
    const reason = problemOf(error);
    if (setting === 'uws') throw new Unavailable(reason, { cause: error });
    log.info('http.uws_unavailable', { reason });
    return { uWS: undefined };
  }
};

/**
 * Some builds accept heads of 4 KiB by default, which is less than an access token may have. A build reads the limit from
 * the environment when it is loaded.
 */
const loadUws = (): UwsModule => {
  const { env } = process;
  const given = env[LIMIT];
  env[LIMIT] = given ?? String(MAX_HEADER_BYTES);
  try {
    return createRequire(import.meta.url)('uWebSockets.js');
  } finally {
    if (given === undefined) delete env[LIMIT];
  }
};

const LIMIT = 'UWS_HTTP_MAX_HEADERS_SIZE';

/** Maximum size of the head of a request, on both HTTP servers. */
export const MAX_HEADER_BYTES = 100 * 1024;

const problemOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  const [, glibc] = /GLIBC_(\d+\.\d+)' not found/.exec(text) ?? [];
  const here = `Node ${process.version} on ${process.platform} ${process.arch}`;
  if (glibc !== undefined) {
    return `the binary of uWebSockets.js for ${here} needs glibc ${glibc} or newer, which Debian 13 and Ubuntu 24.04 have and this system does not`;
  }
  if (/Cannot find module '(?!\.)/.test(text)) return 'uWebSockets.js is not installed';
  if (/Cannot find module/.test(text)) {
    return `uWebSockets.js has no binary for ${here}; there are binaries for Node 20, 22, 24 and 25 on Linux with glibc, macOS and Windows. If binaries were pruned, install again with this Node`;
  }
  return `uWebSockets.js cannot be loaded by ${here}: ${text.trim().split('\n').at(-1)}`;
};
