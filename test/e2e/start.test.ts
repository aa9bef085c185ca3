import t from 'tap';
import { runCommand } from './service.ts';

/** The work of a start before the service listens, as a count: its time varies with other work on the host. */

/** Prints the number of schemas that zod has created when the service listens, and at the end. */
const COUNTER = `
import { Server } from 'node:net';
let count = 0;
globalThis.__zod_globalConfig = { postProcessor: () => { count += 1; } };
const { listen } = Server.prototype;
Server.prototype.listen = function (...given) {
  console.log('listening: ' + count + ' schemas');
  return listen.apply(this, given);
};
process.on('exit', () => console.log('ended: ' + count + ' schemas'));
`;

/** A schema takes about 15 µs. */
const MOST_SCHEMAS = 3300;

t.test('stops gracefully on a signal that arrives before the start has ended', async (t) => {
  const { child, says, ended } = runCommand(
    t,
    ['serve', '--http-server', 'node', '--http-addr', '127.0.0.1:0', '--storage-dir', t.testdir()],
    {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(COUNTER)}`,
      SERVICE_ADMIN_API_BEARER_TOKEN: 'an-admin-token-of-this-test',
    },
  );
  await says(/listening: /);
  child.kill('SIGTERM');
  t.equal(await ended(), 0);
});

t.test('creates the schemas of routes and protocols once the service listens', async (t) => {
  const { child, says } = runCommand(
    t,
    ['serve', '--http-server', 'node', '--http-addr', '127.0.0.1:0', '--storage-dir', t.testdir()],
    {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(COUNTER)}`,
      SERVICE_ADMIN_API_BEARER_TOKEN: 'an-admin-token-of-this-test',
    },
  );
  const [, listening] = await says(/listening: (\d+) schemas/);
  await says(/Troupe listens on/);
  child.kill('SIGTERM');
  const [, ended] = await says(/ended: (\d+) schemas/);
  t.ok(Number(listening) > 1000, 'the hook counts schemas');
  t.ok(Number(ended) > 6000, 'the others are created during the rest of the start');
  t.ok(Number(listening) < MOST_SCHEMAS, `${listening} schemas are created before the service listens`);
});
