import t from 'tap';
import { z } from 'zod';
import { listOf } from '../../src/schema/list.ts';
import { phrases } from '../../src/schema/phrases.ts';

/** Counts the items that are parsed, instead of measuring time. */
const counting = () => {
  let looks = 0;
  const Item = z
    .custom<unknown>(() => {
      looks += 1;
      return true;
    })
    .pipe(z.object({ name: z.string() }));
  return { Item, looks: () => looks };
};

t.test('accepts a list up to its limit, and rejects a longer one without parsing items', (t) => {
  const { Item, looks } = counting();
  const List = listOf(Item, 100);
  const good = Array.from({ length: 101 }, () => ({ name: 'x' }));
  t.equal(List.safeParse(good.slice(1), phrases).success, true);
  const before = looks();
  const { error } = List.safeParse(good, phrases);
  t.strictSame(
    error?.issues.map(({ message }) => message),
    ['must have at most 100 items, not 101'],
  );
  t.equal(looks(), before);
  t.end();
});

t.test('reports a few invalid items of a long list without parsing the rest', (t) => {
  const { Item, looks } = counting();
  const { error } = listOf(Item, 10_000).safeParse(Array(10_000).fill(1), phrases);
  t.equal(error?.issues.length, 8);
  t.match(error?.issues[7], { path: [7], message: 'must be an object, not a number' });
  t.ok(looks() <= 8, `${looks()} looks`);
  t.end();
});

t.test('reports all invalid items up to 32, and the first eight of a longer list', (t) => {
  for (const [length, told] of [
    [32, 32],
    [33, 8],
  ] as const) {
    t.equal(listOf(z.string()).safeParse(Array(length).fill(1), phrases).error?.issues.length, told);
  }
  t.end();
});

t.test('limits a list to 1000 items by default', (t) => {
  const List = listOf(z.string());
  t.equal(List.safeParse(Array(1000).fill('x'), phrases).success, true);
  t.match(List.safeParse(Array(1001).fill('x'), phrases).error?.issues, [
    { message: 'must have at most 1000 items, not 1001' },
  ]);
  t.end();
});

t.test('finds an invalid item far behind', (t) => {
  const given = Array.from({ length: 5000 }, () => ({ name: 'x' }));
  t.match(
    listOf(z.object({ name: z.string() }), 5000).safeParse([...given.slice(1), {}], phrases).error?.issues,
    [{ path: [4999, 'name'], message: 'is missing' }],
  );
  t.end();
});
