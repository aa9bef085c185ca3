import t from 'tap';
import type { StoredResponse } from '../../src/schema/stored-response.ts';
import { storeFor } from './open.ts';

/** openai-responses.md 12. */

const row = (changes: Partial<StoredResponse> = {}): StoredResponse => ({
  run_id: 'run',
  thread_id: 'thread',
  leg: 1,
  status: 'in_progress',
  created_at: 1000,
  from_seq: 0,
  echo: { model: 'support' },
  inputs: [],
  items: [],
  events: [],
  next: 0,
  reserved: 1000,
  calls: 0,
  ...changes,
});

t.test('returns the last version of a leg', async (t) => {
  const store = await storeFor(t);
  const first = store.batch('commons');
  store.responses.add(first, 's', row());
  await store.commit(first);
  const events: StoredResponse['events'] = [
    [0, 0, 0],
    [7, 0, 3, [4, 300]],
  ];
  const ended = row({
    status: 'completed',
    events,
    next: 9,
    items: [{ id: 'msg_1', type: 'message', step: 0 }],
  });
  const second = store.batch('commons');
  store.responses.put(second, 's', ended);
  await store.commit(second);
  t.strictSame(store.responses.get('s', row()), ended);
  t.strictSame(store.responses.ofRun('s', row()), [ended]);
});

t.test('removes legs that are older than a time, a number of keys at once', async (t) => {
  const store = await storeFor(t);
  const early = '00000000-03e8-7000-8000-000000000001';
  const late = '00000000-07d0-7000-8000-000000000002';
  const legs = [
    row({ thread_id: 'a' }),
    row({ thread_id: 'b', run_id: early }),
    row({ thread_id: 'b', run_id: early, leg: 2, created_at: 2000 }),
    row({ thread_id: 'c', run_id: late, created_at: 2000 }),
    row({ thread_id: 'd', created_at: 2000 }),
  ];
  const batch = store.batch('commons');
  for (const leg of legs) store.responses.add(batch, 's', leg);
  await store.commit(batch);
  const next = async (from?: Parameters<typeof store.responses.prune>[3]) => {
    const write = store.batch('commons');
    const pruned = store.responses.prune(write, 1500, 2, from);
    await store.commit(write);
    return pruned;
  };
  const first = await next();
  t.equal(first.removed, 2);
  const second = await next(first.next);
  t.equal(second.removed, 0);
  t.strictSame(await next(second.next), { removed: 0 });
  const kept = legs.filter((leg) => store.responses.get('s', leg) !== undefined);
  t.strictSame(kept, legs.slice(2));
});
