import t from 'tap';
import type { MessageFilter } from '../../src/runtime/ledger/history-ranks.ts';
import { listMessages, viewed } from '../../src/runtime/ledger/history-view.ts';
import { storeFor } from '../store/open.ts';
import { message, SCOPE, write } from '../store/records.ts';

const COUNT = 3000;
const INTERNAL = [5, 1500, 1501, 2990];
/** Messages that a client removed by going back. */
const HIDDEN = Array.from({ length: 800 }, (_, index) => 600 + index);

const VISIBILITIES = ['external', 'internal', 'all'] as const;

t.test('finds messages behind long gaps without reading the gaps', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    let external = 0;
    for (let seq = 1; seq <= COUNT; seq += 1) {
      const isInternal = INTERNAL.includes(seq);
      if (!isInternal) external += 1;
      const row = { seq, message: message(`m${seq}`, 'r1', isInternal ? 'internal' : undefined), external };
      store.messages.append(batch, SCOPE, 't1', [{ ...row, created_at: 1 }]);
    }
    for (const seq of HIDDEN)
      store.retractions.put(batch, SCOPE, 't1', { seq, external: true, run_id: 'r1' });
  });
  const of = { store, scope: SCOPE, thread_id: 't1' };
  const seqs = Array.from({ length: COUNT }, (_, index) => index + 1);
  for (const visibility of VISIBILITIES) {
    const shown = seqs.filter(
      (seq) =>
        !HIDDEN.includes(seq) &&
        (visibility === 'all' || INTERNAL.includes(seq) === (visibility === 'internal')),
    );
    for (const order of ['asc', 'desc'] as const) {
      for (const run_id of [undefined, 'r1']) {
        const filter: MessageFilter = { order, visibility, ...(run_id && { run_id }) };
        const expected = order === 'asc' ? shown : shown.toReversed();
        const name = `${visibility} ${order} ${run_id}`;
        t.strictSame(
          Array.from(viewed(of, filter), ({ seq }) => seq),
          expected,
          name,
        );
        for (const offset of [1, 3, 4, 650, 2199, 2200, 9000]) {
          const page = listMessages(of, filter, { offset }, 2);
          t.strictSame(
            page.rows.map(({ seq }) => seq),
            expected.slice(offset, offset + 2),
            `${name} ${offset}`,
          );
          t.equal(page.total, expected.length);
          t.equal(page.has_more, offset + 2 < expected.length);
        }
      }
    }
  }
  const before = store.reads;
  const found = listMessages(of, { order: 'asc', visibility: 'internal', after: 1501 }, { offset: 0 }, 10);
  t.strictSame(
    found.rows.map(({ seq }) => seq),
    [2990],
  );
  t.ok(store.reads - before < 150, `${store.reads - before} reads`);
});
