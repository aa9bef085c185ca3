import t from 'tap';
import { sweepResponses } from '../../../src/protocols/openai/response-sweep.ts';
import type { StoredResponse } from '../../../src/schema/stored-response.ts';
import { storeFor } from '../../store/open.ts';

/** More responses than one slice of the sweep. */
const COUNT = 1200;

const responseAt = (number: number): StoredResponse => ({
  run_id: `run-${number}`,
  thread_id: 'thread',
  leg: 1,
  status: 'completed',
  created_at: number,
  from_seq: 0,
  echo: { model: 'support' },
  inputs: [],
  items: [],
  events: [],
  next: 0,
  reserved: 1000,
  calls: 0,
});

t.test('removes all responses that are older than a time, and no others', async (t) => {
  const store = await storeFor(t);
  const rows = Array.from({ length: COUNT }, (_, number) => responseAt(number));
  const batch = store.batch({ scope: 's', thread_id: 'thread' });
  for (const row of rows) store.responses.add(batch, 's', row);
  await store.commit(batch);
  t.equal(await sweepResponses(store, 1000), 1000);
  const kept = rows.filter((row) => store.responses.get('s', row) !== undefined);
  t.strictSame(kept, rows.slice(1000));
  t.equal(await sweepResponses(store, 1000), 0, 'nothing is left for the next sweep');
});
