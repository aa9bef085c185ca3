import t from 'tap';
import { rememberDecision } from '../../../src/plugins/permission/decision.ts';
import { createExpiry } from '../../../src/plugins/permission/expiry.ts';
import { permissionPolicy } from '../../../src/plugins/permission/state.ts';
import type { Resume } from '../../../src/schema/activation.ts';
import type { Json } from '../../../src/tools/tool.ts';
import { stateStore } from '../context.ts';

const decided = (result: Json, action: Resume['action'] = 'resume'): Resume => ({
  decision_id: 'd1',
  action,
  result,
  reason: 'because',
  updated_at: 1,
});

/** The thread state after these decisions on calls of a tool. */
const remembered = (name: string, ...decisions: Resume[]) => {
  const { view, apply } = stateStore();
  for (const decision of decisions) {
    const call = { id: 'c1', name, arguments: {}, decision };
    const change = rememberDecision(call, { state: view, now: () => 7 }, 'ask');
    if (change) apply([change]);
  }
  return view.get(permissionPolicy);
};

t.test('stores a remembered decision as a rule with its source', async (t) => {
  t.strictSame(remembered('send_mail', decided({ approved: true, remember: 'thread' })), {
    default_behavior: 'ask',
    rules: [
      {
        tool: 'send_mail',
        behavior: 'allow',
        scope: 'thread',
        decision_id: 'd1',
        reason: 'because',
        granted_at: 7,
      },
    ],
  });
});

t.test('stores a remembered denial as a deny rule', async (t) => {
  const refusal = decided({ remember: 'session' }, 'cancel');
  t.match(remembered('rm', refusal), { rules: [{ tool: 'rm', behavior: 'deny', scope: 'session' }] });
  const polite = decided({ approved: false, remember: 'project' });
  t.match(remembered('rm', polite), { rules: [{ tool: 'rm', behavior: 'deny', scope: 'project' }] });
});

t.test('stores a pattern instead of the tool', async (t) => {
  const pattern = 'Bash(command ~ "git *")';
  const state = remembered('Bash', decided({ approved: true, remember: 'thread', pattern }));
  t.match(state, { rules: [{ tool: pattern, behavior: 'allow' }] });
});

t.test('escapes the id of a tool that looks like a pattern', async (t) => {
  t.match(remembered('a*(b)', decided({ approved: true, remember: 'thread' })), {
    rules: [{ tool: 'a\\*\\(b)' }],
  });
  t.match(remembered('/x/', decided({ approved: true, remember: 'thread' })), { rules: [{ tool: '\\/x/' }] });
});

const forgotten: [why: string, payload: Json][] = [
  ['no payload', null],
  ['only this once', { remember: 'once' }],
  ['no known scope', { remember: 'galaxy' }],
  ['a pattern about another tool', { remember: 'thread', pattern: 'Read' }],
  ['a pattern about more tools', { approved: true, remember: 'thread', pattern: '*' }],
  ['an invalid pattern', { remember: 'thread', pattern: 'Bash(command ~ "x)' }],
  ['an invalid expression', { remember: 'thread', pattern: '/Bash(/' }],
  ['a pattern that is not text', { remember: 'thread', pattern: 1 }],
  ['a pattern of 1025 characters', { remember: 'thread', pattern: '*'.repeat(1025) }],
];
for (const [why, payload] of forgotten) {
  t.test(`stores nothing: ${why}`, async (t) => {
    t.equal(remembered('Bash', decided(payload)), undefined);
  });
}

t.test('stores a repeated decision once, but another one in addition', async (t) => {
  const allow = decided({ approved: true, remember: 'thread' });
  t.equal(remembered('rm', allow, allow)?.rules.length, 1);
  const both = remembered('rm', allow, decided({ remember: 'thread' }, 'cancel'));
  t.strictSame(
    both?.rules.map(({ behavior }) => behavior),
    ['allow', 'deny'],
  );
});

t.test('expires only under a rule with a time limit', async (t) => {
  const rule = { tool: 'x', behavior: 'ask' } as const;
  t.equal(createExpiry(undefined, 1000), undefined);
  t.equal(createExpiry(rule, 1000), undefined);
  t.strictSame(createExpiry({ ...rule, timeout_secs: 5 }, 1000), { at: 6000, outcome: 'cancel' });
  t.strictSame(createExpiry({ ...rule, timeout_secs: 5, on_timeout: 'deny' }, 0), {
    at: 5000,
    outcome: 'cancel',
  });
  t.strictSame(createExpiry({ ...rule, timeout_secs: 5, on_timeout: 'approve' }, 0), {
    at: 5000,
    outcome: 'resume',
  });
});

t.test('renews a remembered rule that is older than the definition of the tool', async (t) => {
  const { view, apply } = stateStore();
  const decide = (granted_at: number, changed_at?: number): unknown => {
    const decision = decided({ approved: true, remember: 'thread' });
    const call = {
      id: 'c1',
      name: 'x',
      arguments: {},
      decision,
      ...(changed_at !== undefined && { changed_at }),
    };
    const change = rememberDecision(call, { state: view, now: () => granted_at }, 'ask');
    if (change) apply([change]);
    return view.get(permissionPolicy)?.rules.map((rule) => rule.granted_at);
  };
  t.strictSame(decide(5), [5]);
  t.strictSame(decide(6), [5], 'an existing rule is not duplicated');
  t.strictSame(decide(9, 8), [9]);
});
