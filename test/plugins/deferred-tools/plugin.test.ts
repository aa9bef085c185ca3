import t from 'tap';
import { deferredToolsPlugin } from '../../../src/plugins/deferred-tools/plugin.ts';
import { modesKey, registryKey, usageKey } from '../../../src/plugins/deferred-tools/state.ts';
import { aboutAgent } from '../context.ts';
import { describeTool, stepThrough } from './stepping.ts';

const TOOLS = ['get_weather', 'get_stock_price', 'finish'].map((id) => describeTool(id));
const ON = { enabled: true };

t.test('hides deferred tools from the request and lists them in one line', async (t) => {
  const { request } = stepThrough({ ...ON, rules: [{ tool: 'fin*', mode: 'eager' }] }, TOOLS);
  const { hidden, messages } = await request();
  t.same(hidden, ['get_weather', 'get_stock_price']);
  t.match(messages, [{ key: 'deferred_tools.list', target: 'system', persistent: true }]);
  const [intro, ...ids] = messages[0]?.content.split('\n') ?? [];
  t.match(intro, 'ToolSearch');
  t.same(ids, ['get_weather, get_stock_price']);
});

t.test('applies the first matching rule, or else the default mode', async (t) => {
  const rules = [
    { tool: 'get_weather', mode: 'eager' },
    { tool: 'get_*', mode: 'deferred' },
  ];
  const { request } = stepThrough({ ...ON, default_mode: 'eager', rules }, TOOLS);
  t.same((await request()).hidden, ['get_stock_price']);
});

t.test('offers a tool that a search has found from the next inference on', async (t) => {
  const { request, answer, search } = stepThrough(ON, TOOLS);
  await request();
  await answer('ToolSearch');
  t.same(await search({ query: 'select:get_weather', max_results: 5 }), {
    tools: `<functions>\n<function>{"description": "Does get_weather.", "name": "get_weather", "parameters": ${JSON.stringify(
      TOOLS[0]?.parameters,
    )}}</function>\n</functions>`,
    __promote: ['get_weather'],
  });
  const { hidden, messages } = await request();
  t.same(hidden, ['get_stock_price', 'finish']);
  t.notMatch(messages[0]?.content, 'get_weather');
});

t.test('finds a tool again that a search has already promoted', async (t) => {
  const { request, search } = stepThrough(ON, TOOLS);
  await search({ query: 'select:get_weather' });
  await request();
  t.match(await search({ query: 'select:get_weather' }), { __promote: ['get_weather'] });
});

t.test('reports a search without results', async (t) => {
  const { search } = stepThrough(ON, TOOLS);
  t.same(await search({ query: 'select:nope' }), {
    tools: 'No matching tools found in the deferred tool registry.',
    __promote: [],
  });
});

t.test('does not search eager tools', async (t) => {
  const { search } = stepThrough({ ...ON, rules: [{ tool: 'finish', mode: 'eager' }] }, TOOLS);
  t.match(await search({ query: 'select:finish' }), { __promote: [] });
});

t.test('replaces the list with one message once the last tool is visible', async (t) => {
  const { request, search } = stepThrough(ON, [describeTool('finish')]);
  await request();
  await search({ query: 'finish' });
  const { hidden, messages } = await request();
  t.same(hidden, []);
  t.match(messages, [{ key: 'deferred_tools.list', persistent: false, content: 'All tools are loaded' }]);
  t.same((await request()).messages, []);
});

t.test('lets other plugins promote and defer tools', async (t) => {
  const { request, schedule } = stepThrough({ ...ON, rules: [{ tool: 'finish', mode: 'eager' }] }, TOOLS);
  schedule({ key: 'ext-deferred-tools:promote', payload: ['get_weather', 'unknown'] });
  schedule({ key: 'ext-deferred-tools:defer', payload: ['finish', 'unknown'] });
  t.same((await request()).hidden, ['get_stock_price', 'finish']);
  schedule({ key: 'ext-deferred-tools:promote', payload: ['finish'] });
  schedule({ key: 'ext-deferred-tools:defer', payload: ['get_weather'] });
  t.same((await request()).hidden, ['get_weather', 'get_stock_price']);
});

t.test('fails an action whose payload is not a list of ids', async (t) => {
  const { request, schedule } = stepThrough(ON, TOOLS);
  schedule({ key: 'ext-deferred-tools:promote', payload: { id: 'finish' } });
  await t.rejects(request(), { name: 'Invalid', message: 'expected a list of tool ids' });
});

t.test('hides an idle promoted tool again after defer_after turns', async (t) => {
  // 0.01 is the rate of an unknown tool; a schema of 4000 characters pays off at (1000 - 1.5) / 2000.
  const { request, answer, search } = stepThrough(ON, [describeTool('finish', 4000)]);
  await search({ query: 'finish' });
  for (let turn = 1; turn <= 5; turn += 1) {
    t.same((await request()).hidden, [], `turn ${turn}`);
    await answer();
  }
  t.same((await request()).hidden, ['finish']);
});

t.test('keeps a promoted tool visible that is used', async (t) => {
  const { request, answer, search } = stepThrough(ON, [describeTool('finish', 4000)]);
  await search({ query: 'finish' });
  await request();
  await answer();
  for (let turn = 2; turn <= 12; turn += 1) {
    await request();
    await answer(...(turn % 4 === 0 ? ['finish'] : []));
  }
  t.same((await request()).hidden, []);
});

t.test('keeps an idle tool visible while its rate is above the share of the break-even rate', async (t) => {
  // An unknown tool has a rate of 0.0012 after 20 idle turns; break-even is 0.002, half of it 0.001.
  const { request, answer, search } = stepThrough({ ...ON, disc_beta: { gamma: 500_000 } }, [
    describeTool('finish', 4000),
  ]);
  await search({ query: 'finish' });
  for (let turn = 1; turn <= 20; turn += 1) {
    await request();
    await answer();
  }
  t.same((await request()).hidden, []);
});

t.test('keeps the usage statistics of used tools in the thread, and of no others', async (t) => {
  const { request, answer, search, state } = stepThrough(ON, TOOLS);
  await search({ query: 'select:finish' });
  await request();
  await answer('finish', 'finish', 'ToolSearch', 'unknown');
  await request();
  await answer();
  t.same(state.get(usageKey), { turns: 2, uses: { finish: 1 } });
  t.same(state.get(modesKey), { promoted: { finish: 0 }, deferred: [] });
  t.same(state.get(registryKey), {
    tools: ['get_weather', 'get_stock_price', 'finish'],
    listed: ['get_weather', 'get_stock_price'],
  });
});

// A schema of 4000 characters and an id of 6 save 1000 - 1.5 tokens per request.
const automatic: [
  what: string,
  section: Record<string, number | string | null>,
  sizes: number[],
  on: boolean,
][] = [
  ['saves less than it costs', {}, [4000], false],
  ['saves more than it costs', {}, [4000, 4000], true],
  ['saves exactly what it costs', { beta_overhead: 998.5 }, [4000], false],
  ['saves a little more than it costs', { beta_overhead: 998.4 }, [4000], true],
  ['would save, but no tool is deferred', { default_mode: 'eager' }, [4000, 4000], false],
  ['has schemas too small to count as less than ten tokens', { beta_overhead: 8.4 }, [20], true],
];
for (const [what, section, sizes, on] of automatic) {
  t.test(`an agent is ${on ? '' : 'not '}given ToolSearch when deferring ${what}`, async (t) => {
    const tools = sizes.map((size, index) => describeTool(`tool_${index}`, size));
    const { parts, request } = stepThrough(section, tools);
    t.same(
      parts.tools?.map(({ descriptor }) => descriptor.id),
      on ? ['ToolSearch'] : undefined,
    );
    t.same((await request()).hidden, on ? tools.map(({ id }) => id) : []);
  });
}

t.test('forces deferring on or off with `enabled`', async (t) => {
  t.ok(stepThrough({ enabled: true }, []).parts.tools);
  const { parts, request, schedule } = stepThrough({ enabled: false, beta_overhead: 0 }, TOOLS);
  t.notOk(parts.tools ?? parts.hooks);
  schedule({ key: 'ext-deferred-tools:promote', payload: ['finish'] });
  t.same(await request(), { hidden: [], messages: [] });
});

for (const [section, reason] of [
  [{ rules: [{ tool: '', mode: 'eager' }] }, 'rules[0].tool: pattern is empty'],
  [{ rules: [{ tool: 'x', mode: 'lazy' }] }, "rules[0].mode: must be one of 'eager', 'deferred'"],
  [{ beta: 1 }, "unknown field 'beta'"],
  [{ agent_priors: { x: 2 } }, 'agent_priors.x: must be at most 1'],
] as const) {
  t.test(`rejects the section ${JSON.stringify(section)}`, async (t) => {
    // A section is JSON; it is read-only for the compiler only.
    const sections = { deferred_tools: JSON.parse(JSON.stringify(section)) };
    t.throws(() => deferredToolsPlugin.parts(aboutAgent(sections)), {
      name: 'Invalid',
      message: `invalid config for plugin ext-deferred-tools: section "deferred_tools" — ${reason}`,
    });
  });
}

t.test('starts editors with the same section that a missing one implies', async (t) => {
  const [section] = deferredToolsPlugin.sections;
  t.same(section?.schema.parse({}), section?.schema.parse(section.default_value));
});
