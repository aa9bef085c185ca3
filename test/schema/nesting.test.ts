import t from 'tap';
import { DEEPEST, isTooDeep } from '../../src/schema/nesting.ts';

const nested = (levels: number): unknown => {
  let value: unknown = 'core';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
};

t.test('values may nest so deep and no deeper', (t) => {
  for (const value of [undefined, null, 1, 'x', [], {}, nested(DEEPEST)]) t.equal(isTooDeep(value), false);
  for (const levels of [DEEPEST + 1, 100_000]) t.equal(isTooDeep(nested(levels)), true);
  t.equal(isTooDeep([1, { a: nested(DEEPEST) }]), true, 'wherever it is');
  t.equal(isTooDeep(Array.from({ length: 100_000 }, () => ({ a: [1] }))), false, 'wide is not deep');
  t.end();
});

t.test('what contains itself is too deep', (t) => {
  const own: Record<string, unknown> = {};
  own.own = { list: [own] };
  t.equal(isTooDeep(own), true);
  t.end();
});
