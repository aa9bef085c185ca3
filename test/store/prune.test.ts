import t from 'tap';
import type { EventScope, Store } from '../../src/store/index.ts';
import fc from '../random.ts';
import { storeFor } from './open.ts';
import { event, SCOPE, write } from './records.ts';

type Log = { scope?: string; thread_id: string; from?: number };

/** Appends once; each time is that of one event. */
const append = (
  store: Store,
  { scope = SCOPE, thread_id, from = 1 }: Log,
  times: number[],
  run_id?: string,
): Promise<void> =>
  write(store, (batch) => {
    const events = times.map((created_at, index) => ({
      ...event(`e${from + index}`, run_id),
      created_at,
    }));
    store.events.append(batch, scope, thread_id, from, events);
  });

/** Prunes everything with one commit per call, and returns the number of removed rows of each. */
const sweep = async (store: Store, before: number, budget = 1000): Promise<number[]> => {
  const calls: number[] = [];
  let from: ReturnType<Store['events']['prune']>['next'];
  do {
    const batch = store.batch('commons');
    const { removed, next } = store.events.prune(batch, before, budget, from);
    await store.commit(batch);
    calls.push(removed);
    from = next;
  } while (from);
  return calls;
};

const seqs = (store: Store, by: EventScope, scope = SCOPE): number[] =>
  store.events.list(scope, by, 0, 1000).rows.map(({ seq }) => seq);

t.test('removes a row once all its events are older, from the log and from its runs', async (t) => {
  const store = await storeFor(t);
  await append(store, { thread_id: 't1', from: 1 }, [10, 11], 'a');
  await append(store, { thread_id: 't1', from: 3 }, [12, 20], 'a');
  await append(store, { thread_id: 't1', from: 5 }, [21], 'b');
  t.strictSame(await sweep(store, 20), [1]);
  t.strictSame(seqs(store, { thread_id: 't1' }), [3, 4, 5]);
  t.strictSame(seqs(store, { run_id: 'a' }), [3, 4]);
  t.strictSame(await sweep(store, 21), [1]);
  t.strictSame(seqs(store, { thread_id: 't1' }), [5]);
  const { reads } = store;
  t.strictSame(seqs(store, { run_id: 'a' }), []);
  t.equal(store.reads, reads, 'no event of the run is left');
  t.strictSame(seqs(store, { run_id: 'b' }), [5]);
  for (const seq of [1, 2, 3, 4]) {
    t.notOk(store.events.has(SCOPE, { thread_id: 't1' }, seq));
    t.notOk(store.events.has(SCOPE, { run_id: 'a' }, seq));
  }
  t.ok(store.events.has(SCOPE, { thread_id: 't1' }, 5));
  t.strictSame(store.events.list(SCOPE, { thread_id: 't1' }, 2, 10).rows[0]?.seq, 5);
});

t.test('keeps the newest row of a log, so that sequence numbers continue', async (t) => {
  const store = await storeFor(t);
  await append(store, { thread_id: 't1', from: 1 }, [1, 1, 1], 'a');
  await append(store, { thread_id: 't1', from: 4 }, [2, 2], 'a');
  t.strictSame(await sweep(store, 1_000_000), [1]);
  t.strictSame(await sweep(store, 1_000_000), [0]);
  t.equal(store.events.last(SCOPE, 't1'), 5);
  await append(store, { thread_id: 't1', from: store.events.last(SCOPE, 't1') + 1 }, [3], 'b');
  t.strictSame(await sweep(store, 3), [1]);
  t.strictSame(seqs(store, { thread_id: 't1' }), [6]);
  t.strictSame(seqs(store, { run_id: 'b' }), [6]);
});

t.test('removes nothing after a retained row, even if the clock went back', async (t) => {
  const store = await storeFor(t);
  for (const [index, at] of [10, 30, 15, 40].entries()) {
    await append(store, { thread_id: 't1', from: index + 1 }, [at]);
  }
  t.strictSame(await sweep(store, 20), [1]);
  t.strictSame(seqs(store, { thread_id: 't1' }), [2, 3, 4]);
});

t.test('visits every log of every scope once across calls', async (t) => {
  for (const budget of [1, 2, 3, 5, 1000]) {
    const store = await storeFor(t);
    for (const scope of ['default', 'other']) {
      for (const thread_id of ['t', 't1', 't10', 't2']) {
        for (const from of [1, 2, 3]) await append(store, { scope, thread_id, from }, [from * 10]);
      }
    }
    const calls = await sweep(store, 25, budget);
    t.ok(
      calls.every((removed) => removed <= budget),
      'no call exceeds its budget',
    );
    t.equal(
      calls.reduce((sum, removed) => sum + removed, 0),
      16,
    );
    for (const scope of ['default', 'other']) {
      for (const thread_id of ['t', 't1', 't10', 't2']) {
        t.strictSame(seqs(store, { thread_id }, scope), [3], `${scope} ${thread_id}, budget ${budget}`);
      }
    }
    await store.close();
  }
});

t.test('reads one key for a log without expired rows', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    for (let thread = 0; thread < 50; thread += 1) {
      for (let seq = 1; seq <= 40; seq += 1)
        store.events.append(batch, SCOPE, `t${thread}`, seq, [{ ...event('e'), created_at: 50 }]);
    }
  });
  const readsOf = (before: number, budget: number) => {
    const { reads } = store;
    const found = store.events.prune(store.batch('commons'), before, budget);
    return { ...found, reads: store.reads - reads };
  };
  t.strictSame(readsOf(50, 1000), { removed: 0, reads: 50 });
  const first = readsOf(50, 20);
  t.equal(first.reads, 21, 'the last key is the position of the next call');
  t.ok(first.next);
});

t.test('reads the key and the row for each removed row', async (t) => {
  const store = await storeFor(t);
  for (let seq = 1; seq <= 21; seq += 1) await append(store, { thread_id: 't1', from: seq }, [seq], 'a');
  const { reads } = store;
  t.equal(store.events.prune(store.batch('commons'), 1000, 1000).removed, 20);
  t.equal(store.reads - reads, 41);
});

t.test('applies concurrent appends and sweeps completely', async (t) => {
  const step = fc.record({
    thread: fc.constantFrom('a', 'b', 'c'),
    size: fc.integer({ min: 1, max: 3 }),
    prune: fc.boolean(),
    budget: fc.integer({ min: 1, max: 6 }),
    awaited: fc.boolean(),
  });
  const store = await storeFor(t);
  let rounds = 0;
  const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
    rounds += 1;
    const scope = `scope${rounds}`;
    const last = new Map<string, number>();
    const commits: Promise<void>[] = [];
    let from: ReturnType<Store['events']['prune']>['next'];
    for (const [now, { thread, size, prune, budget, awaited }] of steps.entries()) {
      const batch = store.batch('commons');
      if (prune) {
        from = store.events.prune(batch, now - 4, budget, from).next;
      } else {
        const at = last.get(thread) ?? 0;
        const events = Array.from({ length: size }, () => ({ ...event('e', thread), created_at: now }));
        store.events.append(batch, scope, thread, at + 1, events);
        last.set(thread, at + size);
      }
      commits.push(store.commit(batch));
      if (awaited) await Promise.all(commits);
    }
    await Promise.all(commits);
    await sweep(store, steps.length);
    for (const [thread, end] of last) {
      const left = seqs(store, { thread_id: thread }, scope);
      if (store.events.last(scope, thread) !== end || left.at(-1) !== end || left.length > 3) return false;
      if (JSON.stringify(seqs(store, { run_id: thread }, scope)) !== JSON.stringify(left)) return false;
      if (left.some((seq, index) => seq !== end - left.length + 1 + index)) return false;
    }
    return true;
  });
  await t.resolves(fc.assert(property, { numRuns: 60, seed: 11 }));
});
