import t from 'tap';
import {
  chosenColumns,
  pageWithin,
  readListState,
  writeListState,
} from '../../src/console/list/list-state.ts';
import { highlighted, matches, tokensOf } from '../../src/console/list/match.ts';
import { nextDirection, sorted } from '../../src/console/list/order.ts';

/** What a list shows, by its address. */

const COLUMNS = ['id', 'model', 'modified'];
const NEWEST = { id: 'modified', direction: 'desc' } as const;

t.test('an address says what is shown, and what it says wrongly counts as not said', async (t) => {
  t.strictSame(readListState({ q: 'foo', sort: 'id', dir: 'desc', page: '2', size: '10' }, COLUMNS, NEWEST), {
    q: 'foo',
    sort: { id: 'id', direction: 'desc' },
    size: 10,
    page: 2,
  });
  const usual = { q: '', sort: NEWEST, size: 20, page: 1 };
  t.strictSame(readListState({}, COLUMNS, NEWEST), usual);
  t.strictSame(readListState({ size: '13', page: '-1', sort: 'nothing' }, COLUMNS, NEWEST), usual);
  t.strictSame(readListState({ page: '1.5', size: '' }, COLUMNS, NEWEST), usual);
});

t.test('what is as usual is not in the address, and a change leads to the first page', async (t) => {
  t.strictSame(writeListState({ size: 20 }, NEWEST), { size: undefined, page: undefined });
  t.strictSame(writeListState({ page: 3 }, NEWEST), { page: '3' });
  t.strictSame(writeListState({ q: '' }, NEWEST), { q: undefined, page: undefined });
  t.strictSame(writeListState({ sort: { ...NEWEST } }, NEWEST), {
    sort: undefined,
    dir: undefined,
    page: undefined,
  });
  for (const sort of [
    undefined,
    { id: 'id', direction: 'asc' } as const,
    { id: 'id', direction: 'desc' } as const,
  ]) {
    const written = writeListState({ sort }, NEWEST);
    t.strictSame(readListState(written, COLUMNS, NEWEST).sort, sort);
  }
});

t.test('a page that there is not is the last one', async (t) => {
  t.equal(pageWithin(99, 20, 250), 13);
  t.equal(pageWithin(1, 20, 0), 1);
});

t.test('each word of a search has to be somewhere', async (t) => {
  t.ok(matches(['Planner', 'gpt-5'], tokensOf('  GPT plan ')));
  t.notOk(matches(['Planner', 'gpt-5'], tokensOf('plan x')));
  t.ok(matches([], tokensOf('')));
  t.strictSame(highlighted('Planner plan', ['plan']), [
    { text: 'Plan', hit: true },
    { text: 'ner ', hit: false },
    { text: 'plan', hit: true },
  ]);
  t.strictSame(highlighted('İx', ['x']), [{ text: 'İx', hit: false }], 'its lower case is longer');
});

t.test('rows are in the order in which people count, empty ones last', async (t) => {
  const order = (values: (string | number | undefined)[], direction: 'asc' | 'desc') =>
    sorted(values, (value) => value, direction);
  t.strictSame(order(['a10', 'B1', undefined, 'a2', ''], 'asc'), ['a2', 'a10', 'B1', undefined, '']);
  t.strictSame(order(['a10', undefined, 'a2'], 'desc'), ['a10', 'a2', undefined]);
  t.strictSame(order([10, 9, Number.NaN, 100], 'asc'), [9, 10, 100, Number.NaN]);
  t.strictSame(
    [nextDirection(undefined), nextDirection('asc'), nextDirection('desc')],
    ['asc', 'desc', undefined],
  );
});

t.test('columns are those that their user wants, and new ones where they are', async (t) => {
  const columns = [{ id: 'id', always: true }, { id: 'model' }, { id: 'new' }, { id: 'modified' }];
  const ids = (order: string[], hidden: string[]) =>
    chosenColumns(columns, { order, hidden }).map(({ id }) => id);
  t.strictSame(ids([], []), ['id', 'model', 'new', 'modified']);
  t.strictSame(ids(['id', 'modified', 'model'], ['id', 'new']), ['id', 'modified', 'model']);
});
