import t from 'tap';
import { z } from 'zod';
import { definePlugin } from '../../../src/plugins/define.ts';
import type { ContextMessage, HookContext, ScheduledAction } from '../../../src/plugins/plugin.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { asks } from '../models.ts';
import { viewOf } from '../view.ts';
import { endOf, only, requestsOf, say, says, seenIn, startWith, toolsIn } from './agents.ts';

/** Additions of plugins to requests: agent-loop.md 1.6, 5.1, 9.1 and 9.2. */

const adder = (id: string, actions: (context: HookContext) => ScheduledAction[]) =>
  definePlugin({
    id,
    create: () => ({ hooks: { before_inference: (context) => ({ actions: actions(context) }) } }),
  });

const add = (payload: ContextMessage): ScheduledAction => ({ key: 'runtime.add_context_message', payload });

const agent = (...plugin_ids: string[]) => [
  { id: 'own', model_id: 'steps', system_prompt: 'Prompt.', plugin_ids },
];

const noted = (id: string) => asks([id, 'append_note', { note: 'n' }]);

t.test('places context messages by their target, outside the history', async (t) => {
  const plugin = adder('adder', () => [
    add({ key: 'z', target: 'suffix_system', content: 'suffix' }),
    add({ key: 'c', target: 'conversation', content: 'conversation' }),
    add({ key: 's2', target: 'session', content: 'session, late', priority: 5 }),
    add({ key: 's1', target: 'session', content: 'session, early', priority: -5 }),
    add({ key: 'b', target: 'system', content: 'system b' }),
    add({ key: 'a', target: 'system', content: 'system a' }),
  ]);
  const troupe = await startWith(t, { agents: agent('adder'), plugins: [plugin] });
  await troupe.runToEnd(say('own', 'Hello', 'T'));
  const [request] = requestsOf(troupe);
  t.strictSame(
    [...(request?.system ?? []), ...seenIn(request)],
    [
      'Prompt.',
      'system a',
      'system b',
      'session, early',
      'session, late',
      'conversation',
      'user: Hello',
      'system: suffix',
    ],
  );
  t.strictSame(await viewOf(troupe, 'T').texts(), ['user: Hello', 'assistant: echo: Hello']);
});

t.test('places a user context message before the history', async (t) => {
  const plugin = adder('adder', () => [
    add({ key: 'u', target: 'conversation', role: 'user', content: 'by the way' }),
  ]);
  const troupe = await startWith(t, { agents: agent('adder'), plugins: [plugin] });
  await troupe.runToEnd(say('own'));
  t.strictSame(seenIn(requestsOf(troupe)[0]), ['user: by the way', 'user: Hello']);
});

/** The system texts after the prompt, per request. */
const systemTexts = (troupe: Parameters<typeof requestsOf>[0]) =>
  requestsOf(troupe).map(({ system }) => system.slice(1).join('|'));

t.test('drops a message after one step unless it is persistent or replaced by key', async (t) => {
  const plugin = adder('adder', ({ step_index }) =>
    step_index === 0
      ? [
          add({ key: 'once', target: 'system', content: 'once' }),
          add({ key: 'kept', target: 'system', content: 'kept', persistent: true }),
        ]
      : step_index === 2
        ? [add({ key: 'kept', target: 'system', content: 'kept, new', persistent: true })]
        : [],
  );
  const troupe = await startWith(t, { agents: agent('adder'), plugins: [plugin] });
  troupe.models.steps.push(noted('a'), noted('b'), noted('c'), says('done'));
  await troupe.runToEnd(say('own', 'x', 'T'));
  t.strictSame(systemTexts(troupe), ['kept|once', 'kept', 'kept, new', 'kept, new']);
  await troupe.runToEnd(say('echo', 'y', 'T'));
  t.notOk(
    requestsOf(troupe).at(-1)?.system.join().includes('kept'),
    'a persistent message belongs to its run',
  );
});

t.test('omits a message during its cooldown unless its content changes', async (t) => {
  const plugin = adder('adder', ({ step_index }) => [
    add({ key: 'k', target: 'system', cooldown_turns: 3, content: step_index < 4 ? 'same' : 'other' }),
  ]);
  const troupe = await startWith(t, { agents: agent('adder'), plugins: [plugin] });
  troupe.models.steps.push(...['a', 'b', 'c', 'd', 'e'].map(noted), says('done'));
  await troupe.runToEnd(say('own'));
  t.strictSame(systemTexts(troupe), ['same', '', '', 'same', 'other', '']);
});

t.test('adds a message that a tool schedules to the next inference', async (t) => {
  const tool = defineTool({
    id: 'hint',
    description: 'hint',
    input: z.object({}),
    execute: () => ({
      data: 1,
      actions: [
        { key: 'runtime.add_context_message', payload: { key: 'h', target: 'system', content: 'hinted' } },
      ],
    }),
  });
  const troupe = await startWith(t, { agents: agent(), tools: [tool] });
  troupe.models.steps.push(asks(['c', 'hint']), says('done'));
  await troupe.runToEnd(say('own'));
  t.strictSame(systemTexts(troupe), ['', 'hinted']);
});

t.test('filters tools for one inference: merges inclusions, then applies exclusions', async (t) => {
  const plugin = adder('filter', ({ step_index }) =>
    step_index === 0
      ? [
          { key: 'runtime.include_only_tools', payload: ['finish', 'search'] },
          { key: 'runtime.include_only_tools', payload: ['get_weather', 'no_such_tool'] },
          { key: 'runtime.exclude_tool', payload: 'search' },
        ]
      : step_index === 1
        ? [{ key: 'runtime.exclude_tool', payload: 'get_weather' }]
        : [],
  );
  const troupe = await startWith(t, { agents: agent('filter'), plugins: [plugin] });
  troupe.models.steps.push(noted('a'), noted('b'), says('done'));
  const events = await troupe.runToEnd(say('own'));
  const [first, second, third] = requestsOf(troupe).map(toolsIn);
  t.strictSame(first?.sort(), ['finish', 'get_weather']);
  t.strictSame([...(second ?? []), 'get_weather'].sort(), third?.sort());
  t.match(only(events, 'tool_call_done')[0], { outcome: 'succeeded' }, 'a hidden tool can be called');
});

t.test('prefers the override of a plugin over that of the agent for one inference', async (t) => {
  const plugin = adder('override', ({ step_index }) =>
    step_index === 0
      ? [
          { key: 'runtime.set_inference_override', payload: { temperature: 0.5, reasoning_effort: 'low' } },
          { key: 'runtime.set_inference_override', payload: { temperature: 0.7, max_tokens: 9 } },
        ]
      : [],
  );
  const troupe = await startWith(t, {
    agents: [{ id: 'own', model_id: 'steps', plugin_ids: ['override'], reasoning_effort: 'high' }],
    plugins: [plugin],
  });
  troupe.models.steps.push(noted('a'), says('done'));
  await troupe.runToEnd(say('own'));
  t.match(requestsOf(troupe)[0]?.overrides, { temperature: 0.7, max_tokens: 9, reasoning_effort: 'low' });
  t.strictSame(requestsOf(troupe)[1]?.overrides, { reasoning_effort: 'high' });
});

t.test('rejects an override without an upstream name, or for a pool', async (t) => {
  const plugin = adder('override', ({ agent: { id } }) => [
    {
      key: 'runtime.set_inference_override',
      payload: { upstream_model: id === 'nameless' ? '' : 'another' },
    },
  ]);
  const plugin_ids = ['override'];
  const troupe = await startWith(t, {
    model_pools: [{ id: 'pool', members: [{ model_id: 'steps' }] }],
    agents: [
      { id: 'nameless', model_id: 'steps', plugin_ids },
      { id: 'pooled', model_id: 'pool', plugin_ids },
      { id: 'own', model_id: 'steps', plugin_ids },
    ],
    plugins: [plugin],
  });
  const problem = async (id: string) => endOf(await troupe.runToEnd(say(id))).termination;
  const said = 'inference failed: invalid request: inference override upstream_model';
  t.strictSame(await problem('nameless'), { type: 'error', value: `${said} cannot be empty` });
  t.strictSame(await problem('pooled'), {
    type: 'error',
    value: `${said} is not supported for model pools`,
  });
  t.strictSame(await problem('own'), { type: 'natural_end' });
  t.equal(requestsOf(troupe)[0]?.overrides.upstream_model, 'another');
});

t.test('applies request transforms in order and never to the history', async (t) => {
  const suffix = (id: string) =>
    definePlugin({
      id,
      create: () => ({ transformRequest: (request) => ({ ...request, system: [...request.system, id] }) }),
    });
  const troupe = await startWith(t, { agents: agent('x', 'y'), plugins: [suffix('y'), suffix('x')] });
  t.match(endOf(await troupe.runToEnd(say('own'))), { termination: { type: 'natural_end' } });
  t.strictSame(requestsOf(troupe)[0]?.system, ['Prompt.', 'x', 'y']);
});

t.test('sends the date to a model with a known cutoff unless its agent disables it', async (t) => {
  const cut = { provider_id: 'test', upstream_model: 'cut', knowledge_cutoff: '2024-06' };
  const now = Date.UTC(2026, 0, 2);
  const troupe = await startWith(t, {
    clock: { now: () => now },
    models: [{ id: 'cut', ...cut }],
    agents: [
      { id: 'own', model_id: 'cut', system_prompt: 'Prompt.' },
      {
        id: 'silent',
        model_id: 'cut',
        system_prompt: 'Prompt.',
        sections: { knowledge_cutoff_context: { enabled: false } },
      },
    ],
  });
  await troupe.runToEnd(say('own'));
  t.match(systemTexts(troupe), [/2026-01-02.*2024-06/]);
  await troupe.runToEnd(say('silent'));
  t.strictSame(requestsOf(troupe)[1]?.system, ['Prompt.']);
});
