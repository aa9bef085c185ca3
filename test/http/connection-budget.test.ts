import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createConnectionBudget, mostConnections } from '../../src/http/connection-budget.ts';
import { nodeCommand } from '../child.ts';
import { MAIN } from '../e2e/built.ts';
import { HTTP_SERVER_ENV } from './listener.ts';

/** More connections than file descriptors, which must not affect the service. */

t.test('reserves some descriptors', async (t) => {
  const limits = (soft: number) => () =>
    `Max open files            ${soft}                 524288               files \n`;
  t.equal(mostConnections(limits(200)), 136);
  t.equal(mostConnections(limits(100_000)), 90_000);
  t.equal(mostConnections(limits(10)), 1);
  t.equal(
    mostConnections(() => ''),
    Number.POSITIVE_INFINITY,
  );
});

t.test('closes connections above the budget, and reports it once a minute', async (t) => {
  const reported: number[] = [];
  let now = 0;
  const budget = createConnectionBudget(
    2,
    () => reported.push(now),
    () => now,
  );
  t.strictSame(
    [budget.opened(), budget.opened(), budget.opened(), budget.opened()],
    [true, true, false, false],
  );
  budget.closed();
  budget.closed();
  now = 60_000;
  t.notOk(budget.opened());
  budget.closed();
  budget.closed();
  t.ok(budget.opened());
  t.strictSame(reported, [0, 60_000]);
});

const ticksOf = ({ pid }: ChildProcess): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
};

const start = async (t: Test, dir: string): Promise<{ child: ChildProcess; port: number }> => {
  const serve = ['serve', '--http-addr', '127.0.0.1:0', '--storage-dir', join(dir, 'data')];
  const [command, args] = nodeCommand([MAIN, ...serve]);
  const child = spawn('sh', ['-c', 'ulimit -n 200 && exec "$@"', 'sh', command, ...args], {
    env: {
      PATH: process.env.PATH ?? '',
      ...HTTP_SERVER_ENV,
      SERVICE_ADMIN_API_BEARER_TOKEN: 'x',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  for await (const line of createInterface(child.stderr)) {
    const [, port] = /"url":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(line) ?? [];
    if (port !== undefined) return { child, port: Number(port) };
  }
  throw new Error('the service did not start');
};

const statusOf = (port: number): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', path: '/health/live' }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.once('error', reject);
    asked.end();
  });

/** Waits until a connection is open, or closed by the service because it is above the budget. */
const settled = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.once('connect', resolve);
    socket.on('error', () => resolve());
  });

/** Asks until the service has noticed that other clients left; until then it closes new connections. */
const servedStatus = async (port: number): Promise<number | undefined> => {
  for (;;) {
    try {
      return await statusOf(port);
    } catch (error) {
      if (!isReset(error)) throw error;
      await delay(10);
    }
  }
};

const isReset = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');

const noProc = process.platform === 'linux' ? {} : { skip: 'there is no /proc' };

t.test('uses no CPU while idle clients hold every descriptor', noProc, async (t) => {
  const { child, port } = await start(t, t.testdir());
  const sockets: Socket[] = [];
  for (let count = 0; count < 300; count += 1) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    await settled(socket);
  }
  const before = ticksOf(child);
  await delay(1000);
  // A loop that retries accepting connections uses 100 ticks a second.
  t.ok(ticksOf(child) - before < 50, 'the accept loop does not spin');
  for (const socket of sockets) socket.destroy();
  t.equal(await servedStatus(port), 200, 'a client is served after others disconnect');
});
