import t, { type Test } from 'tap';
import {
  createSlots,
  isSlotFree,
  releaseSlot,
  slotOf,
  takeSlot,
  waitForSlot,
  waitingForSlot,
} from '../../src/runtime/thread/concurrency.ts';
import { startRuntime } from './runtime.ts';
import { createStage } from './scene.ts';

/** The concurrency limit of runs (runtime.md 17): excess runs wait in the queue of their thread, in order. */

const SCOPE = 'default';

const LIMIT = 3;

const start = async (t: Test, dir?: string) => {
  const stage = createStage();
  const settings = { max_concurrent_runs: LIMIT };
  const service = await startRuntime(t, { provider: stage.provider, settings, ...(dir && { dir }) });
  const { store } = service;
  return {
    ...service,
    stage,
    statusOf: (thread: string) =>
      [...store.dispatches.listByThread(SCOPE, thread, { offset: 0, limit: 9 })].map(({ status }) => status),
    async done(count: number): Promise<void> {
      while (store.runs.count(SCOPE, 'done') < count) await new Promise(setImmediate);
    },
  };
};

const startOrderOf = ({ store }: Awaited<ReturnType<typeof start>>): string[] =>
  store.runs
    .list(SCOPE, {}, { offset: 0, limit: 1000 })
    .items.map(({ run_id, thread_id }) => {
      const { rows } = store.events.list(SCOPE, { run_id }, 0, 100);
      return {
        thread_id,
        at: rows.find(({ event }) => event.event_kind === 'RunSubmitted')?.event.event_id ?? '',
      };
    })
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ thread_id }) => thread_id);

for (const mode of ['queue', 'foreground', 'live_then_queue'] as const) {
  t.test(`keeps runs above the limit queued, and executes them in order (${mode})`, async (t) => {
    const scene = await start(t);
    const { stage, submit, statusOf } = scene;
    const threads = Array.from({ length: 12 }, (_, index) => `t${String(index).padStart(2, '0')}`);
    const runs = [];
    for (const thread of threads) {
      const run = submit('hello', thread, mode);
      runs.push({ ...run, status: (await run.accepted).status });
    }
    await stage.until(LIMIT);
    t.strictSame(
      runs.map(({ status }) => status),
      threads.map((_, index) => (index < LIMIT ? 'running' : 'queued')),
    );
    t.strictSame(
      threads.flatMap(statusOf),
      threads.map((_, index) => (index < LIMIT ? 'Claimed' : 'Queued')),
    );
    t.strictSame(scene.runtime.work(), { executing: LIMIT, waiting: threads.length - LIMIT });
    let most = 0;
    for (let done = 0; done < threads.length; done += 1) {
      await stage.until(Math.min(LIMIT, threads.length - done));
      most = Math.max(most, scene.runtime.work().executing);
      stage.go(1);
      await scene.done(done + 1);
    }
    t.equal(most, LIMIT);
    t.strictSame(startOrderOf(scene), threads);
    await Promise.all(runs.map(({ end }) => end));
    for (const { frames } of runs) {
      const types = Array.from(frames().matchAll(/"event_type":"(run_\w+)"/g), ([, type]) => type);
      t.strictSame(types, ['run_start', 'run_finish']);
      t.match(frames(), /answer to hello/);
    }
    t.strictSame(scene.runtime.work(), { executing: 0, waiting: 0 });
  });
}

t.test('cancels, interrupts and replaces a run that waits for a slot, and ends its stream', async (t) => {
  const scene = await start(t);
  const { stage, submit, runtime } = scene;
  for (const thread of ['a', 'b', 'c']) await submit('first', thread).accepted;
  await stage.until(LIMIT);
  const [cancelled, interrupted, replaced, deleted] = [
    submit('x', 'cancelled'),
    submit('x', 'interrupted'),
    submit('x', 'replaced'),
    submit('x', 'deleted'),
  ];
  await Promise.all([cancelled.accepted, interrupted.accepted, replaced.accepted, deleted.accepted]);
  await runtime.cancel(SCOPE, 'cancelled', 'thread');
  t.equal(await runtime.interrupt(SCOPE, 'interrupted'), 1);
  const last = submit('y', 'replaced');
  await last.accepted;
  await runtime.threads.remove(SCOPE, 'deleted', 'detach');
  await Promise.all([cancelled.end, interrupted.end, replaced.end, deleted.end]);
  for (const { frames } of [cancelled, interrupted, replaced, deleted]) {
    t.match(frames(), /"run_start".*\n\n.*"run_finish".*"cancelled"/);
  }
  stage.go();
  await stage.until(1);
  stage.go();
  await last.end;
  t.match(last.frames(), /answer to y/);
  t.strictSame(runtime.work(), { executing: 0, waiting: 0 });
});

t.test('gives other threads a slot before more work of the same thread', async (t) => {
  const scene = await start(t);
  const { stage, submit } = scene;
  for (const thread of ['a', 'b', 'c']) await submit('first', thread).accepted;
  await stage.until(LIMIT);
  for (let index = 0; index < 5; index += 1) await submit(`more ${index}`, 'a', 'queue').accepted;
  await submit('other', 'd', 'queue').accepted;
  for (let done = 0; done < 9; done += 1) {
    while (stage.waiting() === 0) await new Promise(setImmediate);
    stage.go(1);
    await scene.done(done + 1);
  }
  const order = startOrderOf(scene);
  t.ok(order.indexOf('d') < order.lastIndexOf('a'), order.join());
});

t.test('recovers interrupted runs within the limit, and completes all of them', async (t) => {
  const first = await start(t);
  const threads = Array.from({ length: 40 }, (_, index) => `t${index}`);
  for (const thread of threads) await first.submit('hello', thread, 'queue').accepted;
  await first.stage.until(LIMIT);
  await first.stop();
  const next = await start(t, first.dir);
  t.ok(next.runtime.isReady());
  const recovered = next.runtime.recover();
  t.notOk(next.runtime.isReady(), 'the service is not ready before all interrupted runs are scheduled');
  await recovered;
  t.ok(next.runtime.isReady());
  await next.stage.until(LIMIT);
  t.strictSame(next.runtime.work(), { executing: LIMIT, waiting: threads.length - LIMIT });
  for (let done = 0; done < threads.length; done += 1) {
    await next.stage.until(Math.min(LIMIT, threads.length - done));
    next.stage.go(1);
    await next.done(done + 1);
  }
  t.strictSame(
    next.store.dispatches.open(undefined, 100).map(({ dispatch }) => dispatch?.status),
    [],
  );
});

t.test('passes a slot on when the called thread starts nothing', async (t) => {
  const called: string[] = [];
  const slots = createSlots(1, async (_, thread_id) => {
    called.push(thread_id);
    await new Promise(setImmediate);
  });
  const holder = slotOf(slots, SCOPE, 'holder');
  takeSlot(holder);
  for (let index = 0; index < 100; index += 1) waitForSlot(slotOf(slots, SCOPE, `t${index}`));
  const last = slotOf(slots, SCOPE, 'last');
  waitForSlot(last);
  waitForSlot(last);
  t.equal(waitingForSlot(slots), 101);
  t.notOk(isSlotFree(last));
  releaseSlot(holder);
  releaseSlot(holder);
  while (waitingForSlot(slots) > 0 || !isSlotFree(last)) await new Promise(setImmediate);
  t.equal(called.length, 101);
  t.equal(called.at(-1), 'last');
});
