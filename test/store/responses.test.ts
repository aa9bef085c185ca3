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
