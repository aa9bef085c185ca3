import t from 'tap';
import { agentsIn, isMasked } from '../../src/console/screens/agents/import-agents.ts';
import { BOX, layoutOf } from '../../src/console/screens/agents/map-layout.ts';
import { graphOf, type Known, reachOf } from '../../src/console/screens/agents/reference-graph.ts';

/** The dependency graph of agents, and files that contain agents. */

const AGENT = {
  model_id: undefined,
  delegates: undefined,
  allowed_tools: undefined,
  allowed_tool_patterns: undefined,
  endpoint: undefined,
};

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
  ].map((agent) => ({ ...AGENT, ...agent })),
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

t.test('links agents to their dependencies and marks missing ones as dangling', async (t) => {
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
    'unused entries are listed',
  );
});

t.test('treats unconfigured dependencies as present unless diagnostics report them', async (t) => {
  const { columns, edges } = graphOf(KNOWN);
  t.strictSame(
    edges.filter(({ isDangling }) => isDangling),
    [{ from: 'agents/other', to: 'models/vanished', isDangling: true }],
  );
  t.match(columns[3], [{ isMissing: false }, { isMissing: false }]);
});

t.test('reaches all direct and indirect dependencies and dependents of a node', async (t) => {
  const reached = reachOf(graphOf(KNOWN), 'models/fast');
  t.ok(
    ['providers/p', 'model-pools/both', 'agents/helper', 'agents/planner'].every((key) => reached.has(key)),
  );
  t.notOk(reached.has('models/slow'), 'unconnected entries are not reached');
});

t.test('leads edges around boxes, and bundles those to the same target', async (t) => {
  const shared = ['a', 'b', 'c'].map((id) => ({ ...AGENT, id, model_id: 'slow' }));
  const graph = graphOf({ ...KNOWN, agents: [...KNOWN.agents, ...shared], diagnostics: undefined });
  const { places, heads, edges, width, height } = layoutOf(graph);
  t.equal(heads.size, 4);
  const second = heads.get(1) ?? 0;
  const boxes = graph.columns[1]?.map(({ key }) => places.get(key)?.y ?? 0) ?? [];
  t.equal(new Set(boxes).size, boxes.length);
  const passing = new Map<string, Set<number>>();
  for (const { from, to, path } of edges.filter((edge) =>
    /^agents.*models/.test(`${edge.from} ${edge.to}`),
  )) {
    if (to.startsWith('model-pools')) continue;
    const [, y] = new RegExp(`${second} ([\\d.]+)H${second + BOX.width}`).exec(path) ?? [];
    t.ok(y, `${from} passes the second column`);
    t.ok(boxes.every((box) => Math.abs(box - Number(y)) > BOX.height / 2));
    passing.set(to, (passing.get(to) ?? new Set()).add(Number(y)));
  }
  t.strictSame(
    [...passing].map(([to, heights]) => [to, heights.size]),
    [
      ['models/fast', 1],
      ['models/slow', 1],
    ],
  );
  t.ok([...places.values()].every(({ x, y }) => x >= 0 && x <= width && y > 0 && y < height));
  const delegation = edges.find(({ from, to }) => from === 'agents/planner' && to === 'agents/helper');
  t.match(delegation?.path, /^M56 /, 'delegations are arcs at the left');
});

t.test('reads one agent, a list or the response of a list route', async (t) => {
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
