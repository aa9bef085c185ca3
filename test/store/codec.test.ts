import t from 'tap';
import { createCodec } from '../../src/store/engine/codec.ts';
import fc from '../random.ts';

/** The properties that every object inherits from its prototype. */
const INHERITED_KEYS = [
  '__proto__',
  '__proto_',
  'constructor',
  'toString',
  'toJSON',
  'then',
  'valueOf',
  'hasOwnProperty',
  '$ref',
];

/** Field names that tools, clients and state choose: plain words, and arbitrary strings. */
const name = fc.oneof(
  fc.constantFrom('a', '__runtime.run_lifecycle', 'content-type', '', '0', ...INHERITED_KEYS),
  fc.string(),
);

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

t.test('reads a row back unchanged for any field names', async (t) => {
  const codec = createCodec('e', undefined);
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 3 }), (one, times) => {
      const row = Array.from({ length: times }, () => ({ payload: one, again: one }));
      const text = JSON.stringify(codec.packr.unpack(codec.encode(row)));
      t.equal(text, JSON.stringify(row));
    }),
    { numRuns: 200 },
  );
});

t.test('stores two objects of one shape with unusual names in a row', async (t) => {
  const codec = createCodec('e', undefined);
  const row = [{ 'x.y': 1 }, { 'x.y': 2 }];
  t.same(codec.packr.unpack(codec.encode(row)), row);
});

t.test('keeps keys that objects, promises and serializers inherit', async (t) => {
  const codec = createCodec('e', undefined);
  const text = JSON.stringify(Object.fromEntries(INHERITED_KEYS.map((key) => [key, { of: key }])));
  for (let times = 0; times < 3; times += 1) {
    t.equal(JSON.stringify(codec.packr.unpack(codec.encode(JSON.parse(text)))), text);
  }
});

t.test('keeps the key __proto__ as data without changing any prototype', async (t) => {
  const codec = createCodec('e', undefined);
  const text = '{"a":[{"__proto__":{"polluted":true}},1],"__proto__":null,"b":"__proto__"}';
  for (let times = 0; times < 3; times += 1) {
    const read = codec.packr.unpack(codec.encode(JSON.parse(text)));
    t.equal(JSON.stringify(read), text);
    t.equal(Object.getPrototypeOf(read), Object.prototype);
    t.equal(Object.getPrototypeOf(read.a[0]), Object.prototype);
    t.equal(read.a[0].polluted, undefined);
  }
  t.equal(Reflect.get({}, 'polluted'), undefined);
});
