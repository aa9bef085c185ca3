import t from 'tap';
import { agentsIn, isMasked } from '../../src/console/screens/agents/import-agents.ts';
import { graphOf, type Known, reachOf } from '../../src/console/screens/agents/reference-graph.ts';

/** What agents stand on, and what is read of a file of agents. */

const KNOWN: Known = {
  agents: [
    { id: 'planner', model_id: 'both', delegates: ['helper', 'partner/expert', 'gone'], endpoint: undefined },
    { id: 'helper', model_id: 'fast', allowed_tool_patterns: ['mcp__my_files__*'], endpoint: undefined },
    { id: 'far', model_id: 'ignored', endpoint: { options: { a2a_server_id: 'partner' } } },
    {
      id: 'other',
      allowed_tools: ['mcp__my.files__read'],
      allowed_tool_patterns: ['*'],
      endpoint: undefined,
    },
  ].map((agent) => ({
    delegates: undefined,
    allowed_tools: undefined,
    allowed_tool_patterns: undefined,
    model_id: undefined,
    ...agent,
  })),
  models: [
    { id: 'fast', provider_id: 'p' },
    { id: 'slow', provider_id: 'q' },
  ],
  pools: [{ id: 'both', members: [{ model_id: 'fast' }, { model_id: 'slow' }, { model_id: 'lost' }] }],
  providers: [{ id: 'p' }],
  mcpServers: [{ id: 'my.files' }, { id: 'unused' }],
  a2aServers: [{ id: 'partner' }],
  diagnostics: [
    {
      code: 'agent_missing_model',
      severity: 'error',
      resource: { namespace: 'agents', id: 'other' },
      depends_on: { namespace: 'models', id: 'vanished' },
      message: '',
    },
  ],
};

t.test('references lead from agents to what they stand on, and dangle where that is not there', async (t) => {
  const graph = graphOf({ ...KNOWN, diagnostics: undefined });
  const lines = graph.edges.map(({ from, to, isDangling }) => `${from} → ${to}${isDangling ? ' !' : ''}`);
  t.strictSame(lines.sort(), [
    'agents/far → a2a-servers/partner',
    'agents/helper → mcp-servers/my.files',
    'agents/helper → models/fast',
    'agents/other → mcp-servers/my.files',
    'agents/planner → a2a-servers/partner',
    'agents/planner → agents/gone !',
    'agents/planner → agents/helper',
    'agents/planner → model-pools/both',
    'model-pools/both → models/fast',
    'model-pools/both → models/lost !',
    'model-pools/both → models/slow',
    'models/fast → providers/p',
    'models/slow → providers/q !',
  ]);
  t.strictSame(
    graph.columns.map((nodes) => nodes.filter(({ isMissing }) => isMissing).map(({ id }) => id)),
    [['gone'], [], ['lost'], ['q']],
  );
  t.ok(
    graph.columns[1]?.some(({ id }) => id === 'unused'),
    'what nobody uses is there too',
  );
});

t.test('what the service does not miss is there, though not in the configuration', async (t) => {
  const { columns, edges } = graphOf(KNOWN);
  t.strictSame(
    edges.filter(({ isDangling }) => isDangling),
    [{ from: 'agents/other', to: 'models/vanished', isDangling: true }],
  );
  t.match(columns[3], [{ isMissing: false }, { isMissing: false }]);
});

t.test('who is pointed at shows all that it stands on, and all that stands on it', async (t) => {
  const reached = reachOf(graphOf(KNOWN), 'models/fast');
  t.ok(
    ['providers/p', 'model-pools/both', 'agents/helper', 'agents/planner'].every((key) => reached.has(key)),
  );
  t.notOk(reached.has('models/slow'), 'but not what stands beside it');
});

t.test('a file of agents is one, a list, or the answer of a list route', async (t) => {
  const a = { id: 'a', model_id: 'm', created_at: 1, updated_at: 2 };
  const found = { found: [{ id: 'a', spec: { id: 'a', model_id: 'm' } }] };
  for (const written of [a, [a], { items: [a] }, { agents: [a] }])
    t.strictSame(agentsIn(JSON.stringify(written)), found);
  t.strictSame(agentsIn('{'), { problem: 'json' });
  t.strictSame(agentsIn('[]'), { problem: 'none' });
  t.strictSame(agentsIn('[{"model_id":"m"}]'), { problem: 'id' });
  t.strictSame(agentsIn(JSON.stringify([a, a])), { problem: 'twice' });
  t.ok(isMasked({ endpoint: { auth: { token: '***' } } }));
  t.notOk(isMasked({ system_prompt: 'Say *** often' }));
});
