import t from 'tap';
import { z } from 'zod';
import { ModelError } from '../../../src/models/errors.ts';
import type { HookContext, HookOutcome, Hooks } from '../../../src/plugins/plugin.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { defineState, update } from '../../../src/tools/state.ts';
import { defer } from '../../http/serve.ts';
import { asks } from '../models.ts';
import { createTestTools } from '../tools.ts';
import { viewOf } from '../view.ts';
import { endOf, only, ownAgent, pluginOf, resultsIn, say, says, startWith, stateIn } from './agents.ts';

/** Hooks and actions of plugins in real runs: agent-loop.md 5.1, 5.2 and 13. */

const PHASES = [
  'run_start',
  'step_start',
  'before_inference',
  'after_inference',
  'decided',
  'before_tool_execute',
  'after_tool_execute',
  'step_end',
  'run_end',
] as const;

const recorder = (id = 'recorder') => {
  const heard: string[] = [];
  const hear =
    (phase: string) =>
    ({ step_index }: HookContext): undefined => {
      heard.push(`${phase} ${step_index}`);
    };
  const hooks: Hooks = Object.fromEntries(PHASES.map((phase) => [phase, hear(phase)]));
  return { heard, plugin: pluginOf(id, { hooks }) };
};

const weather = (id = 'c1') => asks([id, 'get_weather', { location: 'Oslo' }]);

t.test('calls the hooks of all phases in the order of the loop', async (t) => {
  const { heard, plugin: recording } = recorder();
  const troupe = await startWith(t, { agents: ownAgent('recorder'), plugins: [recording] });
  troupe.models.steps.push(weather(), says('done'));
  const events = await troupe.runToEnd(say('own'));
  t.match(endOf(events), { termination: { type: 'natural_end' }, result: { response: 'done' } });
  t.strictSame(heard, [
    'run_start 0',
    'step_start 0',
    'before_inference 0',
    'after_inference 0',
    'before_tool_execute 0',
    'after_tool_execute 0',
    'step_end 0',
    'step_start 1',
    'before_inference 1',
    'after_inference 1',
    'step_end 1',
    'run_end 2',
  ]);
});

t.test('calls hooks with a decision before the call continues, and run_start once', async (t) => {
  const { heard, plugin: recording } = recorder();
  const { tools } = createTestTools();
  const troupe = await startWith(t, { agents: ownAgent('recorder'), plugins: [recording], tools });
  troupe.models.steps.push(asks(['c1', 'risky']), says('done'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(endOf(events), { termination: { type: 'suspended' } });
  heard.length = 0;
  await troupe.post('/v1/threads/T/decision', { toolCallId: 'c1', action: 'resume' });
  await viewOf(troupe, 'T').until(events[0]?.run_id, 'done');
  t.strictSame(
    heard.map((one) => one.split(' ')[0]),
    [
      'decided',
      'before_tool_execute',
      'after_tool_execute',
      'step_start',
      'before_inference',
      'after_inference',
      'step_end',
      'run_end',
    ],
  );
});

t.test('skips after_inference and step_end hooks for a permanently failed inference', async (t) => {
  const { heard, plugin: recording } = recorder();
  const troupe = await startWith(t, { agents: ownAgent('recorder'), plugins: [recording] });
  troupe.models.steps.push(() => {
    throw new ModelError('invalid_request', 'no');
  });
  const events = await troupe.runToEnd(say('own'));
  t.match(endOf(events), { termination: { type: 'error', value: 'inference failed: invalid request: no' } });
  t.notOk('result' in endOf(events));
  t.equal(only(events, 'step_end').length, 1, 'the open step is closed');
  t.strictSame(heard.slice(0, 3), ['run_start 0', 'step_start 0', 'before_inference 0']);
  t.notOk(heard.some((one) => /after_inference|step_end/.test(one)));
});

t.test('passes the current inference, tools and history to hooks', async (t) => {
  const seen: unknown[] = [];
  const watcher = pluginOf('watcher', {
    hooks: {
      after_inference: ({ inference, messages, tools, agent: { id }, thread_id }) => {
        seen.push({
          ...inference,
          calls: inference.calls.map(({ name }) => name),
          roles: messages().map(({ role }) => role),
          hasTool: tools().some((tool) => tool.id === 'get_weather'),
          id,
          thread_id,
        });
        return undefined;
      },
      after_tool_execute: ({ call, result }) => {
        seen.push([call.id, result.status]);
        return undefined;
      },
    },
  });
  const troupe = await startWith(t, { agents: ownAgent('watcher'), plugins: [watcher] });
  troupe.models.steps.push(weather(), says('done'));
  await troupe.runToEnd(say('own', 'x', 'T'));
  const common = { model: 'steps-upstream', hasTool: true, id: 'own', thread_id: 'T' };
  t.match(seen, [
    { ...common, text: '', calls: ['get_weather'], roles: ['user', 'assistant'] },
    ['c1', 'success'],
    {
      ...common,
      text: 'done',
      calls: [],
      usage: { total_tokens: 30 },
      roles: ['user', 'assistant', 'tool', 'assistant'],
    },
  ]);
});

t.test('shows state written by a tool to hooks and to the next tool', async (t) => {
  const tool = defineTool({
    id: 'counting',
    description: 'Counts.',
    input: z.object({}),
    execute: (_, { state }) => {
      const next = (state.get(count) ?? 0) + 1;
      return { data: next, state: [update(count, next)] };
    },
  });
  const troupe = await startWith(t, { agents: ownAgent(), tools: [tool] });
  troupe.models.steps.push(asks(['a', 'counting']), asks(['b', 'counting']), says('done'));
  const events = await troupe.runToEnd(say('own'));
  t.match(resultsIn(events), [{ data: 1 }, { data: 2 }]);
  t.match(stateIn(events), { 'test.count': 2 });
});

const count = defineState({ key: 'test.count', scope: 'run', schema: z.int() });
const notes = (id: string) => defineState({ key: `test.${id}`, scope: 'run', schema: z.int() });

t.test('runs hooks of a phase concurrently on the same state, and merges their writes', async (t) => {
  const seen: (number | undefined)[] = [];
  let inside = 0;
  let most = 0;
  const writer = (id: string) =>
    pluginOf(id, {
      hooks: {
        step_start: async ({ state }): Promise<HookOutcome> => {
          inside += 1;
          most = Math.max(most, inside);
          await new Promise((resolve) => setImmediate(resolve));
          inside -= 1;
          seen.push(state.get(notes('a')), state.get(notes('b')));
          return { state: [update(notes(id), 1)] };
        },
      },
    });
  const troupe = await startWith(t, { agents: ownAgent('a', 'b'), plugins: [writer('a'), writer('b')] });
  const events = await troupe.runToEnd(say('own'));
  t.equal(most, 2);
  t.strictSame(seen, [undefined, undefined, undefined, undefined]);
  t.match(stateIn(events), { 'test.a': 1, 'test.b': 1 });
});

t.test('runs conflicting hooks again one by one in plugin order', async (t) => {
  const order: string[] = [];
  const writer = (id: string, by: number) =>
    pluginOf(id, {
      hooks: {
        step_start: ({ state }) => {
          order.push(id);
          return { state: [update(count, (state.get(count) ?? 1) * 10 + by)] };
        },
      },
    });
  const troupe = await startWith(t, {
    agents: ownAgent('p', 'q'),
    plugins: [writer('q', 2), writer('p', 1)],
  });
  const events = await troupe.runToEnd(say('own'));
  t.strictSame(order, ['p', 'q', 'p', 'q']);
  t.match(stateIn(events), { 'test.count': 112 });
});

t.test('uses only the second outcome of hooks that are run again', async (t) => {
  const asking = (id: string, ends: readonly boolean[]) => {
    let round = 0;
    return pluginOf(id, {
      hooks: {
        after_inference: (): HookOutcome => {
          round += 1;
          return { state: [update(count, round)], ...(ends[round - 1] && { end: true }) };
        },
      },
    });
  };
  const endings = {
    natural_end: [asking('p', [true, false]), asking('q', [true, false])],
    behavior_requested: [asking('p', [false, true]), asking('q', [false, false])],
  };
  for (const [type, plugins] of Object.entries(endings)) {
    await t.test(type, async (t) => {
      const troupe = await startWith(t, { agents: ownAgent('p', 'q'), plugins });
      t.match(endOf(await troupe.runToEnd(say('own'))), { termination: { type } });
    });
  }
});

t.test('calls no further hook of a run that is cancelled while hooks are run again', async (t) => {
  const called: string[] = [];
  const [reached, cancelled] = [defer(), defer()];
  const writer = (id: string) =>
    pluginOf(id, {
      hooks: {
        before_inference: async ({ signal }): Promise<HookOutcome> => {
          called.push(id);
          if (called.length === 3) {
            signal.addEventListener('abort', () => cancelled.resolve());
            reached.resolve();
            await cancelled.promise;
          }
          return { state: [update(count, called.length)] };
        },
      },
    });
  const troupe = await startWith(t, { agents: ownAgent('p', 'q'), plugins: [writer('p'), writer('q')] });
  const stream = await troupe.run(say('own', 'x', 'T'));
  await reached.promise;
  t.equal((await troupe.post('/v1/threads/T/cancel')).status, 202);
  t.match(endOf(await stream.rest()), { termination: { type: 'cancelled' } });
  await viewOf(troupe, 'T').check(t);
  t.strictSame(called, ['p', 'q', 'p']);
});

t.test('executes actions scheduled by actions in the same phase', async (t) => {
  const chain = pluginOf('chain', {
    hooks: { step_start: () => ({ actions: [{ key: 'chain:go', payload: 3 }] }) },
    actions: {
      'chain:go': (left, { state }) => ({
        state: [update(count, (state.get(count) ?? 0) + 1)],
        actions: left === 1 ? [] : [{ key: 'chain:go', payload: Number(left) - 1 }],
      }),
    },
  });
  let atInference: number | undefined;
  const reader = pluginOf('reader', {
    hooks: {
      before_inference: ({ state }) => {
        atInference = state.get(count);
        return undefined;
      },
    },
  });
  const troupe = await startWith(t, { agents: ownAgent('chain', 'reader'), plugins: [chain, reader] });
  t.match(stateIn(await troupe.runToEnd(say('own'))), { 'test.count': 3 });
  t.equal(atInference, 3);
});

t.test('ends the run with an error on an endless chain of actions', async (t) => {
  let done = 0;
  const again = { actions: [{ key: 'loop:go', payload: null }] } as const;
  const loop = pluginOf('loop', {
    hooks: { before_inference: () => again },
    actions: {
      'loop:go': () => {
        done += 1;
        return again;
      },
    },
  });
  const troupe = await startWith(t, {
    agents: ownAgent('loop'),
    plugins: [loop],
    settings: { max_phase_rounds: 5 },
  });
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(endOf(events), { termination: { type: 'error', value: /before_inference/ } });
  t.equal(done, 5);
  t.equal(troupe.models.requests.length, 0);
  const view = viewOf(troupe, 'T');
  t.match(await view.dispatches(), [{ attempt_count: 0 }], 'the run is not retried');
  t.match(endOf(await troupe.runToEnd(say('echo', 'y', 'T'))), { termination: { type: 'natural_end' } });
});

t.test('records an action that fails or has no handler, and continues the run', async (t) => {
  const failing = pluginOf('failing', {
    hooks: {
      run_start: () => ({
        actions: [
          { key: 'failing:go', payload: { n: 1 } },
          { key: 'other:go', payload: null },
        ],
      }),
    },
    actions: {
      'failing:go': () => {
        throw new Error('no luck');
      },
    },
  });
  const troupe = await startWith(t, { agents: ownAgent('failing'), plugins: [failing] });
  const events = await troupe.runToEnd(say('own'));
  t.match(endOf(events), { termination: { type: 'natural_end' } });
  const failed = stateIn(events)['__runtime.failed_scheduled_actions'];
  t.match(failed, [{ key: 'failing:go', error: 'no luck' }, { key: 'other:go' }]);
  t.match(stateIn(events)['__runtime.pending_scheduled_actions'] ?? { actions: [] }, { actions: [] });
});

t.test('ends the run after the inference at the request of a hook, and interrupts its calls', async (t) => {
  const ender = pluginOf('ender', { hooks: { after_inference: () => ({ end: true }) } });
  const troupe = await startWith(t, { agents: ownAgent('ender'), plugins: [ender] });
  troupe.models.steps.push(weather());
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(endOf(events), {
    termination: { type: 'behavior_requested' },
    result: { status: 'done', status_reason: 'behavior_requested' },
  });
  t.match(only(events, 'tool_call_done'), [
    { outcome: 'failed', result: { message: '[Tool execution was interrupted]' } },
  ]);
  t.ok((await viewOf(troupe, 'T').kinds(events[0]?.run_id)).includes('RunFinished'));
  await viewOf(troupe, 'T').check(t);
});
