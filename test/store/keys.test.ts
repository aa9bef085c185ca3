import t from 'tap';
import { MAX_ID_BYTES } from '../../src/schema/id.ts';
import { openRoot } from '../../src/store/engine/environment.ts';
import { type Key, writable } from '../../src/store/engine/keys.ts';
import fc from '../random.ts';

t.test('rejects an oversized key before a transaction starts', async (t) => {
  t.throws(() => writable(['default', 'x'.repeat(5000)]), {
    name: 'RangeError',
    message: 'a key of 5009 bytes cannot be stored; at most 1978 bytes',
  });
  t.throws(() => writable(['é'.repeat(989)]), RangeError);
  const longest: Key = [...Array.from({ length: 3 }, () => 'x'.repeat(MAX_ID_BYTES)), 7];
  t.equal(writable(longest), longest, 'a key of three ids of maximum length and a number fits');
});

t.test('stores every accepted key, up to the last byte', async (t) => {
  const root = openRoot(t.testdir());
  t.teardown(() => root.close());
  const parts = fc.array(fc.oneof(fc.nat(), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 })), {
    maxLength: 4,
  });
  const property = fc.property(parts, fc.integer({ min: 1500, max: 1990 }), (start, length) => {
    const key = [...start, 'x'.repeat(length)];
    try {
      writable(key);
    } catch {
      return;
    }
    root.putSync(key, 1);
  });
  t.doesNotThrow(() => fc.assert(property));
  t.doesNotThrow(() => root.putSync(writable(['x'.repeat(1977)]), 1));
});
