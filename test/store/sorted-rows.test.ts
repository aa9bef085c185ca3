import assert from 'node:assert/strict';
import t from 'tap';
import { createBatch } from '../../src/store/engine/batch.ts';
import { closePrivate, createEnvironment, encoded, openRoot } from '../../src/store/engine/environment.ts';
import { compareKeys, type Key } from '../../src/store/engine/keys.ts';
import { withRows } from '../../src/store/engine/sorted-rows.ts';
import type { Span } from '../../src/store/engine/table.ts';
import fc from '../random.ts';

/** Rows in memory are read like the same rows on disk. */

const KEY = fc.tuple(fc.integer({ min: -4, max: 4 }), fc.constantFrom('a', 'b', 'c'));

const spanOf = fc.record(
  {
    from: fc.tuple(fc.integer({ min: -5, max: 5 })),
    to: fc.tuple(fc.integer({ min: -5, max: 5 })),
    after: KEY,
    reverse: fc.boolean(),
    limit: fc.nat(4),
    offset: fc.nat(3),
  },
  { requiredKeys: [] },
);

t.test('reads rows in memory as it reads rows on disk', async (t) => {
  const root = openRoot(t.testdir());
  t.teardown(() => closePrivate(root));
  const table = createEnvironment(root).table<string>('rows');
  let round = 0;
  const property = fc.property(fc.array(KEY), fc.array(spanOf, { minLength: 8 }), (keys, spans) => {
    round += 1;
    const prefix: Key = [round];
    const batch = createBatch('commons');
    for (const key of keys) table.put(batch, [...prefix, ...key], key.join());
    root.transactionSync(() => {
      for (const write of batch.writes)
        if ('value' in write) write.rows.putSync(write.key, encoded(write.value));
    });
    const unique = new Map(keys.map((key) => [key.join(), key]));
    const rows = Array.from(unique, ([value, key]) => ({ key, value }));
    rows.sort((a, b) => compareKeys(a.key, b.key));
    const { index, range } = withRows(table, rows);
    const readFrom = (of: Pick<typeof table, 'entries' | 'keys' | 'count'>, start: Key) => {
      const keyOf = (key: Key): Key => key.slice(start.length);
      return spans.map((span: Omit<Span, 'prefix'>) => {
        const whole = { ...span, prefix: start };
        return {
          span,
          rows: Array.from(of.entries(whole), ({ key, value }) => [keyOf(key), value]),
          keys: Array.from(of.keys(whole), keyOf),
          count: of.count({ prefix: start, ...(span.to && { to: span.to }) }),
        };
      });
    };
    assert.deepEqual(readFrom(index, range.prefix), readFrom(table, prefix));
    assert.deepEqual(readFrom(index, prefix), readFrom(table, prefix), 'rows on disk are read as before');
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 60 }));
});
