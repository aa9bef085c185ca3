import fc from 'fast-check';
import t from 'tap';
import '../random.ts';
import { bigintArray, smallintArray, textArray } from '../../src/postgres/arrays.ts';

/** Arrays in the binary format of PostgreSQL. `test/cluster/open.test.ts` compares them with a server. */

/** Reads what PostgreSQL would: the format is from `array_recv`. */
const read = (buffer: Buffer): { type: number; hasNull: boolean; elements: (Buffer | null)[] } => {
  const dimensions = buffer.readInt32BE(0);
  const hasNull = buffer.readInt32BE(4) === 1;
  const type = buffer.readInt32BE(8);
  if (dimensions === 0) {
    t.equal(buffer.length, 12, 'an empty array ends with its header');
    return { type, hasNull, elements: [] };
  }
  const elements: (Buffer | null)[] = [];
  let end = 20;
  while (end < buffer.length) {
    const length = buffer.readInt32BE(end);
    end += 4;
    elements.push(length < 0 ? null : buffer.subarray(end, end + length));
    end += Math.max(length, 0);
  }
  t.equal(buffer.readInt32BE(12), elements.length, 'the header has the number of elements');
  t.equal(buffer.readInt32BE(16), 1, 'the first index is 1');
  return { type, hasNull, elements };
};

t.test('texts keep every character', async (t) => {
  const text = fc.option(fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(fc.array(text), (values) => {
      const { type, hasNull, elements } = read(textArray(values));
      t.equal(type, 25);
      t.equal(hasNull, values.includes(null));
      t.strictSame(
        elements.map((element) => element?.toString() ?? null),
        values,
      );
    }),
    { numRuns: 50 },
  );
});

t.test('integers keep every value of their range', async (t) => {
  const lineage = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  fc.assert(
    fc.property(fc.array(fc.oneof(lineage, fc.maxSafeInteger(), fc.constant(null))), (values) => {
      const { type, elements } = read(bigintArray(values));
      t.equal(type, 20);
      const found = elements.map((element) => element?.readBigInt64BE() ?? null);
      t.strictSame(
        found,
        values.map((value) => (value === null ? null : BigInt(value))),
      );
    }),
    { numRuns: 50 },
  );
  const small = read(smallintArray([1, -2, 32767]));
  t.equal(small.type, 21);
  t.strictSame(
    small.elements.map((element) => element?.readInt16BE()),
    [1, -2, 32767],
  );
});

t.test('rejects numbers that the column cannot hold', async (t) => {
  t.throws(() => smallintArray([32768]), { name: 'RangeError' });
  for (const value of [0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY]) {
    t.throws(() => bigintArray([value]), { name: 'RangeError' }, String(value));
  }
  t.throws(() => bigintArray([2n ** 63n]), { name: 'RangeError' });
});
