import t from 'tap';
import { z } from 'zod';
import { mergeRecords, NO_RECORDS } from '../../src/configuration/records.ts';
import { createRegistry, type RegistryInput } from '../../src/configuration/registry.ts';
import { defineProvider } from '../../src/models/define.ts';
import { definePlugin } from '../../src/plugins/define.ts';
import type { Plugin } from '../../src/plugins/plugin.ts';
import type { AgentInput } from '../../src/schema/agent.ts';
import { type EntriesInput, entriesFrom } from '../../src/settings/index.ts';
import { createCatalogue } from '../../src/tools/catalogue.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { NO_TRANSPORT } from '../models/create-provider.ts';
import { NO_SUB_AGENTS } from '../tools/sub-agents.ts';
import { plainRoutes } from './routes.ts';

const tool = (id: string) =>
  defineTool({ id, description: '', input: z.object({}), execute: () => ({ data: null }) });

const provider = defineProvider({ id: 'p', stream: async () => ({ stop: 'EndTurn' }) });
const modelOf = (id: string, provider_id = 'p') => ({ id, provider_id, upstream_model: `${id}-upstream` });

const registryOf = (lists: EntriesInput, more: Partial<RegistryInput> = {}) =>
  createRegistry({
    records: entriesFrom({ models: [modelOf('m')], ...lists }),
    catalogue: createCatalogue([tool('get_weather'), tool('finish')]),
    plugins: [],
    providers: [provider],
    routes: plainRoutes,
    subAgents: NO_SUB_AGENTS,
    env: {},
    transport: NO_TRANSPORT,
    resolution_id: '7',
    ...more,
  });

/** The agent `a` with these fields, on model `m`. */
const agentOf = (fields: Omit<AgentInput, 'id'>, plugins: readonly Plugin[] = []) => {
  const registry = registryOf({ agents: [{ id: 'a', model_id: 'm', ...fields }] }, { plugins });
  return { problems: registry.problems(), resolve: () => registry.resolve('a') };
};

t.test('resolves an agent with its model, tools and rounds', async (t) => {
  const { problems, resolve } = agentOf({ max_rounds: 4 });
  t.strictSame(problems, []);
  t.match(resolve(), { spec: { id: 'a', max_rounds: 4 }, model: { id: 'm', upstream: 'm-upstream' } });
  t.strictSame([...resolve().tools.keys()], ['get_weather', 'finish']);
  t.equal(resolve().resolution_id, '7');
  t.throws(() => registryOf({}).resolve('nope'), { name: 'Invalid', message: 'agent not found: nope' });
});

t.test('prefers the later of two records with one id', async (t) => {
  const agents = (max_rounds: number) => entriesFrom({ agents: [{ id: 'a', model_id: 'm', max_rounds }] });
  const records = mergeRecords(agents(1), entriesFrom({ models: [modelOf('m')] }), agents(2));
  t.equal(registryOf({}, { records }).resolve('a').spec.max_rounds, 2);
});

t.test('reports missing references when an agent is resolved, and lists each once', async (t) => {
  const table: [EntriesInput, resolution: string, problems: string[]][] = [
    [
      { agents: [{ id: 'a', model_id: 'x' }] },
      'model not found: x',
      ["agent 'a' references missing model 'x'"],
    ],
    [
      { agents: [{ id: 'a', model_id: 'm', plugin_ids: ['x'] }] },
      'plugin not found: x',
      ["agent 'a' uses missing plugin 'x'"],
    ],
    [
      { agents: [{ id: 'a', model_id: 'm', delegates: ['x', 'x'] }] },
      'agent not found: x',
      ["agent 'a' delegates to missing agent 'x'"],
    ],
    [
      { models: [modelOf('m', 'x')], agents: [{ id: 'a', model_id: 'm' }] },
      'provider not found: x',
      ["model 'm' references missing provider 'x'"],
    ],
    [
      { model_pools: [{ id: 'q', members: [{ model_id: 'x' }] }], agents: [{ id: 'a', model_id: 'q' }] },
      "model pool 'q' references missing model 'x'",
      ["model pool 'q' references missing model 'x'"],
    ],
    [
      { model_pools: [{ id: 'm', members: [{ model_id: 'm' }] }], agents: [{ id: 'a', model_id: 'm' }] },
      'model id resolves to both a model and a model pool: m',
      ["model registry conflict: pool 'm' already registered as a model"],
    ],
    [
      {
        providers: [{ id: 'bad', adapter: 'nope' }],
        models: [modelOf('m', 'bad')],
        agents: [{ id: 'a', model_id: 'm' }],
      },
      'unsupported provider adapter: nope',
      ["provider 'bad': unsupported provider adapter: nope"],
    ],
    [
      {
        providers: [{ id: 'keyless', adapter: 'openai', adapter_options: { allow_env_credentials: true } }],
        models: [modelOf('m', 'keyless')],
        agents: [{ id: 'a', model_id: 'm' }],
      },
      "provider 'keyless' has no api_key and the environment variable OPENAI_API_KEY is not set",
      ["provider 'keyless' has no api_key and the environment variable OPENAI_API_KEY is not set"],
    ],
  ];
  for (const [lists, resolution, problems] of table) {
    const registry = registryOf(lists);
    t.strictSame(
      registry.problems().map((problem) => problem.replace(/ \(supported: .*\)$/, '')),
      problems,
    );
    t.throws(() => registry.resolve('a'), { message: resolution });
  }
});

t.test('reports a dangling name as a problem, but resolves the agent', async (t) => {
  const { problems, resolve } = agentOf({ active_hook_filter: ['y'] });
  t.strictSame(problems, ["agent 'a' active hook filter references unloaded plugin 'y'"]);
  t.doesNotThrow(resolve);
});

t.test('isolates a broken agent from the others', async (t) => {
  const registry = registryOf({
    agents: [
      { id: 'bad', model_id: 'm', excluded_tool_patterns: [''] },
      { id: 'good', model_id: 'm' },
    ],
  });
  t.match(registry.problems(), [
    "bad: agent spec 'bad' has invalid tool catalog: excluded_tool_patterns[] is not a valid pattern: pattern is empty",
  ]);
  t.doesNotThrow(() => registry.resolve('good'));
});

t.test('validates the limits of stop conditions and remote agents', async (t) => {
  t.throws(agentOf({ stop_conditions: [{ type: 'timeout', seconds: 90_000 }] }).resolve, {
    message: 'invalid agent spec: timeout.seconds must be <= 86400, got 90000',
  });
  t.throws(agentOf({ stop_conditions: [{ type: 'content_match', pattern: '(' }] }).resolve, {
    message: /content_match\.pattern must be valid regex/,
  });
  t.throws(agentOf({ endpoint: { base_url: 'http://h' } }).resolve, {
    message: 'unsupported remote backend `a2a` for agent `a`',
  });
});

t.test('accepts a pool instead of a model', async (t) => {
  const registry = registryOf({
    models: [modelOf('m1'), modelOf('m2')],
    model_pools: [{ id: 'q', members: [{ model_id: 'm2' }, { model_id: 'm1' }] }],
    agents: [{ id: 'a', model_id: 'q' }],
  });
  t.match(registry.resolve('a').model, { id: 'q', upstream: 'm2-upstream' });
});

t.test('limits the context policy to the capabilities of the model', async (t) => {
  const context_policy = {
    max_context_tokens: 10_000,
    max_output_tokens: 9000,
    min_recent_messages: 2,
    enable_prompt_cache: false,
  };
  const registry = registryOf({
    models: [{ ...modelOf('m'), context_window: 4000, max_output_tokens: 1000 }],
    agents: [
      { id: 'a', model_id: 'm', context_policy },
      { id: 'b', model_id: 'm' },
    ],
  });
  t.match(registry.resolve('a').contextPolicy, { max_context_tokens: 4000, max_output_tokens: 1000 });
  t.match(registry.resolve('a').compaction, { settings: { mode: 'background' } });
  t.strictSame(
    [registry.resolve('b').contextPolicy, registry.resolve('b').compaction],
    [undefined, undefined],
  );
});

const plugin = (id: string, toolId = `${id}_tool`) =>
  definePlugin({
    id,
    section: { key: id, schema: z.strictObject({ level: z.number().default(1) }) },
    create: ({ level }, { tools }) => ({
      hooks: { run_start: () => ({}) },
      gate: () => ({ kind: 'proceed' }),
      tools: [tool(toolId)],
      actions: {
        [`${id}:seen`]: () => ({ state: [], actions: [{ key: `${id}:${tools.length}`, payload: level }] }),
      },
      transformRequest: (request) => request,
      stop_conditions: [{ type: 'stop_on_tool', tool_name: toolId }],
    }),
  });

t.test(
  'orders plugins as in the spec, then those of the runtime, each with the tools before it',
  async (t) => {
    const { resolve, problems } = agentOf({ plugin_ids: ['two', 'one', 'two'] }, [
      plugin('one'),
      plugin('two'),
    ]);
    t.strictSame(problems, []);
    const { plugins, tools } = resolve();
    t.strictSame(
      plugins.map(({ id }) => id),
      ['two', 'one', 'context_transform', 'knowledge_cutoff_context', 'retry', 'compaction'],
    );
    t.strictSame([...tools.keys()], ['get_weather', 'finish', 'two_tool', 'one_tool']);
    const seen = plugins
      .slice(0, 2)
      .map(({ id, parts }) => Object.keys(parts.actions ?? {}).includes(`${id}:seen`));
    t.strictSame(seen, [true, true]);
  },
);

t.test('applies tool rules to tools of plugins', async (t) => {
  const only = agentOf({ plugin_ids: ['one'], allowed_tools: ['one_tool'] }, [plugin('one')]);
  t.strictSame([...only.resolve().tools.keys()], ['one_tool']);
  const without = agentOf({ plugin_ids: ['one'], excluded_tool_patterns: ['one_*'] }, [plugin('one')]);
  t.strictSame([...without.resolve().tools.keys()], ['get_weather', 'finish']);
});

t.test('keeps only scheduled actions of plugins outside the hook filter', async (t) => {
  const { resolve } = agentOf({ plugin_ids: ['one', 'two'], active_hook_filter: ['two'] }, [
    plugin('one'),
    plugin('two'),
  ]);
  const [one, two, transform] = resolve().plugins;
  t.strictSame(Object.keys(one?.parts ?? {}), ['actions']);
  t.ok(two?.parts.hooks && two.parts.gate && two.parts.transformRequest);
  t.equal(transform?.id, 'context_transform');
  t.strictSame([...resolve().tools.keys()], ['get_weather', 'finish', 'two_tool']);
});

t.test('applies stop conditions of plugins', async (t) => {
  const { resolve } = agentOf({ plugin_ids: ['one'] }, [plugin('one')]);
  const stats = {
    step_count: 1,
    total_input_tokens: 0,
    total_output_tokens: 0,
    start_time_ms: 0,
    consecutive_errors: 0,
    recent_response_texts: [],
  };
  const verdict = resolve().stop.evaluate(
    stats,
    { text: '', calls: [{ name: 'one_tool' }], usage: undefined },
    0,
  );
  t.match(verdict, { type: 'stopped', value: { code: 'stop_on_tool' } });
});

t.test('rejects a tool that two sources register', async (t) => {
  t.throws(agentOf({ plugin_ids: ['one'] }, [plugin('one', 'finish')]).resolve, {
    message: 'tool ID conflict: "finish" registered by both global and plugin',
  });
  const both = [plugin('one', 't'), plugin('two', 't')];
  t.throws(agentOf({ plugin_ids: ['one', 'two'] }, both).resolve, {
    message: 'tool ID conflict: "t" registered by both plugin and plugin',
  });
  t.throws(() => agentOf({}, [plugin('one'), plugin('one')]), { message: /plugin ID conflict: .*"one"/ });
});

t.test('validates sections, including those of the runtime, and keeps unused ones', async (t) => {
  const broken = agentOf({ plugin_ids: ['one'], sections: { one: { level: 'high' } } }, [plugin('one')]);
  t.throws(broken.resolve, { message: /^invalid config for plugin one: section "one" — level: / });
  t.match(broken.problems, [/^a: invalid config for plugin one: section "one" — /]);
  const retry = agentOf({ sections: { retry: { max_retries: -1 } } });
  t.throws(retry.resolve, { message: /^invalid config for plugin retry: section "retry" — / });
  t.match(agentOf({ sections: { retry: { max_retries: 0 } } }).resolve().retry, {
    max_retries: 0,
    max_stream_retries: 2,
  });
  t.strictSame(agentOf({ sections: { nobody: 1 } }).resolve().spec.sections, { nobody: 1 });
});

t.test('prefers providers of the program over records', async (t) => {
  const registry = registryOf({
    providers: [{ id: 'p', adapter: 'nope' }],
    agents: [{ id: 'a', model_id: 'm' }],
  });
  t.strictSame(registry.problems(), []);
  t.equal(registry.resolve('a').model.provider, 'p');
  t.strictSame(registryOf({}, { records: NO_RECORDS }).problems(), []);
});

t.test('offers a tool for each delegate that the rules allow', async (t) => {
  const registry = registryOf({
    agents: [
      { id: 'a', model_id: 'm', delegates: ['b', 'c', 'a', 'b'], excluded_tools: ['agent_run_c'] },
      { id: 'b', model_id: 'm', delegates: ['a'], system_prompt: `\n  ${'é'.repeat(120)}\nmore` },
      { id: 'c', model_id: 'm', description: 'Counts.' },
    ],
  });
  t.strictSame(registry.problems(), []);
  const { tools } = registry.resolve('a');
  t.strictSame([...tools.keys()], ['get_weather', 'finish', 'agent_run_b', 'agent_run_a']);
  t.equal(tools.get('agent_run_b')?.descriptor.description, 'é'.repeat(100));
  t.equal(tools.get('agent_run_a')?.descriptor.description, 'a', 'the description falls back to the id');
  t.match(tools.get('agent_run_b')?.descriptor.parameters, {
    properties: { prompt: { type: 'string' } },
    required: ['prompt'],
  });
});

t.test('rejects a duplicate tool of a delegate', async (t) => {
  const twin = definePlugin({ id: 'twin', create: () => ({ tools: [tool('agent_run_a')] }) });
  t.throws(agentOf({ delegates: ['a'], plugin_ids: ['twin'] }, [twin]).resolve, {
    message: 'tool ID conflict: "agent_run_a" registered by both plugin and delegate',
  });
  const global = registryOf(
    { agents: [{ id: 'a', model_id: 'm', delegates: ['a'] }] },
    { catalogue: createCatalogue([tool('agent_run_a')]) },
  );
  t.throws(() => global.resolve('a'), {
    message: 'tool ID conflict: "agent_run_a" registered by both global and delegate',
  });
});
