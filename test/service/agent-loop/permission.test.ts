import t from 'tap';
import { z } from 'zod';
import { defineClientTool } from '../../../src/tools/define-tool.ts';
import { asks } from '../models.ts';
import { createTestTools } from '../tools.ts';
import { eventually, type RunEventLike, startDemo, type Troupe } from '../troupe.ts';
import { viewOf } from '../view.ts';
import { endOf, only, requestsOf, resultsIn, say, says, seenIn, startWith, toolsIn } from './agents.ts';
import { decide, guarded, logged, type Rule } from './permissions.ts';

/** Permissions in real runs: agent-loop.md 7, 14.1 and 20, checks 7 to 16; runtime.md 12. */

const scripted = (rules: Rule[], default_behavior?: string) =>
  guarded(rules, { model_id: 'default', max_rounds: 2 }, default_behavior);

/** Waits until the run is suspended again or done. */
const settled = (troupe: Troupe, run_id: unknown) =>
  eventually(
    () => viewOf(troupe, 'T').run(run_id),
    ({ status }) => status === 'waiting' || status === 'done',
  );

t.test('7: suspends the run at a call that needs approval', async (t) => {
  const troupe = await startDemo(t);
  const events = await troupe.runToEnd(say('travel', 'RUN_WEATHER_TOOL', 'T'));
  t.match(only(events, 'tool_call_done'), [
    {
      outcome: 'suspended',
      result: {
        tool_name: 'get_weather',
        status: 'pending',
        data: null,
        message: "Tool 'get_weather' suspended: awaiting approval",
        suspension: {
          suspension: {
            id: 'perm_call_weather_1',
            action: 'tool:PermissionConfirm',
            message: "Permission required for tool 'get_weather'",
            parameters: { location: 'Tokyo' },
          },
          pending: {
            id: 'perm_call_weather_1',
            name: 'permission_confirm',
            arguments: { location: 'Tokyo' },
          },
          resume_mode: 'replay_tool_call',
        },
      },
    },
  ]);
  t.match(endOf(events), { termination: { type: 'suspended' } });
  t.match(await viewOf(troupe, 'T').run(events[0]?.run_id), {
    status: 'waiting',
    waiting: { reason: 'tool_permission', tickets: [{ tool_name: 'get_weather' }] },
  });
  t.equal((await decide(troupe, 'nope', 'resume')).status, 404, 'an unknown ticket is not found');
  t.match(await viewOf(troupe, 'T').run(events[0]?.run_id), { status: 'waiting' });
});

t.test(
  '8, 11: executes an approved call once, by either id, and requires another approval in the next step',
  async (t) => {
    for (const by of ['call_weather_1', 'perm_call_weather_1']) {
      await t.test(by, async (t) => {
        const troupe = await startDemo(t);
        const [start] = await troupe.runToEnd(say('travel', 'RUN_WEATHER_TOOL', 'T'));
        const answers = await Promise.all([decide(troupe, by, 'resume'), decide(troupe, by, 'resume')]);
        t.ok(answers.some(({ status }) => status === 202));
        t.ok(answers.every(({ status }) => status === 202 || status === 404));
        await eventually(
          () => logged(troupe, start?.run_id, 'InferenceComplete'),
          (inferences) => inferences.length === 2,
        );
        t.match(await settled(troupe, start?.run_id), { status: 'waiting' });
        t.match(await logged(troupe, start?.run_id, 'ToolCallResumed'), [
          { target_id: 'call_weather_1', action: 'resume', result: { condition: 'Sunny' } },
        ]);
        await viewOf(troupe, 'T').check(t);
      });
    }
  },
);

t.test('9: removes a denied call from the history, and reports it to the next step', async (t) => {
  const troupe = await startWith(t, {
    agents: [guarded([{ tool: 'note', behavior: 'ask' }])],
    tools: createTestTools().tools,
  });
  for (const [round, decline] of [
    { action: 'cancel' },
    { action: 'resume', payload: { approved: false } },
  ].entries()) {
    const call = `c${round}`;
    troupe.models.steps.push(asks([call, 'note']), says(`without ${call}`));
    const [start] = await troupe.runToEnd(say('own', 'x', 'T'));
    t.equal((await troupe.post('/v1/threads/T/decision', { toolCallId: call, ...decline })).status, 202);
    t.match(await viewOf(troupe, 'T').until(start?.run_id, 'done'), { final_output: `without ${call}` });
    t.match(await logged(troupe, start?.run_id, 'ToolCallResumed'), [{ target_id: call, action: 'cancel' }]);
    t.match(requestsOf(troupe).at(-1)?.messages.at(-1), {
      role: 'tool',
      tool_call_id: call,
      content: [{ text: /^Denied/ }],
    });
  }
});

t.test('12: replaces an open call with a new message in the same run', async (t) => {
  const troupe = await startDemo(t);
  const [start] = await troupe.runToEnd(say('travel', 'RUN_WEATHER_TOOL', 'T'));
  const events = await troupe.runToEnd(say('travel', 'Never mind', 'T'));
  t.equal(events[0]?.run_id, start?.run_id);
  t.match(endOf(events), {
    termination: { type: 'natural_end' },
    result: { response: 'Scripted response to: Never mind' },
  });
  t.equal((await decide(troupe, 'perm_call_weather_1', 'resume')).status, 404);
  const view = viewOf(troupe, 'T');
  const markers = (await logged(troupe, start?.run_id, 'MessageCommitted')).filter((payload) =>
    JSON.stringify(payload).includes('[tool call superseded]'),
  );
  t.match(markers, [{ role: 'tool' }]);
  t.strictSame(await view.texts(), [
    'user: RUN_WEATHER_TOOL',
    'assistant: ',
    'user: Never mind',
    'assistant: Scripted response to: Never mind',
  ]);
  await view.check(t);
});

t.test('13: does not ask for approval of allowed calls', async (t) => {
  const troupe = await startDemo(t);
  const events = await troupe.runToEnd(say('permission', 'RUN_WEATHER_TOOL'));
  const done = only(events, 'tool_call_done').map(({ outcome }) => outcome);
  t.strictSame(done, [...Array.from({ length: 7 }, () => 'succeeded'), 'failed']);
  t.match(resultsIn(events).at(-1), { message: '[Tool execution was interrupted]' });
});

const DENIED = "Tool 'get_weather' denied by permission rules";

const RULED: [name: string, rules: Rule[], allowed: boolean][] = [
  ['14: a deny', [{ tool: 'get_weather', behavior: 'deny' }], false],
  ['15: an argument that is allowed', [{ tool: 'get_weather(location = "Tokyo")', behavior: 'allow' }], true],
  [
    '15: another argument than is allowed',
    [{ tool: 'get_weather(location = "Paris")', behavior: 'allow' }],
    false,
  ],
  [
    '15: an argument without an exception',
    [{ tool: 'get_weather(location != "Paris")', behavior: 'allow' }],
    true,
  ],
  ['15: a missing field', [{ tool: 'get_weather(city != "Paris")', behavior: 'allow' }], false],
  [
    '16: a deny by a glob and an allow by name',
    [
      { tool: 'get_weather', behavior: 'allow' },
      { tool: 'get_*', behavior: 'deny' },
    ],
    false,
  ],
  ['a glob on the primary argument', [{ tool: 'get_weather(Tok*)', behavior: 'allow' }], true],
  ['a regular expression on the name', [{ tool: '/^get_w/', behavior: 'allow' }], true],
];

for (const [name, rules, allowed] of RULED) {
  t.test(`${name} ${allowed ? 'lets the call pass' : 'blocks the run'}`, async (t) => {
    const troupe = await startWith(t, { agents: [scripted(rules)] });
    const events = await troupe.runToEnd(say('own', 'RUN_WEATHER_TOOL', 'T'));
    const [done] = only(events, 'tool_call_done');
    if (allowed) return t.match(done, { outcome: 'succeeded', result: { data: { condition: 'Sunny' } } });
    t.match(done, { outcome: 'failed', result: { message: DENIED, metadata: { rejected: true } } });
    t.match(endOf(events), {
      termination: { type: 'blocked', value: DENIED },
      result: { status: 'done', status_reason: `blocked:${DENIED}` },
    });
    t.match(await viewOf(troupe, 'T').run(events[0]?.run_id), {
      status: 'done',
      termination_reason: { type: 'blocked', value: DENIED },
    });
    await viewOf(troupe, 'T').check(t);
  });
}

t.test('reports a call that the rules denied to the model in the next run', async (t) => {
  const troupe = await startWith(t, { agents: [guarded([])], tools: createTestTools().tools });
  troupe.models.steps.push(asks(['c1', 'note']));
  const denied = "Tool 'note' denied by permission rules";
  t.match(endOf(await troupe.runToEnd(say('own', 'x', 'T'))), { termination: { value: denied } });
  troupe.models.steps.push(says('I see'));
  await troupe.runToEnd(say('own', 'why?', 'T'));
  t.match(requestsOf(troupe).at(-1)?.messages.slice(1), [
    { role: 'assistant', tool_calls: [{ id: 'c1' }] },
    { role: 'tool', tool_call_id: 'c1', content: [{ text: denied }] },
    { role: 'user' },
  ]);
});

t.test('offers only tools that are not denied for all arguments', async (t) => {
  const troupe = await startWith(t, {
    agents: [
      guarded([
        { tool: 'get_stock*', behavior: 'deny' },
        { tool: '/^add_/', behavior: 'deny' },
        { tool: 'finish', behavior: 'deny' },
        { tool: 'get_weather(location = "Paris")', behavior: 'deny' },
      ]),
    ],
  });
  await troupe.runToEnd(say('own'));
  const offered = toolsIn(requestsOf(troupe)[0]);
  for (const tool of ['get_stock_price', 'add_trips', 'finish']) t.notOk(offered.includes(tool), tool);
  for (const tool of ['get_weather', 'search']) t.ok(offered.includes(tool), tool);
});

t.test('requests the approval of a client tool once', async (t) => {
  const pick = defineClientTool({ id: 'pick', description: 'Picks.', input: z.object({}) });
  const troupe = await startWith(t, {
    agents: [guarded([{ tool: 'pick', behavior: 'ask' }])],
    tools: [pick],
  });
  troupe.models.steps.push(asks(['c1', 'pick']), says('done'));
  const events: RunEventLike[] = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(only(events, 'tool_call_done'), [
    {
      result: {
        suspension: { suspension: { id: 'suspend_c1' }, resume_mode: 'use_decision_as_tool_result' },
      },
    },
  ]);
  await decide(troupe, 'c1', 'resume', { color: 'red' });
  await viewOf(troupe, 'T').until(events[0]?.run_id, 'done');
  t.match(await logged(troupe, events[0]?.run_id, 'ToolCallResumed'), [{ result: { color: 'red' } }]);
  t.ok(seenIn(requestsOf(troupe).at(-1)).includes('tool: {"color":"red"}'));
});

t.test('suspends a demo client tool under its id, and uses the result of the client', async (t) => {
  const troupe = await startWith(t, {
    agents: [{ id: 'own', model_id: 'steps', plugin_ids: ['frontend_tools'] }],
  });
  troupe.models.steps.push(asks(['c1', 'askUserQuestion', { message: 'Why?' }]), says('done'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(only(events, 'tool_call_done')[0]?.result, {
    suspension: {
      suspension: { id: 'c1', action: 'tool:askUserQuestion', parameters: { message: 'Why?' } },
      pending: { id: 'c1', name: 'askUserQuestion' },
      resume_mode: 'use_decision_as_tool_result',
    },
  });
  await decide(troupe, 'c1', 'resume', 'because');
  await viewOf(troupe, 'T').until(events[0]?.run_id, 'done');
  t.ok(seenIn(requestsOf(troupe).at(-1)).includes('tool: "because"'));
});

t.test('blocks a denied call of a client tool', async (t) => {
  const denied = guarded([{ tool: 'askUserQuestion(message ~ "secret*")', behavior: 'deny' }], {}, 'allow');
  const troupe = await startWith(t, {
    agents: [{ ...denied, plugin_ids: ['permission', 'frontend_tools'] }],
  });
  troupe.models.steps.push(asks(['c1', 'askUserQuestion', { message: 'secret?' }]));
  t.match(endOf(await troupe.runToEnd(say('own', 'x', 'T'))), { termination: { type: 'blocked' } });

  troupe.models.steps.push(asks(['c2', 'askUserQuestion', { message: 'Why?' }]));
  t.match(endOf(await troupe.runToEnd(say('own', 'x', 'T'))), { termination: { type: 'suspended' } });
});
