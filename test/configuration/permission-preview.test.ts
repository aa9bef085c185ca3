import t from 'tap';
import { permissionPreview } from '../../src/configuration/permission-preview.ts';
import { type AgentInput, AgentSpec } from '../../src/schema/agent.ts';

const offer = {
  tools: ['Read', 'mcp__my_files__read', 'mcp__my_files__write', 'Bash'],
  mcp_servers: ['my-files', '--'],
};
const preview = (fields: Omit<AgentInput, 'id'>) =>
  permissionPreview(AgentSpec.parse({ id: 'a', ...fields }), offer);

t.test('lists registered tools that pass the catalog as candidates', async (t) => {
  t.match(preview({ allowed_tools: ['Read', 'Gone'] }), {
    permission_plugin_enabled: false,
    default_behavior: null,
    candidate_tools: ['Read'],
    effective_tools: ['Read'],
  });
  t.strictSame(preview({ allowed_tools: [], allowed_tool_patterns: [] }).candidate_tools, []);
  t.strictSame(preview({}).candidate_tools, [...offer.tools].sort());
});

t.test('accepts a server by its raw id in an entry', async (t) => {
  const both = ['mcp__my_files__read', 'mcp__my_files__write'];
  t.strictSame(preview({ allowed_tool_patterns: ['mcp__my-files__*'] }).candidate_tools, both);
  t.strictSame(preview({ allowed_tools: ['mcp__my-files__read'] }).candidate_tools, [both[0]]);
  t.strictSame(preview({ excluded_tool_patterns: ['mcp__my-files__*'] }).candidate_tools, ['Bash', 'Read']);
  t.strictSame(preview({ allowed_tool_patterns: ['mcp__other-files__*'] }).candidate_tools, []);
});

t.test('applies the rules of the permission plugin to the candidates', async (t) => {
  const section = {
    rules: [
      { tool: 'mcp__*', behavior: 'deny' },
      { tool: 'Read(/etc/*)', behavior: 'deny' },
    ],
  };
  t.match(preview({ plugin_ids: ['permission'], sections: { permission: section } }), {
    permission_plugin_enabled: true,
    default_behavior: 'ask',
    unconditionally_denied: ['mcp__my_files__read', 'mcp__my_files__write'],
    effective_tools: ['Bash', 'Read'],
    args_conditional_rules: [{ tool: 'Read', behavior: 'deny', pattern: 'Read(/etc/*)' }],
  });
});

t.test('rejects an invalid section', async (t) => {
  const sections = { permission: { default_behavior: 'maybe' } };
  t.throws(() => preview({ plugin_ids: ['permission'], sections }), {
    message: /^invalid config for plugin permission: section "permission"/,
  });
});
