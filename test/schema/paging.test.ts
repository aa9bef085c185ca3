import t from 'tap';
import { Cursor, Limit, Offset, SeqBound } from '../../src/schema/paging.ts';

t.test('limits a page to 1 to 200 items, 50 by default', (t) => {
  const table: [given: string | undefined, limit: number][] = [
    [undefined, 50],
    ['0', 1],
    ['1', 1],
    ['2', 2],
    ['200', 200],
    ['201', 200],
    ['9'.repeat(15), 200],
  ];
  for (const [given, limit] of table) t.equal(Limit.parse(given), limit);
  t.end();
});

t.test('rejects values that are not counts', (t) => {
  for (const schema of [Limit, Offset, SeqBound]) {
    for (const given of ['', '-1', '1.5', ' 1', '9'.repeat(16)])
      t.equal(schema.safeParse(given).success, false);
  }
  t.end();
});

t.test('defaults an offset to 0, and a bound and a cursor to none', (t) => {
  t.equal(Offset.parse(undefined), 0);
  t.equal(Offset.parse('7'), 7);
  t.equal(SeqBound.parse(undefined), undefined);
  t.equal(SeqBound.parse('0'), 0);
  for (const blank of [undefined, '', '  ']) t.equal(Cursor.parse(blank), undefined);
  t.equal(Cursor.parse(' cur '), 'cur');
  t.end();
});
