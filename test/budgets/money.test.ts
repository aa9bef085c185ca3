import t from 'tap';
import { nanoLimit, nanoOf } from '../../src/budgets/money.ts';

t.test('a cost is rounded up to whole nano-USD', async (t) => {
  t.equal(nanoOf(0), 0);
  t.equal(nanoOf(1e-10), 1);
  t.equal(nanoOf(1.5e-9), 2);
  t.equal(nanoOf(0.000_123), 123_000, 'an error of the floating point is not a nano-USD');
  t.equal(nanoOf(0.1 + 0.2), 300_000_000);
});

t.test('the largest limit is an exact integer', async (t) => {
  t.ok(Number.isSafeInteger(nanoLimit(9_000_000)));
});
