import t, { type Test } from 'tap';
import { runCommand } from './service.ts';

/** The work of a start before the service listens, as a count: its time varies with other work on the host. */

/**
 * Prints the number of schemas that zod has created when the service listens, at the first pause after that, and at the
 * end, and the most that were created between two pauses.
 */
const COUNTER = `
import { Server } from 'node:net';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
let count = 0;
globalThis.__zod_globalConfig = { postProcessor: () => { count += 1; } };
let isListening = false;
let before = 0;
let most = 0;
let pauses = 0;
const notePause = () => {
  pauses += 1;
  if (pauses === 1) console.log('first pause: ' + count + ' schemas');
  most = Math.max(most, count - before);
  before = count;
};
const { setTimeout } = timers;
timers.setTimeout = (...given) => {
  if (isListening) notePause();
  return setTimeout(...given);
};
syncBuiltinESMExports();
const { listen } = Server.prototype;
Server.prototype.listen = function (...given) {
  console.log('listening: ' + count + ' schemas');
  isListening = true;
  before = count;
  return listen.apply(this, given);
};
process.on('exit', () => {
  notePause();
  console.log('ended: ' + count + ' schemas, at most ' + most + ' between two pauses');
});
`;

/** A schema takes about 15 µs. */
const MOST_SCHEMAS = 3300;

/** A health check waits for at most that many schemas. */
const MOST_AT_ONCE = 1300;

const startCounted = (t: Test): ReturnType<typeof runCommand> =>
  runCommand(
    t,
    ['serve', '--http-server', 'node', '--http-addr', '127.0.0.1:0', '--storage-dir', t.testdir()],
    {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(COUNTER)}`,
      SERVICE_ADMIN_API_BEARER_TOKEN: 'an-admin-token-of-this-test',
    },
  );

t.test('stops gracefully on a signal that arrives before the start has ended', async (t) => {
  const { child, says, ended } = startCounted(t);
  await says(/listening: /);
  child.kill('SIGTERM');
  t.equal(await ended(), 0);
});

t.test('creates the schemas of routes and protocols once the service listens', async (t) => {
  const { child, says } = startCounted(t);
  const [, listening] = await says(/listening: (\d+) schemas/);
  const [, paused] = await says(/first pause: (\d+) schemas/);
  await says(/Troupe listens on/);
  child.kill('SIGTERM');
  const [, ended, most] = await says(/ended: (\d+) schemas, at most (\d+) between two pauses/);
  t.ok(Number(listening) > 1000, 'the hook counts schemas');
  t.ok(Number(ended) > 6000, 'the others are created during the rest of the start');
  t.ok(Number(listening) < MOST_SCHEMAS, `${listening} schemas are created before the service listens`);
  t.equal(paused, listening, 'requests that have arrived are handled before the routes are loaded');
  t.ok(Number(most) > 100, 'the hook counts schemas between pauses');
  t.ok(Number(most) < MOST_AT_ONCE, `${most} schemas are created without a pause`);
});
