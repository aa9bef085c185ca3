import t from 'tap';
import type { Plugin } from '../../../src/plugins/plugin.ts';
import { asks, type TestModels } from '../models.ts';
import { createTestTools } from '../tools.ts';
import { viewOf } from '../view.ts';
import { endOf, ownAgent, pluginOf, resultsIn, say, startWith } from './agents.ts';

/** Several gates on one call, and one gate on several calls: agent-loop.md 6.3 and 7.1. */

type Verdict = 'proceed' | 'block' | 'suspend' | 'set_result';

const gate = (id: string, verdict: Verdict, tool = 'note') =>
  pluginOf(id, {
    gate: (call) => {
      if (call.name !== tool || verdict === 'proceed') return { kind: 'proceed' };
      if (verdict === 'block') return { kind: 'block', reason: `${id} says no` };
      if (verdict === 'set_result') return { kind: 'set_result', output: { data: `from ${id}` } };
      const ticket = {
        suspension: { id: `${id}_${call.id}`, action: `ask:${id}` },
        pending: { id: call.id, name: call.name, arguments: call.arguments },
        resume_mode: 'replay_tool_call' as const,
      };
      return call.decision ? { kind: 'proceed' } : { kind: 'suspend', ticket };
    },
  });

const gated = async (
  t: Parameters<typeof startWith>[0],
  models: (steps: TestModels['steps']) => void,
  ...gates: Plugin[]
) => {
  const { tools, executed } = createTestTools();
  const troupe = await startWith(t, {
    agents: ownAgent(...gates.map(({ id }) => id)),
    plugins: gates,
    tools,
  });
  models(troupe.models.steps);
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  return { troupe, events, executed };
};

const OUTWEIGH: [name: string, gates: [string, Verdict][], result: object, termination: object][] = [
  [
    'block',
    [
      ['s', 'suspend'],
      ['r', 'set_result'],
      ['b', 'block'],
      ['b2', 'block'],
    ],
    { status: 'error', message: 'b says no', metadata: { rejected: true } },
    { type: 'blocked', value: 'b says no' },
  ],
  [
    'suspend',
    [
      ['r', 'set_result'],
      ['s', 'suspend'],
      ['s2', 'suspend'],
    ],
    { status: 'pending', suspension: { suspension: { id: 's_c1' } } },
    { type: 'suspended' },
  ],
  [
    'set_result',
    [
      ['p', 'proceed'],
      ['r1', 'set_result'],
      ['r2', 'set_result'],
    ],
    { status: 'success', data: 'from r1' },
    { type: 'natural_end' },
  ],
];

for (const [name, gates, result, termination] of OUTWEIGH) {
  t.test(`applies ${name} over weaker verdicts, and the first plugin among equal verdicts`, async (t) => {
    const { events, executed } = await gated(
      t,
      (steps) => steps.push(asks(['c1', 'note'])),
      ...gates.map(([id, verdict]) => gate(id, verdict)),
    );
    t.match(resultsIn(events), [result]);
    t.match(endOf(events), { termination });
    t.strictSame(executed, []);
  });
}

t.test('executes the calls before a blocked one, but not those after it', async (t) => {
  const { events, executed, troupe } = await gated(
    t,
    (steps) => steps.push(asks(['a', 'note'], ['b', 'get_weather', { location: 'x' }], ['c', 'note'])),
    gate('b', 'block', 'get_weather'),
  );
  t.strictSame(executed, ['a']);
  t.match(resultsIn(events), [
    { status: 'success' },
    { message: 'b says no', metadata: { rejected: true } },
    { message: '[Tool execution was interrupted]' },
  ]);
  t.match(endOf(events), {
    termination: { type: 'blocked', value: 'b says no' },
    result: { status_reason: 'blocked:b says no' },
  });
  await viewOf(troupe, 'T').check(t);
});

t.test('gates and executes the calls after a suspended one', async (t) => {
  const { events, executed, troupe } = await gated(
    t,
    (steps) =>
      steps.push(
        asks(['a', 'get_weather', { location: 'x' }], ['b', 'note'], ['c', 'get_weather', { location: 'y' }]),
      ),
    gate('s', 'suspend', 'get_weather'),
  );
  t.strictSame(executed, ['b']);
  t.match(await viewOf(troupe, 'T').run(events[0]?.run_id), {
    waiting: { ticket_ids: ['s_a', 's_c'] },
  });
});
