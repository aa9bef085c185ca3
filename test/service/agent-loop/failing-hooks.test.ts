import t from 'tap';
import { asks } from '../models.ts';
import { createTestTools } from '../tools.ts';
import { eventually } from '../troupe.ts';
import { viewOf } from '../view.ts';
import { endOf, only, ownAgent, pluginOf, say, startWith, types } from './agents.ts';

/** Runs whose plugins fail: agent-loop.md 5.4. They end with `error` exactly once, in every phase. */

const weather = () => asks(['c1', 'get_weather', { location: 'Oslo' }]);

for (const phase of ['run_start', 'step_start', 'before_inference', 'after_inference', 'step_end'] as const) {
  t.test(`ends the run with an error on a failing ${phase} hook without a retry`, async (t) => {
    let calls = 0;
    const broken = pluginOf('broken', {
      hooks: {
        [phase]: () => {
          calls += 1;
          throw new Error('broken on purpose');
        },
      },
    });
    const troupe = await startWith(t, { agents: ownAgent('broken'), plugins: [broken] });
    const events = await troupe.runToEnd(say('own', 'x', 'T'));
    t.match(endOf(events), { termination: { type: 'error', value: /broken on purpose/ } });
    t.equal(only(events, 'run_finish').length, 1);
    t.equal(only(events, 'step_start').length, only(events, 'step_end').length);
    t.equal(calls, 1);
    await viewOf(troupe, 'T').check(t);
    t.match(endOf(await troupe.runToEnd(say('echo', 'y', 'T'))), { termination: { type: 'natural_end' } });
  });
}

for (const phase of ['before_tool_execute', 'after_tool_execute'] as const) {
  t.test(`ends the run with an error on a failing ${phase} hook`, async (t) => {
    const broken = pluginOf('broken', {
      hooks: { [phase]: () => Promise.reject(new Error('broken on purpose')) },
    });
    const troupe = await startWith(t, { agents: ownAgent('broken'), plugins: [broken] });
    troupe.models.steps.push(weather());
    const events = await troupe.runToEnd(say('own', 'x', 'T'));
    t.match(endOf(events), { termination: { type: 'error', value: /broken on purpose/ } });
    t.equal(only(events, 'step_start').length, only(events, 'step_end').length);
    await viewOf(troupe, 'T').check(t);
  });
}

const brokenStepEnd = pluginOf('broken', {
  hooks: {
    step_end: () => {
      throw new Error('broken on purpose');
    },
  },
});

for (const [name, tool] of [
  ['executes tools', 'note'],
  ['suspends', 'risky'],
] as const) {
  t.test(`ends the run with an error on a failing step_end hook in a step that ${name}`, async (t) => {
    const { tools } = createTestTools();
    const troupe = await startWith(t, { agents: ownAgent('broken'), plugins: [brokenStepEnd], tools });
    troupe.models.steps.push(asks(['c1', tool]));
    const events = await troupe.runToEnd(say('own', 'x', 'T'));
    t.match(endOf(events), { termination: { type: 'error', value: /broken on purpose/ } });
    t.equal(only(events, 'step_start').length, only(events, 'step_end').length);
    await viewOf(troupe, 'T').check(t);
  });
}

t.test('closes the run despite a failing run_end hook', async (t) => {
  const broken = pluginOf('broken', {
    hooks: {
      run_end: () => {
        throw new Error('broken on purpose');
      },
    },
  });
  const troupe = await startWith(t, { agents: ownAgent('broken'), plugins: [broken] });
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.equal(types(events).at(-1), 'run_finish');
  await eventually(
    () => viewOf(troupe, 'T').runs(),
    ([run]) => run?.status === 'done',
  );
  await viewOf(troupe, 'T').check(t);
});
