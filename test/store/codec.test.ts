import fc from 'fast-check';
import t from 'tap';
import { createCodec } from '../../src/store/codec.ts';

/** Names of fields that tools, clients and state choose: words, and anything else. */
const name = fc.oneof(fc.constantFrom('a', '__runtime.run_lifecycle', 'content-type', '', '0'), fc.string());

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 5 }).map((object) => ({ ...object })),
  ),
}));

t.test('a row is read back as it was written, whatever its fields are called', async (t) => {
  const codec = createCodec('e', undefined);
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 3 }), (one, times) => {
      const row = Array.from({ length: times }, () => ({ payload: one, again: one }));
      t.strictSame(codec.packr.unpack(codec.encode(row)), JSON.parse(JSON.stringify(row)));
    }),
    { numRuns: 200 },
  );
});

t.test('objects of one shape with odd names may come twice in a row', async (t) => {
  const codec = createCodec('e', undefined);
  const row = [{ 'x.y': 1 }, { 'x.y': 2 }];
  t.same(codec.packr.unpack(codec.encode(row)), row);
});
