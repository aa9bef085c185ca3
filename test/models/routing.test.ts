import t from 'tap';
import {
  byRendezvous,
  createRotation,
  fnv1a64,
  type Member,
  rendezvousScore,
} from '../../src/models/routing.ts';
import fc from '../random.ts';

const vectors: [text: string, hash: bigint][] = [
  ['', 0xcbf29ce484222325n],
  ['a', 0xaf63dc4c8601ec8cn],
  ['foobar', 0x85944171f73967e8n],
];
for (const [text, hash] of vectors) {
  t.test(`hashes "${text}" to the published test vector`, async (t) => {
    t.equal(fnv1a64(Buffer.from(text)), hash);
  });
}

const member = (model_id: string, weight = 1): Member => ({ model_id, weight, role: 'member' });
const all = (): boolean => true;

t.test('computes a score as weight / -ln of the hash as a share of 2^64', async (t) => {
  const half = 2n ** 63n;
  t.equal(rendezvousScore(half - 1n, 1), 1 / Math.log(2));
  t.equal(rendezvousScore(half - 1n, 3), 3 / Math.log(2));
  t.ok(Math.abs(rendezvousScore(2n ** 62n - 1n, 1) - 1 / Math.log(4)) < 1e-15);
});

t.test('the highest hashes have the highest scores, and these are finite', async (t) => {
  const top = 2n ** 64n;
  const scores = [top - 1n, top - 2n, top - 1000n, top - 2n ** 40n, top / 2n, 1n, 0n].map((hash) =>
    rendezvousScore(hash, 1),
  );
  t.same(
    scores,
    [...scores].sort((a, b) => b - a),
  );
  t.equal(new Set(scores).size, scores.length);
  t.ok(scores.every((score) => Number.isFinite(score) && score > 0));
});

t.test('hashes a key with one zero byte before the member', async (t) => {
  const expected = ['b', 'a', 'c'].map((id) => fnv1a64(Buffer.from(`thread-7\0${id}`)));
  const best = expected.findIndex((hash) => expected.every((other) => other <= hash));
  t.equal(
    byRendezvous(
      'thread-7',
      ['b', 'a', 'c'].map((id) => member(id)),
      all,
    ),
    best,
  );
});

t.test('breaks ties in favor of the first, and returns undefined without eligible members', async (t) => {
  t.equal(byRendezvous('k', [member('a'), member('a')], all), 0);
  t.equal(
    byRendezvous('k', [member('a')], () => false),
    undefined,
  );
});

const keys = Array.from({ length: 20_000 }, (_, index) => `thread-${index}`);

t.test('each member gets the share of the sessions that its weight defines', async (t) => {
  const members = [member('gpt-large', 1), member('claude-medium', 2), member('gemini-small', 5)];
  const counts = [0, 0, 0];
  for (const key of keys) {
    const index = byRendezvous(key, members, all) ?? -1;
    counts[index] = (counts[index] ?? 0) + 1;
  }
  for (const [index, { weight }] of members.entries()) {
    const share = (counts[index] ?? 0) / keys.length;
    t.ok(Math.abs(share - weight / 8) < 0.015, `${share} for ${weight}/8`);
  }
});

t.test('members whose ids differ only in the last character still share the sessions', async (t) => {
  const counts = [0, 0];
  for (const key of keys) {
    const index = byRendezvous(key, [member('m1'), member('m2')], all) ?? -1;
    counts[index] = (counts[index] ?? 0) + 1;
  }
  for (const count of counts) t.ok(Math.abs(count / keys.length - 0.5) < 0.02, String(count));
});

t.test('moves only the sessions of a removed member', async () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.uniqueArray(
        fc.record({ model_id: fc.string({ minLength: 1 }), weight: fc.integer({ min: 1, max: 9 }) }),
        {
          selector: ({ model_id }) => model_id,
          minLength: 2,
          maxLength: 6,
        },
      ),
      fc.nat(),
      (key, found, gone) => {
        const members = found.map(({ model_id, weight }) => member(model_id, weight));
        const before = byRendezvous(key, members, all);
        const lost = gone % members.length;
        const after = byRendezvous(key, members, (index) => index !== lost);
        return before === lost ? after !== lost : after === before;
      },
    ),
  );
});

t.test('a rotation selects each member in proportion to its weight, in every round', async () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 }), (weights) => {
      const next = createRotation(weights.map((weight, index) => member(`m${index}`, weight)));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      for (let round = 0; round < 3; round += 1) {
        const taken = Array.from({ length: total }, () => next(all));
        if (weights.some((weight, index) => taken.filter((each) => each === index).length !== weight))
          return false;
      }
      return true;
    }),
  );
});

t.test('a rotation spreads the members evenly', async (t) => {
  const next = createRotation([member('a', 2), member('b', 1)]);
  t.same(
    Array.from({ length: 6 }, () => next(all)),
    [0, 1, 0, 0, 1, 0],
  );
});

t.test('a rotation without eligible members returns undefined', async (t) => {
  t.equal(
    createRotation([member('a')])(() => false),
    undefined,
  );
});
