import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Run } from '../../src/schema/run.ts';
import { settle } from '../http/serve.ts';
import { startRuntime, type TestRuntime } from './runtime.ts';
import { createStage } from './scene.ts';

/** The wall clock is set back while input is queued, which affects neither order nor start (runtime.md 8). */

const HOUR_MS = 3_600_000;
const DELAY_MS = 60;

const SCOPE = 'default';

const startClocked = (t: Test) => {
  const dir = t.testdir();
  const stage = createStage();
  let offset = 0;
  const now = (): number => Date.now() + offset;
  return {
    stage,
    now,
    stepBack: () => {
      offset -= HOUR_MS;
    },
    start: () => startRuntime(t, { dir, provider: stage.provider, now, monotonic: () => performance.now() }),
  };
};

const runsOf = ({ store }: TestRuntime) =>
  store.runs.list(SCOPE, { thread_id: 'T' }, { offset: 0, limit: 100 }).items;

const untilDone = async (service: TestRuntime, count: number): Promise<void> => {
  while (runsOf(service).filter(({ status }) => status === 'done').length < count) await pause(5);
};

const textsOf = ({ store }: TestRuntime): string[] =>
  Array.from(store.messages.range(SCOPE, 'T', {}), ({ message }) =>
    message.role === 'user' && message.content[0]?.type === 'text' ? message.content[0].text : '',
  ).filter((text) => text !== '');

t.test('keeps the order of queued input and starts it when the wall clock is set back', async (t) => {
  const { stage, start, stepBack } = startClocked(t);
  const service = await start();
  await service.submit('first').accepted;
  await stage.until(1);
  await service.submit('second', 'T', 'queue').accepted;
  stepBack();
  await service.submit('third', 'T', 'queue').accepted;
  stepBack();
  await service.submit('fourth', 'T', 'queue').accepted;
  for (let done = 1; done <= 4; done += 1) {
    await stage.until(1);
    let running: Run | undefined;
    while (!running) {
      await settle();
      running = runsOf(service).find(({ status }) => status === 'running');
    }
    const record = service.store.threads.get(SCOPE, 'T')?.thread;
    // While the first run executes, runs created after it have cleared the pointer (runtime.md 2.1).
    if (done > 1)
      t.equal(record?.active_run_id, running.run_id, 'the thread points to the run that executes');
    stage.go();
    await untilDone(service, done);
  }
  t.strictSame(textsOf(service), ['first', 'second', 'third', 'fourth']);
});

t.test('starts queued input after a restart with the wall clock set back', async (t) => {
  const { stage, start, stepBack } = startClocked(t);
  const before = await start();
  await before.submit('first').accepted;
  await stage.until(1);
  await before.submit('second', 'T', 'queue').accepted;
  await before.stop();
  stepBack();
  const after = await start();
  await after.submit('third', 'T', 'queue').accepted;
  await after.runtime.recover();
  for (let done = 1; done <= 3; done += 1) {
    await stage.until(1);
    stage.go();
    await untilDone(after, done);
  }
  t.strictSame(textsOf(after), ['first', 'second', 'third']);
});

for (const how of ['while the process lives', 'over a restart']) {
  t.test(`delays input by its full delay when the wall clock is set back ${how}`, async (t) => {
    const { stage, start, stepBack, now } = startClocked(t);
    let service = await start();
    const queuedAt = performance.now();
    const available_at = now() + DELAY_MS;
    await service.runtime.submit(SCOPE, 'T', { ...service.input('later'), mode: 'queue', available_at });
    stepBack();
    if (how === 'over a restart') {
      await service.stop();
      service = await start();
      await service.runtime.recover();
    }
    await stage.until(1);
    t.ok(performance.now() - queuedAt >= DELAY_MS - 1, 'the delay has passed');
    stage.go();
    await untilDone(service, 1);
  });
}
