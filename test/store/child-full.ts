import { openStore } from '../../src/store/index.ts';
import { SCOPE } from './records.ts';

/**
 * Writes until a commit fails, and prints the state of the store then and when space is free again. With `once` it
 * exits at the failure.
 */
const [dir = '', how = ''] = process.argv.slice(2);
const store = await openStore({ dir, durability: 'power' });

const add = async (id: string, bytes: number): Promise<boolean> => {
  const batch = store.batch('commons');
  store.state.put(batch, SCOPE, id, { filling: 'x'.repeat(bytes) });
  return store.commit(batch, 'input').then(
    () => true,
    () => false,
  );
};

const say = async (what: string): Promise<void> => {
  const check = await store.check().then(
    () => 'ok',
    (error: unknown) => (error instanceof Error ? error.message : 'unknown'),
  );
  process.stdout.write(`${JSON.stringify({ what, writable: store.writable, check })}\n`);
};

const alive = setInterval(() => {}, 60_000);
await say('empty');
store.onRecovered(async () => {
  await say('recovered');
  await say((await add('kept', 100_000)) ? 'wrote' : 'failed');
  await store.close();
  clearInterval(alive);
});
let number = 0;
while (await add(`filling ${number}`, 100_000)) number += 1;
await say('full');
if (how === 'once') {
  const seen = store.state.get(SCOPE, `filling ${number}`) !== undefined;
  process.stdout.write(`${JSON.stringify({ seen })}\n`);
  await store.close();
  clearInterval(alive);
}
