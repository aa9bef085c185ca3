import { openStore } from '../../src/store/index.ts';
import { event, fillLong, LONG_ROWS, SCOPE, threadRecord, write } from './records.ts';

/** Deletes a long thread, prints the number of its rows after the first slice, and then waits to be killed. */
const [dir = ''] = process.argv.slice(2);
const store = await openStore({ dir, durability: 'process' });
await write(store, (batch) => store.threads.put(batch, SCOPE, threadRecord('t1', 1), undefined));
await fillLong(store, 't1', LONG_ROWS);
await write(store, (batch) => {
  store.threads.remove(batch, SCOPE, threadRecord('t1', 1));
  store.removals.begin(batch, SCOPE, 't1');
});
store.removals.finish(SCOPE, 't1').catch(() => {});
// Commits are written in order, so the first slice is visible when this one is.
await write(store, (batch) => store.events.append(batch, SCOPE, 'other', 1, [event('e1')]));
process.kill(process.pid, 'SIGKILL');
