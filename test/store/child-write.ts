import { openStore } from '../../src/store/index.ts';
import { event, message, run, SCOPE, threadRecord } from './records.ts';

/** Writes threads with a run each until it is killed, and prints the number of each acknowledged one. */
const [dir = '', first = '0'] = process.argv.slice(2);
const store = await openStore({ dir, durability: 'process' });

const writeThread = async (number: number): Promise<void> => {
  const id = `t${number}`;
  const links = number % 2 ? { resource_id: 'odd' } : { parent_thread_id: 't0' };
  const before = threadRecord(id, number, links);
  const batch = store.batch('commons');
  store.threads.put(batch, SCOPE, before, undefined);
  store.runs.put(batch, SCOPE, run(`r${number}`, { thread_id: id }), undefined);
  store.messages.append(batch, SCOPE, id, [
    { seq: 1, message: message('m', `r${number}`), created_at: 1, external: 1 },
  ]);
  store.events.append(batch, SCOPE, id, 1, [event('e', `r${number}`)]);
  await store.commit(batch);
  const last = store.batch('commons');
  store.threads.put(last, SCOPE, threadRecord(id, number + 0.5, links), before);
  store.runs.put(
    last,
    SCOPE,
    run(`r${number}`, { thread_id: id, status: 'done' }),
    run(`r${number}`, { thread_id: id }),
  );
  await store.commit(last);
  process.stdout.write(`${number}\n`);
};

let number = Number(first);
const writer = async (): Promise<never> => {
  for (;;) {
    number += 1;
    await writeThread(number);
  }
};
await Promise.all(Array.from({ length: 8 }, writer));
