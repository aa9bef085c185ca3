import { execFileSync, spawnSync } from 'node:child_process';
import t from 'tap';
import { createBatch } from '../../src/store/engine/batch.ts';
import { createCommitter } from '../../src/store/engine/committer.ts';
import { createCounters } from '../../src/store/engine/counters.ts';
import { createEnvironment, openRoot, type Transaction } from '../../src/store/engine/environment.ts';
import { createPendingBlobs } from '../../src/store/engine/pending-blobs.ts';
import { startChild } from './child.ts';

/** The outcome of commits as the store reports it. */

t.test('reports a full disk, and free space again without another commit', async (t) => {
  const child = startChild(t, 'child-full.ts', [t.testdir()], "trap '' XFSZ; ulimit -S -f 8192;");
  const next = async () => JSON.parse(await child.line());
  t.strictSame(await next(), { what: 'empty', writable: true, check: 'ok' });
  t.match(await next(), { what: 'full', writable: false, check: /cannot be written \(.+\): free space/ });
  execFileSync('prlimit', [`--pid=${child.pid}`, '--fsize=unlimited:']);
  t.strictSame(await next(), { what: 'recovered', writable: true, check: 'ok' });
  t.strictSame(await next(), { what: 'wrote', writable: true, check: 'ok' });
  await child.exit;
});

t.test('closes a store whose last commit failed', async (t) => {
  const child = startChild(t, 'child-full.ts', [t.testdir(), 'once'], "trap '' XFSZ; ulimit -S -f 8192;");
  await child.line();
  t.match(JSON.parse(await child.line()), { what: 'full', writable: false });
  t.strictSame(JSON.parse(await child.line()), { seen: false });
  await child.exit;
});

const canInject = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status === 0;

t.test(
  'keeps the commit when its flush fails, and accepts no further one',
  { skip: canInject ? false : 'needs strace' },
  async (t) => {
    const inject = 'strace -f -qq -o /dev/null -e trace=fdatasync -e inject=fdatasync:error=EIO:when=40+';
    const child = startChild(t, 'child-full.ts', [t.testdir(), 'once'], `set -- ${inject} "$@";`);
    await child.line();
    t.match(JSON.parse(await child.line()), { writable: false, check: /did not confirm a write/ });
    t.strictSame(JSON.parse(await child.line()), { seen: true });
    await child.exit;
  },
);

t.test(
  'rejects a commit that fails while another is being flushed, and continues',
  { skip: canInject ? false : 'needs strace' },
  async (t) => {
    const slow = 'strace -f -qq -o /dev/null -e trace=fdatasync -e inject=fdatasync:delay_enter=200000';
    const child = startChild(
      t,
      'child-overlap.ts',
      [t.testdir()],
      `trap '' XFSZ; ulimit -f 8192; set -- ${slow} "$@";`,
    );
    t.match(JSON.parse(await child.line()), {
      large: /cannot be written \((i\/o error|file too large)\)/,
      after: 'stored',
    });
    await child.exit;
  },
);

/** A committer with real transactions whose outcome `how` replaces. */
const committerFor = (t: Parameters<typeof startChild>[0], how: (done: Transaction) => Transaction) => {
  const root = openRoot(t.testdir());
  t.teardown(() => root.close());
  const env = createEnvironment(root);
  const rows = env.rows('rows');
  let transactions = 0;
  const committer = createCommitter(
    {
      ...env,
      transaction(apply) {
        transactions += 1;
        return how(env.transaction(apply));
      },
    },
    createCounters(env.rows('counters'), env.counter),
    {
      dir: 'the folder',
      durability: 'power',
      pendingBlobs: createPendingBlobs(),
      probe(batch) {
        batch.writes.push({ kind: 'put', rows, key: ['probe'], value: Buffer.from([1]) });
      },
    },
  );
  const put = (key: string, kind: 'input' | 'progress' = 'input') => {
    const batch = createBatch('commons');
    batch.writes.push({ kind: 'put', rows, key: [key], value: Buffer.from([1]) });
    return committer.commit(batch, kind);
  };
  return { committer, put, rows, transactions: () => transactions };
};

const unflushed = ({ visible }: Transaction): Transaction => ({
  visible,
  flushed: visible.then(() => Promise.reject(new Error('input/output error'))),
});

t.test(
  'reports visible input that the disk did not confirm as unconfirmed, and writes nothing after it',
  async (t) => {
    let broken = false;
    const { committer, put, rows, transactions } = committerFor(t, (done) =>
      broken ? unflushed(done) : done,
    );
    await put('before');
    broken = true;
    const words = /did not confirm .*input\/output error.* verify it before retrying/;
    await t.rejects(put('unsure'), { name: 'Unavailable', message: words });
    t.equal(rows.get(['unsure']), 1, 'the input is visible');
    broken = false;
    t.equal(committer.writable, false);
    const before = transactions();
    await t.rejects(put('later'), { message: words });
    await t.rejects(put('later', 'progress'), { message: words });
    await t.rejects(committer.check(), { message: words });
    t.equal(transactions(), before);
    t.equal(rows.get(['later']), undefined);
    await committer.close();
  },
);

t.test('rejects commits that wait for a failed flush', async (t) => {
  const { put, rows } = committerFor(t, unflushed);
  const first = put('first');
  const behind = put('behind', 'progress');
  await t.rejects(first, { message: /did not confirm/ });
  await behind.catch(() => {});
  await t.rejects(put('last', 'progress'), { message: /did not confirm/ });
  t.equal(rows.get(['last']), undefined);
});

t.test('writes no check row while the store is busy', async (t) => {
  const { committer, put, transactions } = committerFor(t, (done) => done);
  await put('a');
  await committer.check();
  await committer.check();
  t.equal(transactions(), 1);
});

t.test('shares one row among concurrent checks', async (t) => {
  const { committer, transactions } = committerFor(t, (done) => done);
  await Promise.all([committer.check(), committer.check(), committer.check()]);
  t.equal(transactions(), 1);
});
