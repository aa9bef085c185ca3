import t from 'tap';
import {
  chosenColumns,
  pageWithin,
  readListState,
  writeListState,
} from '../../src/console/list/list-state.ts';
import { highlighted, matches, tokensOf } from '../../src/console/list/match.ts';
import { nextDirection, sorted } from '../../src/console/list/order.ts';
import { type PageOf, withHead } from '../../src/console/list/pages.ts';
import { runQuery } from '../../src/console/screens/runs/query.ts';

/** The state of a list in its address. */

const COLUMNS = ['id', 'model', 'modified'];
const NEWEST = { id: 'modified', direction: 'desc' } as const;

t.test('reads the list state from the address and ignores invalid values', async (t) => {
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

t.test('omits defaults from the address and returns to the first page on changes', async (t) => {
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

t.test('limits the page to the last one', async (t) => {
  t.equal(pageWithin(99, 20, 250), 13);
  t.equal(pageWithin(1, 20, 0), 1);
});

t.test('matches rows that contain every word of a search', async (t) => {
  t.ok(matches(['Planner', 'gpt-5'], tokensOf('  GPT plan ')));
  t.notOk(matches(['Planner', 'gpt-5'], tokensOf('plan x')));
  t.ok(matches([], tokensOf('')));
  t.strictSame(highlighted('Planner plan', ['plan']), [
    { text: 'Plan', hit: true },
    { text: 'ner ', hit: false },
    { text: 'plan', hit: true },
  ]);
  t.strictSame(
    highlighted('İx', ['x']),
    [{ text: 'İx', hit: false }],
    'a text whose lower case is longer is not highlighted',
  );
});

t.test('sorts in natural order with empty values last', async (t) => {
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

t.test('cycles through the directions that a column has', async (t) => {
  t.strictSame(
    [undefined, 'desc' as const].map((each) => nextDirection(each, ['desc'])),
    ['desc', undefined],
  );
  t.equal(nextDirection('desc', ['desc', 'asc']), 'asc');
  t.equal(nextDirection('asc', ['desc', 'asc']), undefined);
});

const page = (ids: string, next_cursor?: string): PageOf<string> => ({
  items: [...ids],
  total: 9,
  searched: undefined,
  next_cursor,
});

t.test('updates loaded pages with the first one', async (t) => {
  const idOf = (id: string): string => id;
  const rows = (pages: PageOf<string>[]): string => pages.map(({ items }) => items.join('')).join(' ');
  const loaded = [page('abc', '1'), page('def', '2')];
  t.equal(rows(withHead(loaded, page('xab', '3'), idOf)), 'xab cdef');
  t.equal(rows(withHead(loaded, page('eab', '3'), idOf)), 'eab cdf', 'a row that has moved is shown once');
  t.equal(
    withHead(loaded, page('xab', '3'), idOf).at(-1)?.next_cursor,
    '2',
    'the next page follows the last one',
  );
  t.equal(rows(withHead(loaded, page('xyz', '3'), idOf)), 'xyz', 'a gap restarts the list');
  t.equal(rows(withHead(loaded, page('ab'), idOf)), 'ab', 'a complete first page is the list');
});

t.test('asks the service for the runs of an address', async (t) => {
  const of = (address: Record<string, string>) => {
    const { path, query, isRanked } = runQuery(address, 1_000_000_000);
    const given = Object.entries(query).filter(([key, value]) => value !== undefined && key !== 'preview');
    return { path, isRanked, ...Object.fromEntries(given) };
  };
  const all = { path: '/v1/runs', isRanked: false };
  t.strictSame(of({}), { ...all, sort: '-created' });
  t.strictSame(of({ status: 'waiting', q: 'x' }), { ...all, status: 'waiting', q: 'x', sort: '-created' });
  t.strictSame(of({ status: 'failed' }), { ...all, outcome: 'failed,blocked', sort: '-changed' });
  t.strictSame(of({ outcome: 'stopped' }), { ...all, outcome: 'stopped', sort: '-changed' });
  t.strictSame(of({ agent: 'a', sort: 'began' }), { ...all, agent_id: 'a', sort: 'created' });
  t.strictSame(of({ sort: 'cost', dir: 'desc' }), { ...all, sort: '-cost', isRanked: true });
  t.strictSame(of({ sort: 'cost' }), { ...all, sort: '-created' }, 'an order that the service does not have');
  t.strictSame(of({ thread: 'a/b' }), { ...all, path: '/v1/threads/a%2Fb/runs', sort: '-created' });
  t.match(of({ since: '1h' }), { created_after: '1970-01-12T12:46:00.000Z' });
  t.match(of({ since: 'x', after: '2026-01-01T00:00:00Z' }), { created_after: '2026-01-01T00:00:00Z' });
});

t.test('arranges columns by the choice of the user and keeps new ones in place', async (t) => {
  const columns = [{ id: 'id', always: true }, { id: 'model' }, { id: 'new' }, { id: 'modified' }];
  const ids = (order: string[], hidden: string[]) =>
    chosenColumns(columns, { order, hidden }).map(({ id }) => id);
  t.strictSame(ids([], []), ['id', 'model', 'new', 'modified']);
  t.strictSame(ids(['id', 'modified', 'model'], ['id', 'new']), ['id', 'modified', 'model']);
  const extra = [{ id: 'id' }, { id: 'thread', isExtra: true }];
  const shown = (shown: string[]) => chosenColumns(extra, { order: [], hidden: [], shown }).length;
  t.strictSame([shown([]), shown(['thread'])], [1, 2], 'an extra column is hidden until it is chosen');
});
