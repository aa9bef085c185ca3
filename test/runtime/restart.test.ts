import t, { type Test } from 'tap';
import { startRuntime, type TestRuntime } from './runtime.ts';
import { createStage } from './scene.ts';

/** Neither a graceful stop nor a store that temporarily rejects writes costs a run an attempt. */

const SCOPE = 'default';
const FEW = { mailbox: { max_attempts: 2, retry_base_ms: 1 } };

const only = ({ store }: TestRuntime) => {
  const [run] = store.runs.list(SCOPE, {}, { offset: 0, limit: 2 }).items;
  const [dispatch] = store.dispatches.listByThread(SCOPE, 'T', { offset: 0, limit: 2 });
  return { run, dispatch };
};

const kindsOf = ({ store }: TestRuntime): string[] =>
  store.events.list(SCOPE, { thread_id: 'T' }, 0, 1000).rows.map(({ event }) => event.event_kind);

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise(setImmediate);
};

t.test('continues a run through 20 graceful restarts without a visible effect', async (t) => {
  const stage = createStage();
  const options = { provider: stage.provider, settings: FEW };
  const first = await startRuntime(t, options);
  const reader = first.submit('a long run');
  const { run_id } = await reader.accepted;
  await stage.until(1);
  let { dir } = first;
  await first.stop();
  t.match(
    reader.frames(),
    /"run_finish".*service is shutting down/,
    'the stop of the service ends the stream',
  );
  for (let restart = 0; restart < 20; restart += 1) {
    const service = await startRuntime(t, { ...options, dir });
    t.match(only(service), {
      run: { run_id, status: 'running' },
      dispatch: { status: 'Queued', attempt_count: 0, claim_token: null, last_error: null },
    });
    await service.runtime.recover();
    await stage.until(1);
    ({ dir } = service);
    await service.stop();
  }
  const last = await startRuntime(t, { ...options, dir });
  await last.runtime.recover();
  await stage.until(1);
  stage.go();
  await until(() => only(last).run?.status === 'done');
  t.match(only(last), {
    run: { run_id, termination_reason: { type: 'natural_end' }, final_output: 'answer to a long run' },
    dispatch: { status: 'Acked', attempt_count: 0 },
  });
  t.equal(kindsOf(last).filter((kind) => kind === 'RunFinished').length, 1);
  t.equal(last.store.messages.last(SCOPE, 'T')?.seq, 2);
});

t.test('cancels the run of a thread that was deleted just before the process ended', async (t) => {
  const stage = createStage();
  const first = await startRuntime(t, { provider: stage.provider, settings: FEW });
  const { run_id } = await first.submit('a run').accepted;
  await stage.until(1);
  // The removal is durable, but none of its consequences.
  first.allow(1);
  await first.runtime.threads.remove(SCOPE, 'T', 'detach');
  await until(() => first.refusals() > 0);
  await first.stop();
  const next = await startRuntime(t, { provider: stage.provider, settings: FEW, dir: first.dir });
  t.equal(next.store.runs.get(SCOPE, run_id)?.status, 'running');
  await next.runtime.recover();
  await until(() => next.store.runs.get(SCOPE, run_id)?.status === 'done');
  t.match(next.store.runs.get(SCOPE, run_id), { termination_reason: { type: 'cancelled' } });
  t.equal(next.store.threads.get(SCOPE, 'T'), undefined);
  t.strictSame(next.store.dispatches.open(undefined, 10), []);
  t.equal(kindsOf(next).filter((kind) => kind === 'RunCancelled').length, 1);
  t.equal(stage.waiting(), 0);
});

t.test('claims nothing if the store fails at startup', async (t) => {
  const stage = createStage();
  const options = { provider: stage.provider, settings: FEW };
  const first = await startRuntime(t, options);
  await first.submit('a run').accepted;
  await stage.until(1);
  await first.stop();
  for (let start = 0; start < 20; start += 1) {
    const failed = await startRuntime(t, { ...options, dir: first.dir });
    await failed.stop();
    t.equal(stage.waiting(), 0, 'no model was called');
  }
  const last = await startRuntime(t, { ...options, dir: first.dir });
  t.match(only(last).dispatch, { status: 'Queued', attempt_count: 0 });
});

t.test('keeps the position of queued work across a restart', async (t) => {
  const stage = createStage();
  const service = await startRuntime(t, { provider: stage.provider, settings: FEW });
  await service.submit('a run').accepted;
  await stage.until(1);
  await service.submit('behind it', 'T', 'queue').accepted;
  await service.stop();
  const next = await startRuntime(t, { provider: stage.provider, settings: FEW, dir: service.dir });
  await next.runtime.recover();
  await stage.until(1);
  stage.go();
  await stage.until(1);
  stage.go();
  await until(() => next.store.runs.count(SCOPE, 'done') === 2);
  const texts = Array.from(next.store.messages.range(SCOPE, 'T', {}), ({ message }) => message.content[0]);
  t.match(texts, [
    { text: 'a run' },
    { text: 'answer to a run' },
    { text: 'behind it' },
    { text: 'answer to behind it' },
  ]);
});

const failingRun = async (t: Test, max_attempts: number) => {
  const stage = createStage();
  const settings = { mailbox: { ...FEW.mailbox, max_attempts } };
  const service = await startRuntime(t, { provider: stage.provider, settings });
  await service.runtime.recover();
  const reader = service.submit('a run');
  await reader.accepted;
  await stage.until(1);
  return { ...service, stage, reader };
};

t.test('continues a run and its stream after a store failure', async (t) => {
  const service = await failingRun(t, 100);
  const { stage, reader, allow } = service;
  for (let failure = 0; failure < 4; failure += 1) {
    allow(0);
    const before = service.refusals();
    stage.go();
    await until(() => service.refusals() > before);
    allow(Number.POSITIVE_INFINITY);
    await stage.until(1);
  }
  stage.go();
  await reader.end;
  const types = Array.from(reader.frames().matchAll(/"event_type":"(\w+)"/g), ([, type]) => type);
  t.equal(types.filter((type) => type === 'run_start').length, 1);
  t.equal(types.filter((type) => type === 'stream_reset').length, 4);
  t.strictSame(
    types.filter((type) => type === 'run_finish'),
    ['run_finish'],
  );
  t.match(reader.frames(), /"run_finish".*"natural_end"/);
  await until(() => only(service).run?.status === 'done');
  t.match(only(service), {
    run: { termination_reason: { type: 'natural_end' }, final_output: 'answer to a run' },
    dispatch: { status: 'Acked', attempt_count: 0 },
  });
  const ends = kindsOf(service).filter((kind) => kind === 'RunFinished');
  t.equal(ends.length, 1);
});

t.test('counts no attempt for a store failure between the steps of a run', async (t) => {
  const stage = createStage();
  const settings = { mailbox: { ...FEW.mailbox, max_attempts: 100 } };
  const service = await startRuntime(t, { provider: stage.provider, settings });
  await service.runtime.recover();
  const reader = service.submit('a run');
  await reader.accepted;
  await stage.until(1);
  // The failing commit is not the end of the run but the input that arrives while the model is called.
  service.allow(0);
  await t.rejects(service.submit('more', 'T', 'live_then_queue').accepted);
  service.allow(Number.POSITIVE_INFINITY);
  await stage.until(1);
  while (only(service).dispatch?.claim_token === null || stage.waiting() === 0)
    await new Promise(setImmediate);
  stage.go();
  await reader.end;
  t.match(reader.frames(), /"stream_reset".*\n\n(?:.|\n)*"run_finish".*"natural_end"/);
  t.match(only(service), { run: { status: 'done' }, dispatch: { status: 'Acked', attempt_count: 0 } });
});

t.test('fails a run permanently whose end can never be written, and reports it in the stream', async (t) => {
  const service = await failingRun(t, 2);
  const { stage, reader, allow } = service;
  // Claims are written, and the first of every other commit is not.
  let failures = 0;
  while (only(service).run?.status !== 'done') {
    await until(() => stage.waiting() === 1 || only(service).run?.status === 'done');
    allow(0);
    const before = service.refusals();
    stage.go();
    await until(() => service.refusals() > before || only(service).run?.status === 'done');
    allow(Number.POSITIVE_INFINITY);
    failures += 1;
  }
  await reader.end;
  t.ok(failures < 20);
  t.match(only(service), {
    run: { termination_reason: { type: 'error' } },
    dispatch: { status: 'DeadLetter' },
  });
  t.match(reader.frames().match(/"run_finish".*/g), [/"error"/]);
  t.equal(kindsOf(service).filter((kind) => kind === 'RunErrored').length, 1);
});

t.test('does not fail a commit when its listener throws', async (t) => {
  let told = 0;
  const { store, submit } = await startRuntime(t, {
    appended() {
      told += 1;
      throw new Error('the listener is broken');
    },
  });
  const reader = submit('a run');
  await reader.accepted;
  await reader.end;
  t.ok(told > 0);
  t.match(reader.frames(), /"run_finish".*"natural_end"/);
  t.equal(store.runs.count(SCOPE, 'done'), 1);
  t.equal(store.runs.count(SCOPE, 'running'), 0);
});

t.test('ends 40 runs that fail with the store once each when the store recovers', async (t) => {
  const stage = createStage();
  const service = await startRuntime(t, { provider: stage.provider, settings: FEW });
  await service.runtime.recover();
  const readers = Array.from({ length: 40 }, (_, index) => service.submit('a run', `t${index}`));
  await Promise.all(readers.map(({ accepted }) => accepted));
  await stage.until(40);
  service.allow(0);
  stage.go();
  await until(() => service.refusals() >= 40);
  service.allow(Number.POSITIVE_INFINITY);
  await stage.until(40);
  stage.go();
  await Promise.all(readers.map(({ end }) => end));
  for (const { frames } of readers) t.match(frames().match(/"run_finish".*/g), [/"natural_end"/]);
  t.equal(service.store.runs.count(SCOPE, 'done'), 40);
});
