import { partitionOf } from '../../src/schema/partition.ts';
import type { Store } from '../../src/store/index.ts';
import { dispatch, event, message, run, threadRecord, write } from './records.ts';

/** A thread with one below it, which tests give from one user to another. The service made their ids. */

export const ALICE = partitionOf({ scope: 'acme', user: 'alice' });
export const BOB = partitionOf({ scope: 'acme', user: 'bob' });
export const ROOT = '0193f0aa-0000-7000-8000-000000000001';
export const CHILD = '0193f0aa-0000-7000-8000-000000000002';

export const MESSAGES = 150;

const runId = (index: number): string => `0193f0aa-0000-7000-8000-${String(index).padStart(12, '0')}`;

/** Ten messages of each run, and one append of events for each message. */
export const fillThread = async (store: Store): Promise<void> => {
  for (const [thread_id, links] of [
    [ROOT, {}],
    [CHILD, { parent_thread_id: ROOT }],
  ] as const) {
    const first = thread_id === ROOT ? 100 : 200;
    await write(store, (batch) => {
      const owned = { owner: 'alice', uid: thread_id, visibility: 'read', ...links } as const;
      store.threads.put(batch, ALICE, threadRecord(thread_id, 1, owned), undefined);
      for (let index = 0; index < MESSAGES; index += 1) {
        const run_id = runId(first + Math.floor(index / 10));
        if (index % 10 === 0) {
          const fields = { thread_id, owner: 'alice', status: 'done', final_output: 'x'.repeat(50) } as const;
          store.runs.put(batch, ALICE, run(run_id, fields), undefined, 1000 + index, true);
          store.dispatches.put(batch, ALICE, dispatch(run_id, { thread_id, run_id }), undefined);
        }
        const row = {
          seq: index + 1,
          message: message(`m${index}`, run_id),
          created_at: 1,
          external: index + 1,
        };
        store.messages.append(batch, ALICE, thread_id, [row]);
        store.events.append(batch, ALICE, thread_id, index + 1, [
          { ...event(`e${index}`, run_id), thread_id },
        ]);
      }
    });
  }
};
