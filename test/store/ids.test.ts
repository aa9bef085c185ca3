import t from 'tap';
import { MAX_ID_BYTES } from '../../src/schema/id.ts';
import { Invalid } from '../../src/schema/outcome.ts';
import type { PendingMessage } from '../../src/schema/pending.ts';
import type { Batch, Store } from '../../src/store/index.ts';
import { storeFor } from './open.ts';
import { dispatch, event, message, run, threadRecord, write } from './records.ts';

/** All operations of the store with the ids that become part of a key. */

type Id = 'scope' | 'thread id' | 'parent thread id' | 'run id' | 'dispatch id' | 'task id' | 'config id';
type Ids = Record<Id, string>;

const IDS: Ids = {
  scope: 's',
  'thread id': 't1',
  'parent thread id': 't0',
  'run id': 'r1',
  'dispatch id': 'd1',
  'task id': 'r1',
  'config id': 'c1',
};

const waiting = (thread_id: string): PendingMessage => ({
  pending_id: 'p1',
  thread_id,
  message: message('m1'),
  delivery_mode: { boundary: 'next_step', granularity: 'batch' },
  position: 1,
  revision: 1,
  created_at: 1,
  updated_at: 1,
});

const WAYS_IN: [name: string, needs: Id[], write: (store: Store, batch: Batch, ids: Ids) => void][] = [
  [
    'threads',
    ['scope', 'thread id', 'parent thread id'],
    ({ threads }, batch, ids) => {
      const record = threadRecord(ids['thread id'], 1, { parent_thread_id: ids['parent thread id'] });
      threads.put(batch, ids.scope, record, undefined);
    },
  ],
  [
    'runs',
    ['scope', 'run id', 'thread id'],
    ({ runs }, batch, ids) => {
      runs.put(batch, ids.scope, run(ids['run id'], { thread_id: ids['thread id'] }), undefined);
    },
  ],
  [
    'dispatches',
    ['scope', 'dispatch id', 'thread id'],
    ({ dispatches }, batch, ids) => {
      const work = dispatch(ids['dispatch id'], { thread_id: ids['thread id'] });
      dispatches.put(batch, ids.scope, work, undefined);
    },
  ],
  [
    'messages',
    ['scope', 'thread id', 'run id'],
    ({ messages }, batch, ids) => {
      const row = { seq: 1, message: message('m1', ids['run id']), created_at: 1, external: 1 };
      messages.append(batch, ids.scope, ids['thread id'], [row]);
    },
  ],
  [
    'events',
    ['scope', 'thread id', 'run id'],
    ({ events }, batch, ids) => {
      events.append(batch, ids.scope, ids['thread id'], 1, [event('e1', ids['run id'])]);
    },
  ],
  [
    'pending',
    ['scope', 'thread id'],
    ({ pending }, batch, ids) => pending.put(batch, ids.scope, waiting(ids['thread id'])),
  ],
  [
    'state',
    ['scope', 'thread id'],
    ({ state }, batch, ids) => state.put(batch, ids.scope, ids['thread id'], {}),
  ],
  [
    'retractions',
    ['scope', 'thread id'],
    ({ retractions }, batch, ids) => {
      retractions.put(batch, ids.scope, ids['thread id'], { seq: 1, call_id: 'c1' });
    },
  ],
  [
    'stopped answers',
    ['scope', 'thread id', 'run id'],
    ({ stopped }, batch, ids) => {
      const run_id = ids['run id'];
      const message = { id: 'm1', role: 'assistant', content: [] } as const;
      stopped.put(batch, ids.scope, ids['thread id'], {
        seq: 1,
        run_id,
        message: { ...message, content: [] },
        created_at: 1,
      });
    },
  ],
  [
    'deadlines',
    ['scope', 'run id'],
    ({ deadlines }, batch, ids) => {
      deadlines.put(batch, { at: 1, scope: ids.scope, thread_id: 't1', run_id: ids['run id'] });
    },
  ],
  [
    'awaiting',
    ['scope', 'run id'],
    ({ awaiting }, batch, ids) => {
      awaiting.put(batch, { scope: ids.scope, thread_id: 't1', run_id: ids['run id'] });
    },
  ],
  [
    'driven',
    ['scope', 'run id'],
    ({ driven }, batch, ids) => {
      driven.put(batch, { scope: ids.scope, thread_id: 't1', run_id: ids['run id'] });
    },
  ],
  [
    'push configs',
    ['scope', 'task id', 'config id'],
    ({ pushConfigs }, batch, ids) => {
      const place = { scope: ids.scope, task_id: ids['task id'], id: ids['config id'] };
      pushConfigs.put(batch, { ...place, url: 'https://x.example/' });
    },
  ],
];

for (const [name, needs, put] of WAYS_IN) {
  t.test(`${name} reject ids that cannot be part of a key`, async (t) => {
    const store = await storeFor(t);
    await write(store, (batch) => put(store, batch, IDS));
    for (const id of needs) {
      for (const wrong of ['', 'a\u0000b', 'x'.repeat(MAX_ID_BYTES + 1)]) {
        t.throws(() => put(store, store.batch('commons'), { ...IDS, [id]: wrong }), Invalid, id);
      }
    }
  });
}
