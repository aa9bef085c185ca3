import t from 'tap';
import { z } from 'zod';
import { agentHandoff } from '../../../src/loop/handoff.ts';
import { definePlugin } from '../../../src/plugins/define.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { defineState, update } from '../../../src/tools/state.ts';
import { asks } from '../models.ts';
import { createTestTools } from '../tools.ts';
import { viewOf } from '../view.ts';
import { endOf, only, requestsOf, say, says, startWith, stateIn } from './agents.ts';

/** Handoffs between agents, and the state that threads keep: agent-loop.md 13 and 15.3. */

const handingOverTo = (agent: string) =>
  defineTool({
    id: 'hand_over',
    description: 'Hands over.',
    input: z.object({}),
    execute: () => ({ data: 'ok', state: [update(agentHandoff, { requested_agent: agent })] }),
  });

const agents = [
  { id: 'front', model_id: 'steps', system_prompt: 'Front.', plugin_ids: ['front-only'] },
  { id: 'back', model_id: 'steps', system_prompt: 'Back.', plugin_ids: ['back-only'] },
];

const naming = (id: string) => {
  const heard: string[] = [];
  const plugin = definePlugin({
    id,
    create: () => ({
      hooks: {
        step_start: ({ agent, step_index }) => {
          heard.push(`${agent.id} ${step_index}`);
          return undefined;
        },
      },
    }),
  });
  return { heard, plugin };
};

t.test('hands a run off at a step boundary, and keeps the new agent for the thread', async (t) => {
  const [front, back] = [naming('front-only'), naming('back-only')];
  const troupe = await startWith(t, {
    agents,
    plugins: [front.plugin, back.plugin],
    tools: [handingOverTo('back')],
  });
  const view = viewOf(troupe, 'T');
  troupe.models.steps.push(asks(['c1', 'hand_over']), says('from the back'));
  const events = await troupe.runToEnd(say('front', 'Hello', 'T'));
  t.match(endOf(events), { termination: { type: 'natural_end' }, result: { response: 'from the back' } });
  t.equal(only(events, 'run_start').length, 1, 'the handoff continues the same run');
  t.strictSame(
    requestsOf(troupe).map(({ system }) => system),
    [['Front.'], ['Back.']],
  );
  t.strictSame([front.heard, back.heard], [['front 0'], ['back 1']], 'each agent uses its own plugins');
  t.match(stateIn(events), {
    '__runtime.active_agent': 'back',
    agent_handoff: { active_agent: 'back' },
  });

  troupe.models.steps.push(says('again'));
  const { body } = await view.say('More');
  const run = await view.until(body.accepted_run_id, 'done');
  t.match(run, { agent_id: 'back', final_output: 'again' });
  t.strictSame(requestsOf(troupe).at(-1)?.system, ['Back.']);
  await troupe.restart();
  troupe.models.steps.push(says('after a restart'));
  const { body: later } = await view.say('And more');
  t.match(await view.until(later.accepted_run_id, 'done'), { agent_id: 'back' });
  await view.check(t);
});

t.test('prefers the named agent over the active one', async (t) => {
  const troupe = await startWith(t, {
    agents,
    plugins: [naming('front-only').plugin, naming('back-only').plugin],
    tools: [handingOverTo('back')],
  });
  troupe.models.steps.push(asks(['c1', 'hand_over']), says('back'), says('front'));
  await troupe.runToEnd(say('front', 'Hello', 'T'));
  await troupe.runToEnd(say('front', 'You again', 'T'));
  t.strictSame(requestsOf(troupe).at(-1)?.system, ['Front.']);
});

t.test('blocks the run on a handoff to a missing agent', async (t) => {
  const troupe = await startWith(t, {
    agents,
    plugins: [naming('front-only').plugin, naming('back-only').plugin],
    tools: [handingOverTo('nobody')],
  });
  troupe.models.steps.push(asks(['c1', 'hand_over']));
  const events = await troupe.runToEnd(say('front', 'Hello', 'T'));
  const value = 'handoff resolve failed: agent not found: nobody';
  t.match(endOf(events), { termination: { type: 'blocked', value } });
  t.equal(only(events, 'step_start').length, only(events, 'step_end').length);
  await viewOf(troupe, 'T').check(t);
  troupe.models.steps.push(says('still here'));
  const next = await troupe.runToEnd(say('front', 'And now?', 'T'));
  t.match(
    endOf(next),
    { termination: { type: 'natural_end' } },
    'the next run does not repeat the failed handoff',
  );
});

t.test('resumes a suspended run with the agent it was handed off to, also after a restart', async (t) => {
  const { tools, executed } = createTestTools();
  const troupe = await startWith(t, {
    agents,
    plugins: [naming('front-only').plugin, naming('back-only').plugin],
    tools: [handingOverTo('back'), ...tools],
  });
  troupe.models.steps.push(asks(['c1', 'hand_over']), asks(['c2', 'risky']));
  const events = await troupe.runToEnd(say('front', 'Hello', 'T'));
  t.match(endOf(events), { termination: { type: 'suspended' } });
  await troupe.restart();
  troupe.models.steps.push(says('done'));
  await troupe.post('/v1/threads/T/decision', { toolCallId: 'c2', action: 'resume' });
  await viewOf(troupe, 'T').until(events[0]?.run_id, 'done');
  t.strictSame(executed, ['c2']);
  t.strictSame(requestsOf(troupe).at(-1)?.system, ['Back.']);
});

const visits = defineState({ key: 'test.visits', scope: 'thread', schema: z.int() });
const secret = defineState({ key: 'test.secret', scope: 'thread', hidden: true, schema: z.int() });
const ofRun = defineState({ key: 'test.of_run', scope: 'run', schema: z.int() });
const hiddenOfRun = defineState({ key: 'test.hidden_of_run', scope: 'run', hidden: true, schema: z.int() });

t.test('keeps thread state across runs and restarts, drops run state, and hides hidden state', async (t) => {
  const seen: (number | undefined)[][] = [];
  const counter = definePlugin({
    id: 'counter',
    state: [visits, secret, ofRun, hiddenOfRun],
    create: () => ({
      hooks: {
        run_start: ({ state }) => {
          const keys = [visits, secret, ofRun, hiddenOfRun];
          seen.push(keys.map((key) => state.get(key)));
          return { state: keys.map((key) => update(key, (state.get(key) ?? 0) + 1)) };
        },
      },
    }),
  });
  const troupe = await startWith(t, {
    agents: [{ id: 'own', model_id: 'steps', plugin_ids: ['counter'] }],
    plugins: [counter],
  });
  const first = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(stateIn(first), {
    'test.visits': 1,
    'test.of_run': 1,
    '__runtime.run_lifecycle': { status: 'done' },
  });
  await troupe.runToEnd(say('own', 'x', 'T'));
  await troupe.restart();
  const third = await troupe.runToEnd(say('own', 'x', 'T'));
  await troupe.runToEnd(say('own', 'x', 'U'));
  const none = undefined;
  t.strictSame(seen, [
    [none, none, none, none],
    [1, 1, none, none],
    [2, 2, none, none],
    [none, none, none, none],
  ]);
  t.match(stateIn(third), { 'test.visits': 3, 'test.of_run': 1 });
  const run = await troupe.call('GET', `/v1/runs/${third[0]?.run_id}`);
  for (const shown of [third, run.body]) t.notMatch(JSON.stringify(shown), /secret|hidden_of_run/);
  t.equal((await troupe.call('DELETE', '/v1/threads/T')).status, 204);
  await troupe.runToEnd(say('own', 'x', 'T'));
  t.strictSame(seen.at(-1), [none, none, none, none], 'the new thread has no state of the deleted one');
});

t.test('keeps hidden run state across a suspension and a restart', async (t) => {
  const seen: (number | undefined)[] = [];
  const keeper = definePlugin({
    id: 'keeper',
    state: [hiddenOfRun],
    create: () => ({
      hooks: {
        run_start: () => ({ state: [update(hiddenOfRun, 7)] }),
        step_start: ({ state }) => {
          seen.push(state.get(hiddenOfRun));
          return undefined;
        },
      },
    }),
  });
  const { tools } = createTestTools();
  const troupe = await startWith(t, {
    agents: [{ id: 'own', model_id: 'steps', plugin_ids: ['keeper'] }],
    plugins: [keeper],
    tools,
  });
  troupe.models.steps.push(asks(['c1', 'risky']));
  const [start] = await troupe.runToEnd(say('own', 'x', 'T'));
  await troupe.restart();
  await troupe.post('/v1/threads/T/decision', { toolCallId: 'c1', action: 'resume' });
  await viewOf(troupe, 'T').until(start?.run_id, 'done');
  t.strictSame(seen, [7, 7]);
});

t.test('increments the snapshot revision with each change, and removes a key on undefined', async (t) => {
  const plugin = definePlugin({
    id: 'remover',
    state: [visits],
    create: () => ({
      hooks: {
        step_start: ({ step_index }) => ({ state: [update(visits, step_index === 0 ? 1 : undefined)] }),
      },
    }),
  });
  const { tools } = createTestTools();
  const troupe = await startWith(t, {
    agents: [{ id: 'own', model_id: 'steps', plugin_ids: ['remover'] }],
    plugins: [plugin],
    tools,
  });
  troupe.models.steps.push(asks(['c1', 'note']), says('done'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  const snapshots = only(events, 'state_snapshot').map(
    // A state_snapshot has this shape (agent-loop.md 13).
    ({ snapshot }) => snapshot as { revision: number; extensions: Record<string, unknown> },
  );
  t.equal(snapshots.length, 3);
  t.ok(
    snapshots.every(({ revision }, index) => index === 0 || revision > (snapshots[index - 1]?.revision ?? 0)),
  );
  t.match(snapshots[0]?.extensions, {
    'test.visits': 1,
    '__runtime.run_lifecycle': { status: 'running', step_count: 1 },
    '__runtime.tool_call_states': {
      calls: { c1: { call_id: 'c1', tool_name: 'note', arguments: {}, status: 'succeeded' } },
    },
    '__runtime.stop_condition_stats': { step_count: 1 },
  });
  t.notOk('test.visits' in (snapshots.at(-1)?.extensions ?? {}));
  t.match(snapshots.at(-1)?.extensions, {
    '__runtime.run_lifecycle': { status: 'done', status_reason: 'natural', step_count: 2 },
  });
});
