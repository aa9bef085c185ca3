import t from 'tap';
import {
  type Behavior,
  compileRule,
  evaluateRules,
  type Rule,
} from '../../../src/plugins/permission/policy.ts';
import type { Json } from '../../../src/tools/tool.ts';
import fc from '../../random.ts';
import { anyCall, anyRule } from './patterns.ts';

const verdict = (rules: readonly Rule[], name: string, args: Json = {}, otherwise: Behavior = 'ask') =>
  evaluateRules(rules.map(compileRule), { behavior: otherwise, deciders: 'any' }, { name, arguments: args });

const rule = (tool: string, behavior: Behavior): Rule => ({ tool, behavior });

t.test('prefers deny over allow over ask, whatever the order and the specificity', async (t) => {
  const rules = [rule('get_weather', 'allow'), rule('*', 'ask'), rule('get_*', 'deny')];
  for (const order of [rules, rules.toReversed()]) {
    t.equal(verdict(order, 'get_weather').behavior, 'deny');
    t.equal(verdict(order, 'other').behavior, 'ask');
  }
  t.equal(verdict([rule('get_*', 'allow'), rule('get_weather', 'ask')], 'get_weather').behavior, 'allow');
});

t.test('applies the default to a call without a matching rule, and reports no rule', async (t) => {
  for (const otherwise of ['allow', 'ask', 'deny'] as const) {
    t.strictSame(verdict([rule('x', 'deny')], 'y', {}, otherwise), {
      behavior: otherwise,
      deciders: 'any',
      rule: undefined,
    });
  }
});

/** From the most to the least specific; each one matches the call. */
const ranking = [
  'Bash(command = "rm x", cwd = "/")',
  'Bash(command ~ "rm *", cwd = "/")',
  'Bash(command ~ "rm *", cwd ~ "/*")',
  'Bash(command =~ "rm", cwd !=~ "x")',
  'Bash(command = "rm x")',
  'Bash(command ~ "rm *")',
  'Bash(command =~ "rm")',
  'Bash(command != "x")',
  'Bash(command !~ "x")',
  'Bash(command !=~ "y")',
  'Bash',
  'B*(command = "rm x")',
  'B*',
  '/B/(command = "rm x")',
  '/B/',
];
t.test('reports the most specific rule with the winning behavior', async (t) => {
  const args = { command: 'rm x', cwd: '/' };
  for (const [position, tool] of ranking.entries()) {
    const rules = ranking.slice(position).map((text) => rule(text, 'deny'));
    t.equal(verdict(rules, 'Bash', args).rule?.tool, tool);
    t.equal(
      verdict(rules.toReversed(), 'Bash', args).rule?.tool,
      tool,
      'the order of the rules does not matter',
    );
  }
});

t.test('reports the first of equally specific rules', async (t) => {
  const rules: Rule[] = [
    { tool: 'a', behavior: 'ask', timeout_secs: 1 },
    { tool: 'a', behavior: 'ask', timeout_secs: 2 },
  ];
  t.equal(verdict(rules, 'a').rule?.timeout_secs, 1);
});

t.test('always prefers deny', async () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 6 }), anyCall, (rules, call) => {
      const denied = rules.some((one) => one.behavior === 'deny' && compileRule(one).matches(call));
      const { behavior } = verdict(rules, call.name, call.arguments);
      return denied === (behavior === 'deny');
    }),
    { numRuns: 2000 },
  );
});

t.test('never allows a denied call after adding an allow rule, at any position', async () => {
  const allow = anyRule.map(({ tool }) => rule(tool, 'allow'));
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 6 }), allow, fc.nat(6), anyCall, (rules, more, at, call) => {
      const { behavior } = verdict(rules, call.name, call.arguments);
      const after = verdict(rules.toSpliced(at, 0, more), call.name, call.arguments).behavior;
      return behavior === 'deny' ? after === 'deny' : after !== 'deny';
    }),
    { numRuns: 2000 },
  );
});

t.test('ignores the order of the rules', async () => {
  const shuffled = fc
    .array(anyRule, { maxLength: 6 })
    .chain((rules) => fc.tuple(fc.constant(rules), fc.shuffledSubarray(rules, { minLength: rules.length })));
  fc.assert(
    fc.property(shuffled, anyCall, ([rules, others], call) => {
      const one = verdict(rules, call.name, call.arguments).behavior;
      return one === verdict(others, call.name, call.arguments).behavior;
    }),
    { numRuns: 1000 },
  );
});
