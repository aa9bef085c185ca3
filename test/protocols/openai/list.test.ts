import t from 'tap';
import { listBody, pageOf } from '../../../src/protocols/openai/list.ts';

t.test('parses a page, and rejects limits and orders outside of the contract', (t) => {
  t.strictSame(pageOf({}), { limit: 20, order: 'desc', after: undefined });
  t.strictSame(pageOf({ limit: '100', order: 'asc', after: 'x' }), { limit: 100, order: 'asc', after: 'x' });
  for (const limit of ['0', '101', '-1', '1.5', 'x', ''])
    t.match(
      thrownBy(() => pageOf({ limit })),
      { param: 'limit' },
      limit,
    );
  t.match(
    thrownBy(() => pageOf({ order: 'up' })),
    { param: 'order' },
  );
  t.end();
});

t.test('names the first and the last item, or null', (t) => {
  t.strictSame(listBody([{ id: 'a' }, { id: 'b' }], true), {
    object: 'list',
    data: [{ id: 'a' }, { id: 'b' }],
    first_id: 'a',
    last_id: 'b',
    has_more: true,
  });
  t.match(listBody([], false), { first_id: null, last_id: null });
  t.end();
});

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
