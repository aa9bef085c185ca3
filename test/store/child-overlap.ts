import { openStore } from '../../src/store/index.ts';
import { SCOPE } from './records.ts';

/** Commits a batch that does not fit while the previous commit is being flushed, and prints the outcome of both. */
const [dir = ''] = process.argv.slice(2);
const store = await openStore({ dir, durability: 'power' });

const batchOf = (id: string, bytes: number) => {
  const batch = store.batch('commons');
  store.state.put(batch, SCOPE, id, { filling: 'x'.repeat(bytes) });
  return batch;
};
const told = (committed: Promise<void>): Promise<string> =>
  committed.then(
    () => 'stored',
    (error: unknown) => (error instanceof Error ? error.message : 'unknown'),
  );

const [small, large, last] = [batchOf('small', 10), batchOf('large', 50_000_000), batchOf('last', 10)];
await told(store.commit(small));
const refused = await told(store.commit(large, 'input'));
// Until then, all commits are rejected with the failure.
await new Promise((resolve) => setImmediate(resolve));
const after = await told(store.commit(last, 'input'));
process.stdout.write(`${JSON.stringify({ large: refused, after })}\n`);
await store.close();
