import t from 'tap';
import { namespace, refuses, write } from './write.ts';

const budgets = namespace('budgets');
const whole = {
  id: 'b',
  per: ['user'],
  window: { every: 'month', zone: 'Europe/Berlin' },
  limits: { usd: 20, tokens: 5_000_000 },
  on_exceeded: 'stop',
};

t.test('stores a budget as submitted', async (t) => {
  t.strictSame(write(budgets, whole), whole);
  const { window: _, ...perRun } = { ...whole, per: ['run'] };
  t.strictSame(write(budgets, perRun), perRun);
});

refuses(t, budgets, whole, [
  [{ limits: {} }, "field 'limits' must have at least one limit"],
  [{ limits: { usd: 0 } }, "field 'limits.usd' must be above 0 and at most 9000000"],
  [{ limits: { usd: 9_000_001 } }, "field 'limits.usd' must be above 0 and at most 9000000"],
  [{ limits: { tokens: 0 } }, "invalid budget spec: field 'limits.tokens': must be at least 1"],
  [
    { limits: { tokens: 1.5 } },
    "invalid budget spec: field 'limits.tokens': must be an integer, not a fraction",
  ],
  [{ limits: { tokens: 1, steps: 3 } }, "invalid budget spec: unknown field 'steps'"],
  [{ match: { agent: 'a\\' } }, "field 'match.agent': pattern ends with a dangling escape (`\\`)"],
  [{ match: { team: 'x' } }, "invalid budget spec: unknown field 'team'"],
  [{ per: ['user', 'user'] }, "field 'per' must not repeat a property"],
  [{ per: ['run'] }, "field 'window' is not allowed with 'run' in 'per'"],
  [{ window: null }, "missing field 'window'"],
  [
    { window: { every: 'day', zone: 'Berlin' } },
    "field 'window.zone' must be an IANA time zone, such as 'Europe/Berlin'",
  ],
  [{ warn_at: [0.9, 0.5] }, "field 'warn_at' must be in ascending order"],
  [{ warn_at: [1] }, "field 'warn_at' must contain shares between 0 and 1"],
  [
    { on_exceeded: 'wait' },
    "invalid budget spec: field 'on_exceeded': must be one of 'pause', 'stop', 'observe'",
  ],
]);
