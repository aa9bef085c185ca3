import t from 'tap';
import { createLog } from '../../src/observability/log.ts';
import { createMetrics } from '../../src/observability/metrics/metrics.ts';
import { createObserver } from '../../src/observability/observer.ts';
import { createRecovery } from '../../src/runtime/maintenance/recovery.ts';
import type { Supervisor } from '../../src/runtime/thread/supervisor.ts';
import { storeFor } from '../store/open.ts';
import { dispatch, SCOPE, write } from '../store/records.ts';

/** The progress of recovery is logged while a service starts with much work of an earlier process. */

const observe = () =>
  createObserver({ metrics: createMetrics({ prefix: 'service_', version: '1' }), stats: undefined });

t.test('logs long work once per second, and its end', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    for (let i = 0; i < 100; i += 1)
      store.dispatches.put(batch, SCOPE, dispatch(`d${i}`, { thread_id: `t${i}` }), undefined);
  });
  let now = 0;
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
  const use = async (): Promise<undefined> => {
    now += 20;
    return undefined;
  };
  const recovery = createRecovery(
    {
      store,
      log: createLog({ level: 'info', destination }),
      clock: { now: () => now },
      observe: observe(),
    },
    // This test does not execute the recovered threads.
    () => ({ use: use as unknown as Supervisor['use'] }),
  );
  await recovery.begin();
  t.match(lines, [
    { done: 64, threads: 100, event: 'recovery.progress' },
    { threads: 100, event: 'recovery.finished' },
  ]);
  t.equal(lines.length, 2);
});

t.test('does not read a closed store when it stops right after its start', async (t) => {
  const store = await storeFor(t);
  const log = createLog({ level: 'silent' });
  const recovery = createRecovery({ store, log, clock: { now: () => 0 }, observe: observe() }, () => {
    throw new Error('nothing is taken up');
  });
  const begun = recovery.begin();
  recovery.stop();
  await store.close();
  await t.resolves(begun);
});
