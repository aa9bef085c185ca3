import t from 'tap';
import { observeTurn, usageRate } from '../../../src/plugins/deferred-tools/usage.ts';
import fc from '../../random.ts';

const model = (omega: number, prior?: number) => ({
  agent_priors: { ...(prior !== undefined && { x: prior }) },
  disc_beta: { omega, n0: 5, defer_after: 5, thresh_mult: 0.5, gamma: 2000 },
});
const NOTHING = { stats: { turns: 0, uses: {} }, beliefs: {} };

t.test('starts at the prior of a tool, and at one percent for an unknown one', async (t) => {
  t.equal(usageRate(model(0.95, 0.4), {}, 'x', 0), 0.4);
  t.equal(usageRate(model(0.95), {}, 'x', 0), 0.01);
  t.equal(usageRate(model(0.95), {}, 'toString', 0), 0.01);
});

t.test('equals the share of turns without a discount, with the prior as five turns', async (t) => {
  const after = observeTurn(model(1, 0.4), NOTHING, new Set(['x']));
  t.equal(usageRate(model(1, 0.4), after.beliefs, 'x', 1), 3 / 6);
  t.equal(usageRate(model(1, 0.4), after.beliefs, 'x', 4), 3 / 9);
});

t.test('agrees with a model that counts each idle turn', async (t) => {
  const history = fc.array(fc.boolean(), { maxLength: 60 });
  const omegas = fc.double({ min: 0.5, max: 1, noNaN: true });
  fc.assert(
    fc.property(history, omegas, fc.double({ min: 0, max: 1, noNaN: true }), (used, omega, prior) => {
      let { alpha, beta } = { alpha: 5 * prior, beta: 5 * (1 - prior) };
      let lazy: Parameters<typeof observeTurn>[1] = NOTHING;
      for (const isUsed of used) {
        alpha = omega * alpha + Number(isUsed);
        beta = omega * beta + Number(!isUsed);
        lazy = observeTurn(model(omega, prior), lazy, new Set(isUsed ? ['x'] : []));
      }
      const rate = usageRate(model(omega, prior), lazy.beliefs, 'x', used.length);
      return Math.abs(rate - alpha / (alpha + beta)) < 1e-9;
    }),
  );
  t.pass();
});
