import { uuidv7 as uuid } from 'uuidv7';
import { inState } from '../../src/schema/run-state.ts';
import { openStore } from '../../src/store/index.ts';
import { acceptRows } from './accept-batch.ts';

/** `fill-events DIR COUNT`: fills a folder with this number of events of finished runs, a hundred per thread. */

const [, , dir = '', total = '0'] = process.argv;
const PER_THREAD = 100;
const AT_A_TIME = 64;
const SCOPE = 'default';

const store = await openStore({ dir, durability: 'process' });

const addThread = async (): Promise<void> => {
  const { thread_id, run, events } = acceptRows();
  const batch = store.batch('commons');
  const metadata = { created_at: Date.now(), updated_at: Date.now() };
  const record = {
    thread: { id: thread_id, metadata, latest_run_id: run.run_id },
    agent_id: 'bench',
    epoch: 1,
  };
  store.threads.put(batch, SCOPE, record, undefined);
  store.runs.put(batch, SCOPE, { ...run, ...inState('completed') }, undefined);
  const log = Array.from({ length: PER_THREAD / events.length + 1 }, () => events)
    .flat()
    .slice(0, PER_THREAD)
    .map((event) => ({ ...event, event_id: `evt_${uuid()}` }));
  store.events.append(batch, SCOPE, thread_id, 1, log);
  await store.commit(batch);
};

let left = Math.ceil(Number(total) / PER_THREAD);
await Promise.all(
  Array.from({ length: AT_A_TIME }, async () => {
    while (left > 0) {
      left -= 1;
      await addThread();
    }
  }),
);
await store.close();
process.stdout.write('filled\n');
process.disconnect?.();
