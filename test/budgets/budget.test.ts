import t from 'tap';
import { createBudget, SUBJECT } from './entries.ts';

t.test('a budget matches by the patterns of its entry', async (t) => {
  t.ok(createBudget({ limits: { tokens: 1 } }).matches(SUBJECT));
  t.ok(createBudget({ limits: { tokens: 1 }, match: { scope: 'ac*', user: '*' } }).matches(SUBJECT));
  t.notOk(createBudget({ limits: { tokens: 1 }, match: { agent: 'supp' } }).matches(SUBJECT));
  t.notOk(createBudget({ limits: { tokens: 1 }, match: { scope: 'acme', model: 'slow' } }).matches(SUBJECT));
});

t.test('each combination of the properties has its own counter', async (t) => {
  const budget = createBudget({ limits: { tokens: 1 }, per: ['user', 'scope'] });
  const other = { ...SUBJECT, user: 'bob' };
  t.not(budget.combinationOf(SUBJECT), budget.combinationOf(other));
  t.equal(budget.combinationOf(SUBJECT), budget.combinationOf({ ...SUBJECT, agent: 'billing' }));
  t.not(
    budget.combinationOf({ ...SUBJECT, scope: 'a', user: 'b","c' }),
    budget.combinationOf({ ...SUBJECT, scope: 'a","b', user: 'c' }),
  );
});

t.test('only a change of match, per or window starts new counters', async (t) => {
  const entry = { limits: { tokens: 1 }, match: { agent: 'a', scope: 's' }, per: ['user', 'scope'] };
  const { identity } = createBudget(entry);
  const same = [
    { ...entry, limits: { usd: 2 } },
    { ...entry, match: { scope: 's', agent: 'a', user: '*' } },
    { ...entry, per: ['scope', 'user'] },
    { ...entry, on_exceeded: 'observe', warn_at: [0.5] },
    { ...entry, window: { every: 'total', zone: 'UTC' } },
  ];
  for (const each of same) t.equal(createBudget(each).identity, identity, JSON.stringify(each));
  const different = [
    { ...entry, match: { agent: 'a' } },
    { ...entry, per: ['user'] },
    { ...entry, window: { every: 'day' } },
  ];
  for (const each of different) t.not(createBudget(each).identity, identity, JSON.stringify(each));
});
