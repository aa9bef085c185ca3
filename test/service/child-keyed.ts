import { IncomingMessage, Server, ServerResponse } from 'node:http';
import { startApp } from '../../src/app.ts';
import { createLog } from '../../src/observability/log.ts';
import { settingsFrom } from '../../src/settings/index.ts';
import { createTestModels } from './models.ts';
import { ADMIN_TOKEN } from './troupe.ts';

/**
 * A service in its own process with two failpoints. The header `x-dies` of a request selects one: `before` ends the
 * process with SIGKILL while the request is handled and nothing is committed; `after` does so when its response begins,
 * which is after its commit.
 */

const [dir = ''] = process.argv.slice(2);
let dies: unknown;

const die = (when: string): void => {
  if (dies === when) process.kill(process.pid, 'SIGKILL');
};

const { emit } = Server.prototype;
Server.prototype.emit = function (event: string | symbol, ...given: unknown[]): boolean {
  const [request] = given;
  if (event === 'request' && request instanceof IncomingMessage) dies = request.headers['x-dies'];
  return Reflect.apply(emit, this, [event, ...given]);
};

const { writeHead } = ServerResponse.prototype;
// The overloads have one implementation.
ServerResponse.prototype.writeHead = function (this: ServerResponse, ...given: never[]): ServerResponse {
  die('after');
  return Reflect.apply(writeHead, this, given);
} as typeof writeHead;

const clock = {
  now(): number {
    die('before');
    return Date.now();
  },
  monotonic: () => performance.now(),
};

const models = createTestModels();
const app = await startApp({
  settings: settingsFrom({
    http_addr: '127.0.0.1:0',
    http_server: 'node',
    storage_dir: dir,
    AdminApiConfig: { bearer_token: ADMIN_TOKEN },
    entries: models.entries,
  }),
  log: createLog({ level: 'silent' }),
  providers: [models.provider],
  clock,
});
process.stdout.write(`listens on ${app.url}\n`);
