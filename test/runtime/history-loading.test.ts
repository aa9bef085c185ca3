import { setImmediate as nextTick } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { WINDOW_BYTES, WINDOW_ROWS } from '../../src/runtime/ledger/history-windows.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { message, SCOPE, threadRecord, write } from '../store/records.ts';
import { startRuntime } from './runtime.ts';
import { createStage } from './scene.ts';

/** A long history is read in windows before a run, so that other threads keep streaming. */

const ROWS = 5 * WINDOW_ROWS + 7;

type Filling = { rows?: number; text?: string };

/** Creates threads of an earlier process. */
const filled = async (
  t: Test,
  threads: readonly string[],
  { rows = ROWS, text = 'text' }: Filling = {},
): Promise<string> => {
  const dir = t.testdir();
  const store = await openStore({ dir, durability: 'process' });
  await write(store, (batch) => {
    for (const thread_id of threads) {
      store.threads.put(batch, SCOPE, threadRecord(thread_id, 1, {}), undefined);
      const content = [{ type: 'text' as const, text }];
      store.messages.append(
        batch,
        SCOPE,
        thread_id,
        Array.from({ length: rows }, (_, index) => ({
          seq: index + 1,
          message: { ...message(`m${index + 1}`, 'r1'), content },
          created_at: 1,
          external: index + 1,
          bytes: (index + 1) * text.length,
        })),
      );
    }
  });
  await store.close();
  return dir;
};

/** Counts the messages that are read, in total and per event-loop tick. */
const countReads = (t: Test, { messages }: Pick<Store, 'messages'>) => {
  const { range } = messages;
  let inTick = 0;
  const counts = { total: 0, most: 0 };
  messages.range = function* (...args) {
    for (const row of range(...args)) {
      inTick += 1;
      counts.total += 1;
      counts.most = Math.max(counts.most, inTick);
      yield row;
    }
  };
  let isOver = false;
  const tick = (): void => {
    inTick = 0;
    if (!isOver) setImmediate(tick);
  };
  tick();
  t.teardown(() => {
    isOver = true;
  });
  return counts;
};

t.test('reads at most one window in each tick, also for several concurrent threads', async (t) => {
  const threads = ['a', 'b', 'c'];
  const service = await startRuntime(t, { dir: await filled(t, threads) });
  const counts = countReads(t, service.store);
  const runs = threads.map((thread) => service.submit('more', thread));
  await Promise.all(runs.map(({ accepted }) => accepted));
  await Promise.all(runs.map(({ end }) => end));
  t.equal(counts.total, threads.length * ROWS);
  t.equal(counts.most, WINDOW_ROWS);
});

t.test('reads windows of few rows if the messages are large', async (t) => {
  const text = 'x'.repeat(WINDOW_BYTES / 2);
  const service = await startRuntime(t, { dir: await filled(t, ['T'], { rows: 10, text }) });
  const counts = countReads(t, service.store);
  const { accepted, end } = service.submit('more');
  await accepted;
  await end;
  t.equal(counts.total, 10);
  t.ok(counts.most <= 4, `${counts.most} messages in one tick`);
});

t.test('passes the whole history to the model, for one run after the other', async (t) => {
  const stage = createStage();
  const { store, submit } = await startRuntime(t, {
    dir: await filled(t, ['T']),
    provider: stage.provider,
  });
  const counts = countReads(t, store);
  const first = submit('first', 'T', 'queue');
  const second = submit('second', 'T', 'queue');
  await Promise.all([first.accepted, second.accepted]);
  t.equal(counts.total, ROWS);
  await stage.until(1);
  stage.go();
  await first.end;
  await stage.until(1);
  stage.go();
  await second.end;
  t.match(first.frames(), 'answer to first');
  t.match(second.frames(), 'answer to second');
  const { seq } = store.messages.last(SCOPE, 'T') ?? {};
  t.equal(seq, ROWS + 4);
});

t.test('continues work of an earlier process on a long history', async (t) => {
  const dir = await filled(t, ['T']);
  const stage = createStage();
  const before = await startRuntime(t, { dir, provider: stage.provider });
  const left = before.submit('left', 'T', 'queue');
  const { run_id } = await left.accepted;
  await stage.until(1);
  await before.stop();
  const service = await startRuntime(t, { dir, provider: stage.provider });
  const counts = countReads(t, service.store);
  await service.runtime.recover();
  await stage.until(1);
  t.equal(counts.total, ROWS + 1);
  t.equal(counts.most, WINDOW_ROWS);
  stage.go();
  while (service.store.runs.get(SCOPE, run_id)?.status !== 'done') await nextTick();
});

t.test('reads no history to update or delete a thread', async (t) => {
  const { runtime, store } = await startRuntime(t, { dir: await filled(t, ['T']) });
  const counts = countReads(t, store);
  await runtime.threads.update(SCOPE, 'T', { title: 'new' });
  t.equal(await runtime.follow({ run_id: 'r1', thread_id: 'T' }, SCOPE, () => {}), false);
  await runtime.threads.remove(SCOPE, 'T', 'detach');
  t.equal(counts.total, 0);
});

t.test('recreates an empty thread that is deleted while its history is read', async (t) => {
  const { runtime, store, submit } = await startRuntime(t, { dir: await filled(t, ['T']) });
  const counts = countReads(t, store);
  const late = submit('late');
  while (counts.total === 0) await nextTick();
  await runtime.threads.remove(SCOPE, 'T', 'detach');
  await late.accepted;
  await late.end;
  t.ok(counts.total < ROWS, `${counts.total} messages were read`);
  const texts = [...store.messages.range(SCOPE, 'T', {})].map(({ message }) => message.role);
  t.strictSame(texts, ['user', 'assistant']);
});

t.test('starts no run if it stops while a history is read', async (t) => {
  const service = await startRuntime(t, { dir: await filled(t, ['T']) });
  const counts = countReads(t, service.store);
  const late = t.rejects(service.submit('late').accepted, { message: /shutting down/ });
  while (counts.total === 0) await nextTick();
  await service.stop();
  await late;
});
