import { openStore } from '../../src/store/index.ts';
import { SCOPE, threadRecord } from './records.ts';

/** Writes until the file cannot grow further, and prints the outcome of each commit. */
const [dir = ''] = process.argv.slice(2);
const store = await openStore({ dir, durability: 'process' });

const add = async (id: string, bytes: number): Promise<string> => {
  const batch = store.batch('commons');
  store.threads.put(batch, SCOPE, threadRecord(id, 1), undefined);
  const filling = 'x'.repeat(bytes);
  store.state.put(batch, SCOPE, id, id === 'small' ? { filling } : { filling, new_shape: true });
  try {
    await store.commit(batch);
    return 'stored';
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
  }
};

const turn = () => new Promise((resolve) => setImmediate(resolve));

const small = await add('small', 10);
const large = add('large', 50_000_000);
const besides = add('besides', 10);
await turn();
await turn();
const behind = add('behind', 10);
const outcomes = { small, large: await large, besides: await besides, behind: await behind };
await turn();
const after = await add('after', 10);
const { items, total } = store.threads.list(SCOPE, {}, { offset: 0, limit: 10 });
const listed = items.map(({ thread }) => thread.id);
process.stdout.write(`${JSON.stringify({ ...outcomes, after, listed, total })}\n`);
await store.close();
