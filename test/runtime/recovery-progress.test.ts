import t from 'tap';
import { createRecovery } from '../../src/runtime/recovery.ts';
import type { Supervisor } from '../../src/runtime/supervisor.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createObserver } from '../../src/telemetry/observer.ts';
import { storeFor } from '../store/open.ts';
import { dispatch, SCOPE, write } from '../store/records.ts';

/** Whoever starts a service on much work of an earlier process hears how far it is. */

const observe = () =>
  createObserver({ metrics: createMetrics({ prefix: 'service_', version: '1' }), stats: undefined });

t.test('what takes long is told once a second, and its end', async (t) => {
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
    // What a thread does when it is taken up is not looked at here.
    () => ({ use: use as unknown as Supervisor['use'] }),
  );
  await recovery.begin();
  t.match(lines, [
    { done: 64, threads: 100, msg: 'taking up the work of an earlier process' },
    { threads: 100, msg: 'work of an earlier process goes on' },
  ]);
  t.equal(lines.length, 2);
});

t.test('a service that stops as soon as it has started reads nothing of a closed store', async (t) => {
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
