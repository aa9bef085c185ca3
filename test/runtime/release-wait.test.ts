import t from 'tap';
import { settle, when } from '../http/serve.ts';
import { rowsOf } from './rows.ts';
import { startRuntime } from './runtime.ts';
import { createStage } from './scene.ts';

/**
 * A foreground run waits until the old run releases the thread. The commit that ends the old run is delayed beyond that
 * wait, as by a slow disk: the terminal event stays the last event of the run (runtime.md 13.5).
 */

/** The wait ends at once; its result does not depend on the time. */
const settings = { foreground_release_wait_ms: 1 };

type Ends = (
  service: Awaited<ReturnType<typeof startRuntime>>,
  stage: ReturnType<typeof createStage>,
) => void;

const ENDS: Record<string, { end: Ends; last: string }> = {
  'is cancelled by the foreground run': { end: () => {}, last: 'RunCancelled' },
  'was cancelled before': {
    end: ({ runtime }) => void runtime.cancel('default', 'T', 'thread'),
    last: 'RunCancelled',
  },
  'has answered': { end: (_, stage) => stage.go(), last: 'RunFinished' },
};

for (const [how, { end, last }] of Object.entries(ENDS)) {
  t.test(`makes a foreground run wait for the commit that ends the old run, which ${how}`, async (t) => {
    const stage = createStage();
    const service = await startRuntime(t, { provider: stage.provider, settings });
    const rows = rowsOf(service, 'T');
    const { run_id } = await service.submit('first').accepted;
    await stage.until(1);
    const held = service.holdCommit(1);
    end(service, stage);
    await settle();
    const second = service.submit('second');
    const accepted = second.accepted.then(
      () => true,
      () => false,
    );
    await held;
    await when(() => service.met().some((type) => type.startsWith('xstate.after.releaseWait')));
    service.goOn();
    t.ok(await accepted, 'the thread is released once the commit is durable');
    await when(() => {
      stage.go();
      return rows.runs().every(({ status }) => status === 'done');
    });
    t.match(second.frames(), 'answer to second');
    // Commits keep their order: everything written of the first run before this one is in the store.
    await service.submit('Hello', 'other', 'queue').accepted;
    const kinds = rows.events().flatMap((event) => (event.run_id === run_id ? event.event_kind : []));
    t.equal(kinds.at(-1), last, `the terminal event is the last one of ${kinds}`);
    rows.check(t);
  });
}
