import t, { type Test } from 'tap';
import { startRuntime } from './runtime.ts';
import { createStage } from './scene.ts';

/**
 * More busy threads than the limit for idle actors (runtime.md 18.21): every request for a thread reaches the run that
 * executes there, and no run is executed twice.
 */

const SCOPE = 'default';

const TERMINAL = ['RunFinished', 'RunCancelled', 'RunErrored', 'RunTerminated'];

const namesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `t${index}`);

const busy = async (t: Test, count: number) => {
  const stage = createStage();
  const service = await startRuntime(t, {
    provider: stage.provider,
    settings: { max_concurrent_runs: 2 * count },
  });
  const threads = namesOf(count);
  const runs = threads.map((thread) => ({ thread, ...service.submit('first', thread) }));
  const accepted = await Promise.all(runs.map(({ accepted }) => accepted));
  await stage.until(count);
  const { store } = service;
  const kindsOf = (thread_id: string): string[] =>
    store.events.list(SCOPE, { thread_id }, 0, 1000).rows.map(({ event }) => event.event_kind);
  return { ...service, stage, threads, runs, accepted, kindsOf };
};

type Busy = Awaited<ReturnType<typeof busy>>;

const check = (t: Test, { store, threads, kindsOf }: Busy, runsOfEach: number): void => {
  const count = (status: 'running' | 'waiting' | 'created' | 'done') => store.runs.count(SCOPE, status);
  t.strictSame([count('running'), count('waiting'), count('created')], [0, 0, 0]);
  t.equal(count('done'), runsOfEach * threads.length);
  for (const thread of threads) {
    const ends = kindsOf(thread).filter((kind) => TERMINAL.includes(kind));
    if (ends.length !== runsOfEach) t.fail(`${thread} has the terminal events ${ends}`);
    const seqs = Array.from(store.messages.range(SCOPE, thread, {}), ({ seq }) => seq);
    if (seqs.some((seq, index) => seq !== index + 1)) t.fail(`${thread} has the sequence numbers ${seqs}`);
  }
};

const finishesOf = (frames: string): string[] =>
  frames.split('\n').filter((line) => line.includes('"event_type":"run_finish"'));

for (const count of [33, 70, 500]) {
  t.test(`${count} busy threads: a cancel ends the executing run and its stream`, async (t) => {
    const scene = await busy(t, count);
    await Promise.all(scene.threads.map((id) => scene.runtime.cancel(SCOPE, id, 'thread')));
    await Promise.all(scene.runs.map(({ end }) => end));
    for (const { frames } of scene.runs) t.match(finishesOf(frames()), [/"cancelled"/]);
    t.equal(scene.stage.waiting(), 0);
    check(t, scene, 1);
  });
}

t.test('70 busy threads: an interrupt ends the executing and queued runs', async (t) => {
  const scene = await busy(t, 70);
  const { runtime, threads } = scene;
  await Promise.all(threads.map((id) => scene.submit('queued', id, 'queue').accepted));
  const superseded = await Promise.all(threads.map((id) => runtime.interrupt(SCOPE, id)));
  t.strictSame(new Set(superseded), new Set([1]));
  await Promise.all(scene.runs.map(({ end }) => end));
  for (const { frames } of scene.runs) t.match(finishesOf(frames()), [/"cancelled"/]);
  check(t, scene, 2);
});

t.test('70 busy threads: queued input is executed once, after the executing run', async (t) => {
  const scene = await busy(t, 70);
  const { stage, threads, store } = scene;
  const queued = await Promise.all(threads.map((id) => scene.submit('second', id, 'queue').accepted));
  t.strictSame(new Set(queued.map(({ status }) => status)), new Set(['queued']));
  stage.go();
  await Promise.all(scene.runs.map(({ end }) => end));
  await stage.until(70);
  stage.go();
  while (store.runs.count(SCOPE, 'done') < 140) await new Promise(setImmediate);
  for (const id of threads) {
    const texts = Array.from(store.messages.range(SCOPE, id, {}), ({ message }) => message.content[0]);
    t.match(texts, [
      { text: 'first' },
      { text: 'answer to first' },
      { text: 'second' },
      { text: 'answer to second' },
    ]);
  }
  check(t, scene, 2);
});

t.test('70 busy threads: steered input joins the executing run', async (t) => {
  const scene = await busy(t, 70);
  const { stage, threads } = scene;
  const steered = await Promise.all(
    threads.map((id) => scene.submit('more', id, 'live_then_queue').accepted),
  );
  t.strictSame(
    steered.map(({ run_id }) => run_id),
    scene.accepted.map(({ run_id }) => run_id),
  );
  stage.go();
  await stage.until(70);
  stage.go();
  await Promise.all(scene.runs.map(({ end }) => end));
  for (const { frames } of scene.runs) t.match(finishesOf(frames()), [/"answer to more"/]);
  check(t, scene, 1);
});

t.test('70 busy threads: a foreground run replaces the executing one', async (t) => {
  const scene = await busy(t, 70);
  const { stage, threads } = scene;
  const next = threads.map((id) => scene.submit('next', id));
  await Promise.all(next.map(({ accepted }) => accepted));
  await Promise.all(scene.runs.map(({ end }) => end));
  await stage.until(70);
  stage.go();
  await Promise.all(next.map(({ end }) => end));
  for (const { frames } of scene.runs) t.match(finishesOf(frames()), [/"cancelled"/]);
  for (const { frames } of next) t.match(finishesOf(frames()), [/"natural_end"/]);
  check(t, scene, 2);
});
