import t from 'tap';
import type { Call } from '../models.ts';
import { endOf, only, runCalls, seenIn, startWith, toolsIn } from './agents.ts';

/** Reminders, deferred tools and interfaces in real runs: agent-loop.md 14.2, 14.4 and 14.5. */

const agent = (plugin_ids: string[], more: object = {}) => ({
  id: 'own',
  model_id: 'steps',
  system_prompt: 'Prompt.',
  plugin_ids,
  ...more,
});
const reminding = (...rules: object[]) => ({ sections: { reminder: { rules } } });

t.test('adds a reminder to the inference after a matching result', async (t) => {
  const message = { target: 'system', content: 'Stored.' };
  const troupe = await startWith(t, {
    agents: [
      agent(
        ['reminder'],
        reminding(
          {
            name: 'stored',
            tool: 'append_note',
            output: { status: 'success', content: { fields: [{ path: 'added', value: 'b*' }] } },
            message,
          },
          {
            tool: 'failing*',
            output: { status: 'error' },
            message: { target: 'suffix_system', content: 'Failed.' },
          },
        ),
      ),
    ],
  });
  const { requests, events } = await runCalls(
    troupe,
    ['c1', 'append_note', { note: 'apple' }],
    ['c2', 'append_note', { note: 'banana' }],
    ['c3', 'failingTool'],
  );
  t.strictSame(
    requests.map(({ system }) => system.slice(1)),
    [[], [], ['Stored.'], []],
  );
  t.equal(seenIn(requests[3]).at(-1), 'system: Failed.');
  t.match(endOf(events), { termination: { type: 'natural_end' } });
});

t.test('omits a reminder during its cooldown', async (t) => {
  const message = { target: 'system', content: 'Stored.', cooldown_turns: 2 };
  const troupe = await startWith(t, {
    agents: [agent(['reminder'], reminding({ tool: 'append_note', message }))],
  });
  const { requests } = await runCalls(
    troupe,
    ...['a', 'b', 'c', 'd'].map((id): Call => [id, 'append_note', { note: id }]),
  );
  t.strictSame(
    requests.map(({ system }) => system.length - 1),
    [0, 1, 0, 1, 0],
  );
});

t.test('uses the reminders of the demo for an agent without its own', async (t) => {
  const troupe = await startWith(t, { agents: [agent(['reminder'])] });
  const { requests } = await runCalls(troupe, ['c1', 'get_weather', { location: 'Oslo' }]);
  t.equal(requests[1]?.system.length, 2);
  t.match(seenIn(requests[1]).at(-1), /^system: /);
});

const DEFERRED = {
  sections: {
    deferred_tools: { enabled: true, rules: [{ tool: 'get_*', mode: 'deferred' }], default_mode: 'eager' },
  },
};

t.test('lists a deferred tool, finds it by ToolSearch and offers it, also in later runs', async (t) => {
  const troupe = await startWith(t, { agents: [agent(['ext-deferred-tools'], DEFERRED)] });
  const { requests, results } = await runCalls(
    troupe,
    ['c1', 'ToolSearch', { query: 'select:get_weather' }],
    ['c2', 'get_weather', { location: 'Oslo' }],
    ['c3', 'ToolSearch', { query: 'nothing like it' }],
  );
  const [first, second] = requests;
  t.match(
    first?.system.join('\n'),
    /ToolSearch[\s\S]*\nget_weather, get_stock_price|\nget_stock_price, get_weather/,
  );
  t.ok(toolsIn(first).includes('ToolSearch'));
  t.notOk(toolsIn(first).some((id) => id.startsWith('get_')));
  t.ok(toolsIn(second).includes('get_weather'));
  t.notOk(toolsIn(second).includes('get_stock_price'));
  t.notMatch(second?.system.join('\n'), /get_weather/);
  t.match(results, [
    {
      data: {
        __promote: ['get_weather'],
        tools: /^<functions>\n<function>\{"description": .*"name": "get_weather"/,
      },
    },
    { data: { condition: 'Sunny' } },
    { data: { __promote: [], tools: 'No matching tools found in the deferred tool registry.' } },
  ]);
  await troupe.restart();
  const later = await runCalls(troupe);
  t.ok(toolsIn(later.requests[0]).includes('get_weather'));
});

t.test('does not defer a small number of tools in automatic mode', async (t) => {
  const troupe = await startWith(t, {
    agents: [agent(['ext-deferred-tools'], { allowed_tools: ['get_weather', 'ToolSearch'] })],
  });
  const { requests } = await runCalls(troupe);
  t.strictSame(toolsIn(requests[0]), ['get_weather']);
});

const surface = (component: object) => ({
  surfaceUpdate: { surfaceId: 's', components: [{ id: 'root', component }] },
});

t.test('validates an interface, and explains to the model how to create one', async (t) => {
  const troupe = await startWith(t, {
    agents: [
      agent(['generative-ui'], { sections: { 'generative-ui': { catalog_id: 'https://c.example' } } }),
    ],
  });
  const { requests, results, events } = await runCalls(
    troupe,
    ['c1', 'render_a2ui', {}],
    ['c2', 'render_a2ui', surface({ Text: { text: 'not an object' } })],
    ['c3', 'render_a2ui', { messages: [{ deleteSurface: { surfaceId: 's' } }] }],
    ['c4', 'render_a2ui', { surfaceId: 's', root: 'root' }],
  );
  t.match(results, [
    {
      message:
        'Invalid arguments: expected at least one A2UI message key (surfaceUpdate, dataModelUpdate, beginRendering, or deleteSurface)',
    },
    { message: /^Invalid arguments: A2UI validation failed: message\[0\]: / },
    { data: { rendered: true, count: 1 } },
    { data: { rendered: true, count: 1 } },
  ]);
  for (const { system } of requests) t.match(system.join('\n'), /https:\/\/c\.example/);
  t.match(
    only(events, 'tool_call_done').map(({ outcome }) => outcome),
    ['failed', 'failed', 'succeeded', 'succeeded'],
  );
});
