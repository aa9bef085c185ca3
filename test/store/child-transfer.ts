import { openStore } from '../../src/store/index.ts';
import { ALICE, BOB, CHILD, fillThread, ROOT } from './transferred-thread.ts';

/** Gives a thread from one user to the other and back until it is killed. Prints a line before and after each commit. */
const [dir = ''] = process.argv.slice(2);
const store = await openStore({ dir, durability: 'process' });
if (!store.threads.get(ALICE, ROOT) && !store.threads.get(BOB, ROOT)) await fillThread(store);
for (;;) {
  const from = store.threads.get(ALICE, ROOT) ? ALICE : BOB;
  const to = from === ALICE ? BOB : ALICE;
  const batch = store.batch('commons');
  const plan = store.transfers.plan({ from, to, threads: [ROOT, CHILD], at: Date.now() });
  await store.transfers.add(batch, plan);
  const done = store.commit(batch, 'input');
  process.stdout.write('commits\n');
  await done;
  process.stdout.write(`${to}\n`);
}
