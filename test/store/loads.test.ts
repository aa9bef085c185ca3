import t from 'tap';
import type { RowContent } from '../../src/store/engine/sink.ts';
import { SHIPPED } from '../../src/store/kinds.ts';
import { copyFor } from './copies.ts';

/** Loads of copies, during which a member renews its lease (docs/design/cluster.md 6.1). */

const ROWS = 2000;
/** Rows take some 20 µs of CPU time each, and a renewal may not wait for long. */
const MOST_AT_ONCE = 500;

const STATE = SHIPPED.find(({ table }) => table === 'state')?.number ?? 0;

t.test('lets other work of the process continue within a page', async (t) => {
  let [count, most, isOver] = [0, 0, false];
  const page: RowContent[] = Array.from({ length: ROWS }, (_, index) => ({
    kind: STATE,
    key: JSON.stringify(['default', `t${index}`]),
    get value() {
      count += 1;
      most = Math.max(most, count);
      return '{}';
    },
  }));
  const work = (): void => {
    count = 0;
    if (!isOver) setImmediate(work);
  };
  work();
  async function* rows() {
    yield page;
  }
  const { store } = await copyFor(t, undefined, { rows: rows() });
  isOver = true;
  t.equal(store.stats().rows.state, ROWS);
  t.equal(most, MOST_AT_ONCE);
});
