import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { bundled, nodeCommand } from '../child.ts';
import { LONG } from '../long.ts';
import { startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';
import { until } from './serving.ts';

/** Members in separate processes that are killed, or whose event loops pause (cluster.md 19.3). */

const TTL_MS = 3000;
const KILLS = LONG ? 20 : 3;
const FILE = fileURLToPath(new URL('./child-serving.ts', import.meta.url));

t.setTimeout(LONG ? 900_000 : 240_000);

type Line = { type: string; state?: string; id?: string; text?: string; result?: string; calls?: string[] };

type Child = {
  lines: Line[];
  state(): string | undefined;
  send(command: string): void;
  kill(): Promise<void>;
  ended: Promise<unknown>;
};

const startChild = (t: Test, name: string, url: string): Child => {
  const [command, args] = nodeCommand([bundled(FILE), JSON.stringify({ name, url, ttlMs: TTL_MS })]);
  const child: ChildProcess = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => void child.kill('SIGKILL'));
  const lines: Line[] = [];
  child.stdin?.on('error', () => undefined);
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (text) => lines.push(JSON.parse(text)));
  const ended = once(child, 'close');
  return {
    lines,
    state: () => lines.findLast(({ type }) => type === 'state')?.state,
    send: (command) => void child.stdin?.write(`${command}\n`),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    ended,
  };
};

t.test('members in processes', { skip: NO_POSTGRES }, async (t) => {
  const postgres = await startPostgres(t);

  await t.test(`three members keep every acknowledged text over ${KILLS} kills`, async (t) => {
    const database = postgres.createDatabase();
    const url = postgres.url(database);
    const names = ['a', 'b', 'c'];
    const children = names.map((name) => startChild(t, name, url));
    const acknowledged: string[] = [];
    const activeOf = () => children.findIndex((child) => child.state() === 'active');
    for (let round = 0; round < KILLS; round += 1) {
      await until(() => activeOf() >= 0, 'an active member');
      const index = activeOf();
      const active = children[index];
      if (!active) throw new Error('there is an active member');
      for (let n = 0; n < 5; n += 1) active.send(`say ${round}-${n}`);
      await until(() => active.lines.filter(({ type }) => type === 'said').length >= 5, 'five texts');
      active.send(`say ${round}-last`);
      const killedAt = performance.now();
      await active.kill();
      for (const { text, result } of active.lines) if (result === 'applied' && text) acknowledged.push(text);
      children[index] = startChild(t, names[index] ?? '', url);
      await until(() => activeOf() >= 0, 'a takeover');
      const tookMs = performance.now() - killedAt;
      // A busy host delays the reads of the others.
      t.ok(tookMs < TTL_MS * 2 + 3000, `round ${round}: ${Math.round(tookMs)} ms`);
    }
    const stored = postgres.sql(database, 'SELECT value FROM troupe.row WHERE kind = 3').split('\n');
    const texts = stored.filter(Boolean).map((text) => JSON.parse(text));
    t.strictSame(
      acknowledged.filter((text) => !texts.includes(text)),
      [],
    );
    t.equal(new Set(texts).size, texts.length);
    for (const child of children) child.send('leave');
    await Promise.all(children.map(({ ended }) => ended));
    t.equal(postgres.sql(database, `SELECT count(*) FROM troupe.member WHERE state <> 'gone'`), '0');
  });

  await t.test(
    'a member whose event loop pauses is fenced, and serves nothing behind the pause (check 27)',
    async (t) => {
      const url = postgres.url(postgres.createDatabase());
      const a = startChild(t, 'a', url);
      await until(() => a.state() === 'active', 'an active member');
      const id = a.lines.findLast(({ state }) => state === 'active')?.id;
      const b = startChild(t, 'b', url);
      await until(() => b.state() === 'standby', 'a standby');
      a.send(`block ${TTL_MS * 3}`);
      await until(() => b.state() === 'active', 'a takeover');
      await until(() => a.lines.some(({ type }) => type === 'unblocked'), 'the end of the pause');
      t.match(
        a.lines.find(({ type }) => type === 'unblocked'),
        { state: 'isolated', calls: ['suspend'] },
      );
      await until(() => a.state() === 'standby', 'another membership');
      t.not(a.lines.findLast(({ state }) => state === 'standby')?.id, id);
      t.equal(b.state(), 'active');
      for (const child of [a, b]) child.send('leave');
      await Promise.all([a.ended, b.ended]);
    },
  );
});
