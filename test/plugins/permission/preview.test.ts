import t from 'tap';
import { compileRule, evaluateRules } from '../../../src/plugins/permission/policy.ts';
import { previewPermissions } from '../../../src/plugins/permission/preview.ts';
import { AgentSpec } from '../../../src/schema/agent.ts';
import type { Json } from '../../../src/tools/tool.ts';
import fc from '../../random.ts';
import { anyRule } from './patterns.ts';

const agent = (section?: Json, plugin_ids = ['permission']) =>
  AgentSpec.parse({ id: 'guarded', plugin_ids, ...(section && { sections: { permission: section } }) });

const TOOLS = ['Read', 'Bash', 'Edit', 'Bash'];

t.test('lists every candidate as effective without the plugin, and no default', async (t) => {
  const preview = {
    agent_id: 'guarded',
    permission_plugin_enabled: false,
    default_behavior: null,
    candidate_tools: ['Bash', 'Edit', 'Read'],
    unconditionally_denied: [],
    effective_tools: ['Bash', 'Edit', 'Read'],
    args_conditional_rules: [],
  };
  const section = { rules: [{ tool: 'Bash', behavior: 'deny' }] };
  t.strictSame(previewPermissions(agent(section, []), TOOLS), preview);
  const filtered = { ...agent(section), active_hook_filter: ['reminder'] };
  t.strictSame(previewPermissions(filtered, TOOLS), preview, 'filtered tools are not listed');
});

t.test('keeps the plugin with an empty filter, or one that names it', async (t) => {
  for (const active_hook_filter of [[], ['permission'], null]) {
    const preview = previewPermissions({ ...agent(), active_hook_filter }, TOOLS);
    t.match(preview, { permission_plugin_enabled: true, default_behavior: 'ask' });
  }
});

t.test('separates denied, effective and conditional tools', async (t) => {
  const section = {
    default_behavior: 'allow',
    rules: [
      { tool: 'Bash', behavior: 'deny' },
      { tool: 'mcp__*', behavior: 'deny' },
      { tool: '/^x_/', behavior: 'deny' },
      { tool: 'Edit(/etc/*)', behavior: 'deny' },
      { tool: 'Edit(path="a")', behavior: 'allow' },
      { tool: 'Bash(rm *)', behavior: 'deny' },
      { tool: 'Gone(rm *)', behavior: 'deny' },
      { tool: 'Gone', behavior: 'deny' },
      { tool: 'Read', behavior: 'ask' },
      { tool: 'R*', behavior: 'ask' },
      { tool: '/ea/', behavior: 'allow' },
    ],
  };
  const tools = [...TOOLS, 'mcp__a__b', 'mcp__c__d', 'x_1'];
  t.strictSame(previewPermissions(agent(section), tools), {
    agent_id: 'guarded',
    permission_plugin_enabled: true,
    default_behavior: 'allow',
    candidate_tools: ['Bash', 'Edit', 'Read', 'mcp__a__b', 'mcp__c__d', 'x_1'],
    unconditionally_denied: ['Bash', 'mcp__a__b', 'mcp__c__d', 'x_1'],
    effective_tools: ['Edit', 'Read'],
    args_conditional_rules: [
      { tool: '/ea/', behavior: 'allow', pattern: '/ea/' },
      { tool: 'Edit', behavior: 'deny', pattern: 'Edit(/etc/*)' },
      { tool: 'Edit', behavior: 'allow', pattern: 'Edit(path = "a")' },
      { tool: 'R*', behavior: 'ask', pattern: 'R*' },
    ],
  });
});

t.test('names an invalid section when rejecting it', async (t) => {
  t.throws(() => previewPermissions(agent({ default_behavior: 'maybe' }), TOOLS), {
    name: 'Invalid',
    message: /section "permission"/,
  });
});

t.test('allows no arguments of a tool that the preview lists as denied', async () => {
  const args = fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom('x', 'y'), { noNullPrototype: true });
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 6 }), args, (rules, given) => {
      const tools = ['a', 'b', 'ab'];
      // Rules are JSON.
      const section = { rules } as unknown as Json;
      const { unconditionally_denied, effective_tools } = previewPermissions(agent(section), tools);
      const compiled = rules.map(compileRule);
      const isDenied = (name: string) =>
        evaluateRules(compiled, { behavior: 'ask', deciders: 'any' }, { name, arguments: given }).behavior ===
        'deny';
      return (
        unconditionally_denied.every(isDenied) && effective_tools.length + unconditionally_denied.length === 3
      );
    }),
    { numRuns: 1000 },
  );
});
