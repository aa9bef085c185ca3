import t from 'tap';
import { createDistribution } from '../../src/load-generator/distribution.ts';

/** The distribution of the times that a load has measured. */

const of = (...times: number[]) => {
  const distribution = createDistribution();
  for (const ms of times) distribution.record(ms);
  return distribution;
};

t.test('without a time there are no buckets and all values are 0', async (t) => {
  t.strictSame(of().buckets(), []);
  t.strictSame(of().quantiles(), { count: 0, p50: 0, p90: 0, p99: 0, max: 0 });
});

t.test('buckets cover the shortest to the longest time without gaps, each twice as wide', async (t) => {
  t.strictSame(of(5, 1.1, 1.5).buckets(), [
    { from_ms: 1.024, to_ms: 2.048, count: 2 },
    { from_ms: 2.048, to_ms: 4.096, count: 0 },
    { from_ms: 4.096, to_ms: 8.192, count: 1 },
  ]);
});

t.test('a time on the boundary of two buckets counts in the longer one', async (t) => {
  t.strictSame(of(2.048).buckets(), [{ from_ms: 2.048, to_ms: 4.096, count: 1 }]);
});

t.test('a negative time counts as the shortest, and more than a day as a day', async (t) => {
  t.match(of(-3).buckets(), [{ from_ms: 0.001, to_ms: 0.002, count: 1 }]);
  const { max } = of(1e12).quantiles();
  t.ok(Math.abs(max / 86_400_000 - 1) < 0.001, `${max}`);
});

t.test('quantiles cover all times, with three digits', async (t) => {
  const { count, p50, p90, p99, max } = of(
    ...Array.from({ length: 1000 }, (_, index) => index + 1),
  ).quantiles();
  t.equal(count, 1000);
  for (const [told, expected] of [
    [p50, 500],
    [p90, 900],
    [p99, 990],
    [max, 1000],
  ] as const)
    t.ok(Math.abs(told / expected - 1) < 0.001, `${told} for ${expected}`);
});
