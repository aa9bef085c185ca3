import t from 'tap';
import { renderA2ui } from '../../../src/plugins/generative-ui/render.ts';
import { AgentSpec } from '../../../src/schema/agent.ts';
import { agentJson } from '../../../src/schema/agent-json.ts';
import type { EntriesInput } from '../../../src/settings/index.ts';
import { only, refusalOf, requestsOf, say, startWith, toolsIn } from './agents.ts';

/** The effects of agent specs on a running service: agent-loop.md 20, checks 23 to 31, 37 to 40, 52, 53. */

type Agent = NonNullable<EntriesInput['agents']>[number];

const own = (more: object): Agent => ({ id: 'x', model_id: 'default', ...more });

t.test('23: fills the defaults of a minimal spec', (t) => {
  t.match(agentJson(AgentSpec.parse({ id: 'x', model_id: 'default', system_prompt: 's' })), {
    backend: {
      kind: 'local',
      version: 1,
      config: { model_id: 'default', system_prompt: 's', max_rounds: 16 },
    },
    max_rounds: 16,
    max_continuation_retries: 2,
    plugin_ids: [],
    allowed_tools: null,
    allowed_tool_patterns: ['*'],
  });
  t.end();
});

const REFUSED: [name: string, entries: EntriesInput, says: RegExp][] = [
  ['24: an unknown field', { agents: [own({ foo: 1 })] }, /foo/],
  ['25: an unknown plugin', { agents: [own({ plugin_ids: ['nope'] })] }, /missing plugin 'nope'/],
  [
    '26: a section that its plugin rejects',
    {
      agents: [own({ plugin_ids: ['permission'], sections: { permission: { default_behavior: 'maybe' } } })],
    },
    /invalid config for plugin permission: section "permission" — /,
  ],
  ['27: an empty pattern', { agents: [own({ allowed_tool_patterns: [''] })] }, /pattern is empty/],
  [
    '27: a dangling escape',
    { agents: [own({ allowed_tool_patterns: ['a\\'] })] },
    /pattern ends with a dangling escape \(`\\`\)/,
  ],
  [
    '30: a limit above the maximum',
    { agents: [own({ stop_conditions: [{ type: 'timeout', seconds: 90_000 }] })] },
    /invalid agent spec: timeout\.seconds must be <= 86400, got 90000/,
  ],
  [
    '30: a budget above the maximum',
    { agents: [own({ stop_conditions: [{ type: 'token_budget', max_total: 100_000_001 }] })] },
    /invalid agent spec: token_budget\.max_total must be <= 100000000, got 100000001/,
  ],
  [
    '30: a window above the maximum',
    { agents: [own({ stop_conditions: [{ type: 'loop_detection', window: 65 }] })] },
    /invalid agent spec: loop_detection\.window must be <= 64, got 65/,
  ],
  [
    '30: a broken regular expression',
    { agents: [own({ stop_conditions: [{ type: 'content_match', pattern: '(' }] })] },
    /invalid agent spec: content_match\.pattern must be valid regex: /,
  ],
  [
    '30: an unknown field of a stop condition',
    { agents: [own({ stop_conditions: [{ type: 'max_rounds', rounds: 1, more: 1 }] })] },
    /more/,
  ],
  [
    '37: a pool that names a member twice',
    { model_pools: [{ id: 'p', members: [{ model_id: 'default' }, { model_id: 'default' }] }] },
    /duplicate member model_id 'default'/,
  ],
  [
    '37: a pool without a home-eligible member',
    { model_pools: [{ id: 'p', members: [{ model_id: 'default', role: 'failover_only' }] }] },
    /at least one member must be home-eligible/,
  ],
  [
    '37: a pool without members',
    { model_pools: [{ id: 'p', members: [] }] },
    /must declare at least one member/,
  ],
  [
    '37: a pool with the id of a model',
    { model_pools: [{ id: 'default', members: [{ model_id: 'default' }] }] },
    /default/,
  ],
  ['38: an address that is not HTTP', { agents: [own({ endpoint: { base_url: 'ftp://h' } })] }, /base_url/],
  [
    '38: an address with a query',
    { agents: [own({ endpoint: { base_url: 'http://h/?q=1' } })] },
    /base_url must not contain a query string/,
  ],
  [
    '38: an address with a fragment',
    { agents: [own({ endpoint: { base_url: 'http://h/#f' } })] },
    /base_url must not contain a fragment/,
  ],
  [
    '38: a token that was redacted',
    { agents: [own({ endpoint: { base_url: 'http://h', auth: { type: 'bearer', token: '***' } } })] },
    /auth token cannot be a redacted placeholder/,
  ],
  [
    '38: another kind of authentication',
    { agents: [own({ endpoint: { base_url: 'http://h', auth: { type: 'basic', token: 'x' } } })] },
    /remote endpoint auth type 'basic' is unsupported/,
  ],
  [
    '1.2: both a backend and an endpoint',
    {
      agents: [
        own({ backend: { kind: 'local', version: 1, config: {} }, endpoint: { base_url: 'http://h' } }),
      ],
    },
    /cannot mix canonical backend and legacy endpoint fields/,
  ],
  [
    '1.2: an unknown backend',
    { agents: [own({ backend: { kind: 'x', version: 1, config: {} } })] },
    /unsupported backend kind 'x'/,
  ],
  [
    '52: a context policy that lacks a field',
    {
      agents: [
        own({
          context_policy: { max_context_tokens: 4096, max_output_tokens: 1024, min_recent_messages: 4 },
        }),
      ],
    },
    /enable_prompt_cache/,
  ],
  ['53: an unknown adapter', { providers: [{ id: 'p', adapter: 'nope' }] }, /provider 'p': .*nope/],
  [
    '53: a header that is not text',
    { providers: [{ id: 'p', adapter: 'openai', api_key: 'k', adapter_options: { headers: { x: 1 } } }] },
    /adapter_options\.headers\[x\] must be a string/,
  ],
  [
    '53: headers that are not an object',
    { providers: [{ id: 'p', adapter: 'openai', api_key: 'k', adapter_options: { headers: [] } }] },
    /adapter_options\.headers must be an object of string -> string pairs/,
  ],
  ['1.8: a missing model', { agents: [own({ model_id: 'nope' })] }, /missing model 'nope'/],
  [
    '2.1: an output limit above the context window',
    {
      models: [
        {
          id: 'm',
          provider_id: 'default',
          upstream_model: 'u',
          context_window: 1000,
          max_output_tokens: 2000,
        },
      ],
    },
    /max_output_tokens \(2000\) must not exceed context_window \(1000\)/,
  ],
  [
    '9.3: retry settings without their required field',
    { agents: [own({ sections: { retry: {} } })] },
    /section "retry" — .*max_retries/,
  ],
  [
    '14.2: a reminder with an unknown target',
    {
      agents: [
        own({
          plugin_ids: ['reminder'],
          sections: { reminder: { rules: [{ tool: '*', message: { target: 'nowhere', content: 'x' } }] } },
        }),
      ],
    },
    /invalid config for plugin reminder: section "reminder" — /,
  ],
];

for (const [name, entries, words] of REFUSED) {
  t.test(`rejects ${name}`, async (t) => t.match(await refusalOf(t, entries), words));
}

t.test('27: rejects a tool that two sources register', async (t) => {
  const agents = [own({ plugin_ids: ['generative-ui'] })];
  t.match(
    await refusalOf(t, { agents, tools: [renderA2ui] }),
    /tool ID conflict: "render_a2ui" registered by both global and plugin/,
  );
});

t.test('28, 29, 39: does not offer tools that the catalog rules exclude', async (t) => {
  const troupe = await startWith(t, {
    agents: [
      own({ id: 'listed', allowed_tools: ['get_stock_price'] }),
      own({ id: 'excluded', excluded_tool_patterns: ['get_*'] }),
      own({ id: 'denied', allowed_tools: null, allowed_tool_patterns: null }),
      own({ id: 'listed-steps', model_id: 'steps', allowed_tools: ['get_stock_price'] }),
      own({ id: 'denied-steps', model_id: 'steps', allowed_tools: null, allowed_tool_patterns: null }),
      own({ id: 'union', model_id: 'steps', allowed_tools: ['finish'], allowed_tool_patterns: ['get_*'] }),
      own({
        id: 'less',
        model_id: 'steps',
        allowed_tool_patterns: ['get_*'],
        excluded_tools: ['get_weather'],
      }),
      own({ id: 'nothing', model_id: 'steps', allowed_tools: [] }),
    ],
  });
  for (const [agent, words, tool] of [
    ['listed', 'RUN_WEATHER_TOOL', 'get_weather'],
    ['excluded', 'RUN_WEATHER_TOOL', 'get_weather'],
    ['excluded', 'RUN_STOCK_TOOL', 'get_stock_price'],
    ['denied', 'RUN_STOCK_TOOL', 'get_stock_price'],
  ] as const) {
    const events = await troupe.runToEnd(say(agent, words));
    t.match(only(events, 'tool_call_done')[0], {
      outcome: 'failed',
      result: { message: `tool '${tool}' not found` },
    });
  }
  const offered: Record<string, string[]> = {
    'listed-steps': ['get_stock_price'],
    'denied-steps': [],
    union: ['finish', 'get_stock_price', 'get_weather'],
    less: ['get_stock_price'],
    nothing: [],
  };
  for (const [agent, tools] of Object.entries(offered)) {
    await troupe.runToEnd(say(agent));
    t.strictSame(toolsIn(requestsOf(troupe).at(-1)).sort(), tools, agent);
  }
});

t.test('applies gates and tools only of the plugins in an active hook filter', async (t) => {
  const troupe = await startWith(t, {
    agents: [
      own({ id: 'both', model_id: 'steps', plugin_ids: ['permission', 'generative-ui'] }),
      own({
        id: 'filtered',
        plugin_ids: ['permission', 'generative-ui'],
        active_hook_filter: ['generative-ui'],
        max_rounds: 2,
      }),
      own({
        id: 'other',
        model_id: 'steps',
        plugin_ids: ['permission', 'generative-ui'],
        active_plugins: ['permission'],
      }),
    ],
  });
  await troupe.runToEnd(say('both'));
  t.ok(toolsIn(requestsOf(troupe).at(-1)).includes('render_a2ui'));
  await troupe.runToEnd(say('other'));
  t.notOk(toolsIn(requestsOf(troupe).at(-1)).includes('render_a2ui'));
  t.notOk(requestsOf(troupe).at(-1)?.system.join().includes('render_a2ui'));
  const events = await troupe.runToEnd(say('filtered', 'RUN_WEATHER_TOOL'));
  t.match(only(events, 'tool_call_done')[0], { outcome: 'succeeded' }, 'the call needs no approval');
});
