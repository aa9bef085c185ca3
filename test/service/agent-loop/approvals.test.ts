import t from 'tap';
import { z } from 'zod';
import { AgentSpec } from '../../../src/schema/agent.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { asks, type Call } from '../models.ts';
import { eventually } from '../troupe.ts';
import { viewOf } from '../view.ts';
import { endOf, only, requestsOf, say, says, startWith, stateIn, toolsIn } from './agents.ts';
import { asking, decide, decideEdited, guarded, logged } from './permissions.ts';

/** Decisions that edit a call, are remembered or expire: agent-loop.md 14.1, runtime.md 12. */

const DENIED = "Tool 'get_weather' denied by permission rules";

t.test('lets a person edit the arguments of a call', async (t) => {
  const rule = { tool: 'get_weather', behavior: 'ask' };
  const { troupe, run_id } = await asking(t, [rule], ['c1', 'get_weather', { location: 'Oslo' }]);
  troupe.models.steps.push(says('done'));
  await decideEdited(troupe, 'c1', { tool: 'get_weather', arguments: { location: 'Rome' } });
  await viewOf(troupe, 'T').until(run_id, 'done');
  t.match(await logged(troupe, run_id, 'ToolCallResumed'), [{ result: { location: 'Rome' } }]);
});

t.test('checks edited arguments by the tool before accepting them, and by the rules', async (t) => {
  const rules = [
    { tool: 'get_weather', behavior: 'ask' },
    { tool: 'get_weather(location = "Paris")', behavior: 'deny' },
  ];
  const call: Call = ['c1', 'get_weather', { location: 'Oslo' }];
  await t.test('by the tool', async (t) => {
    const { troupe, run_id } = await asking(t, rules, call);
    const wrong = { tool: 'get_weather', arguments: { location: 5 } };
    t.match(await decideEdited(troupe, 'c1', wrong), {
      status: 422,
      body: { error: /^arguments: 'location': / },
    });
    t.match(await viewOf(troupe, 'T').run(run_id), { waiting: { ticket_ids: ['perm_c1'] } });
    t.strictSame(await logged(troupe, run_id, 'MailboxDecisionReceived'), []);
  });
  await t.test('by the rules', async (t) => {
    const { troupe, run_id } = await asking(t, rules, call);
    await decideEdited(troupe, 'c1', { tool: 'get_weather', arguments: { location: 'Paris' } });
    t.match(await viewOf(troupe, 'T').until(run_id, 'done'), {
      termination_reason: { type: 'blocked', value: DENIED },
    });
    await viewOf(troupe, 'T').check(t);
  });
});

t.test('requests no approval for a call with invalid arguments', async (t) => {
  const executed: number[] = [];
  const counter = defineTool({
    id: 'counter',
    description: 'Counts.',
    input: z.object({ by: z.number() }),
    needsApproval: true,
    execute: ({ by }) => ({ data: executed.push(by) }),
  });
  const troupe = await startWith(t, {
    agents: [guarded([{ tool: 'counter', behavior: 'ask' }])],
    tools: [counter],
  });
  troupe.models.steps.push(asks(['c1', 'counter', { by: 'one' }]), says('done'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(only(events, 'tool_call_done'), [
    { outcome: 'failed', result: { message: /^Invalid arguments: / } },
  ]);
  t.match(endOf(events), { termination: { type: 'natural_end' } });
});

t.test('applies a remembered approval to later runs of the thread, also after a restart', async (t) => {
  const { troupe, executed, run_id } = await asking(t, [{ tool: 'note', behavior: 'ask' }], ['c1', 'note']);
  troupe.models.steps.push(asks(['c2', 'note']), says('done'));
  await decide(troupe, 'c1', 'resume', { approved: true, remember: 'thread' });
  await viewOf(troupe, 'T').until(run_id, 'done');
  t.strictSame(executed, ['c1', 'c2'], 'the approval applies at once');
  await troupe.restart();
  troupe.models.steps.push(asks(['c3', 'note']), says('done'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(endOf(events), { termination: { type: 'natural_end' } });
  t.strictSame(executed, ['c1', 'c2', 'c3']);
  t.match(stateIn(events), {
    permission_policy: { rules: [{ tool: 'note', behavior: 'allow', scope: 'thread' }] },
  });
  troupe.models.steps.push(asks(['c4', 'note']));
  t.match(endOf(await troupe.runToEnd(say('own', 'x', 'other'))), { termination: { type: 'suspended' } });
});

t.test('applies a remembered denial to later calls of the thread', async (t) => {
  const { troupe, executed, run_id } = await asking(t, [{ tool: 'note', behavior: 'ask' }], ['c1', 'note']);
  troupe.models.steps.push(says('done'));
  await decide(troupe, 'c1', 'cancel', { remember: 'thread' });
  await viewOf(troupe, 'T').until(run_id, 'done');
  t.notOk(toolsIn(requestsOf(troupe).at(-1)).includes('note'), 'a denied tool is not offered');
  troupe.models.steps.push(asks(['c2', 'note']));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(endOf(events), { termination: { type: 'blocked', value: /'note' denied/ } });
  t.strictSame(executed, []);
});

t.test('limits a remembered approval to its pattern', async (t) => {
  const call: Call = ['c1', 'get_weather', { location: 'Oslo' }];
  const { troupe, run_id } = await asking(t, [{ tool: 'get_weather', behavior: 'ask' }], call);
  troupe.models.steps.push(
    asks(['c2', 'get_weather', { location: 'Oslo' }], ['c3', 'get_weather', { location: 'Rome' }]),
  );
  await decide(troupe, 'c1', 'resume', {
    approved: true,
    remember: 'thread',
    pattern: 'get_weather(location = "Oslo")',
  });
  const run = await eventually(
    () => viewOf(troupe, 'T').run(run_id),
    ({ waiting }) => waiting?.tickets?.[0]?.tool_call_id === 'c3',
  );
  t.equal(run.waiting?.tickets?.length, 1);
});

t.test('prefers a denying rule over a remembered approval', async (t) => {
  const { troupe, run_id, executed } = await asking(t, [{ tool: 'note', behavior: 'ask' }], ['c1', 'note']);
  troupe.models.steps.push(says('done'));
  await decide(troupe, 'c1', 'resume', { approved: true, remember: 'thread' });
  await viewOf(troupe, 'T').until(run_id, 'done');
  await troupe.restart({ agents: [AgentSpec.parse(guarded([{ tool: 'note', behavior: 'deny' }]))] });
  troupe.models.steps.push(asks(['c2', 'note']));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(endOf(events), { termination: { type: 'blocked' } });
  t.strictSame(executed, ['c1']);
});

const HOUR = 3_600_000;

for (const restarted of [false, true]) {
  const through = restarted ? ', also through a restart' : '';
  t.test(`denies an expired ask${through}`, async (t) => {
    const rule = { tool: 'note', behavior: 'ask', timeout_secs: 3600 };
    const { troupe, executed, events, run_id, pass } = await asking(t, [rule], ['c1', 'note']);
    t.match(only(events, 'tool_call_done')[0]?.result, { suspension: { expires: { outcome: 'cancel' } } });
    troupe.models.steps.push(says('without it'));
    if (restarted) await troupe.restart();
    pass(HOUR + 1000);
    t.match(await viewOf(troupe, 'T').until(run_id, 'done'), { final_output: 'without it' });
    t.strictSame(executed, []);
    t.match(await logged(troupe, run_id, 'ToolCallResumed'), [{ target_id: 'c1', action: 'cancel' }]);
    t.equal((await decide(troupe, 'c1', 'resume')).status, 404);
    await viewOf(troupe, 'T').check(t);
  });

  t.test(`approves an expired ask if its rule says so${through}`, async (t) => {
    const rule = { tool: 'note', behavior: 'ask', timeout_secs: 3600, on_timeout: 'approve' };
    const { troupe, executed, run_id, pass } = await asking(t, [rule], ['c1', 'note']);
    troupe.models.steps.push(says('with it'));
    if (restarted) await troupe.restart();
    pass(HOUR + 1000);
    t.match(await viewOf(troupe, 'T').until(run_id, 'done'), { final_output: 'with it' });
    t.strictSame(executed, ['c1']);
    await viewOf(troupe, 'T').check(t);
  });
}

t.test('applies a deny rule added during a suspension only to later runs', async (t) => {
  const rule = { tool: 'note', behavior: 'ask', timeout_secs: 3600, on_timeout: 'approve' };
  const { troupe, executed, run_id, pass } = await asking(t, [rule], ['c1', 'note']);
  await troupe.restart({ agents: [AgentSpec.parse(guarded([rule, { tool: 'n*', behavior: 'deny' }]))] });
  troupe.models.steps.push(says('done'), asks(['c2', 'note']));
  pass(HOUR + 1000);
  t.match(await viewOf(troupe, 'T').until(run_id, 'done'), { termination_reason: { type: 'natural_end' } });
  t.match(endOf(await troupe.runToEnd(say('own', 'x', 'T'))), { termination: { type: 'blocked' } });
  t.strictSame(executed, ['c1']);
});

t.test('keeps an explicit decision when the time limit expires', async (t) => {
  const rule = { tool: 'note', behavior: 'ask', timeout_secs: 3600 };
  const { troupe, executed, run_id, pass } = await asking(t, [rule], ['c1', 'note'], ['c2', 'note']);
  troupe.models.steps.push(says('done'));
  await decide(troupe, 'c1', 'resume');
  await eventually(
    () => viewOf(troupe, 'T').run(run_id),
    ({ waiting }) => waiting?.tickets?.length === 1,
  );
  pass(HOUR + 1000);
  await viewOf(troupe, 'T').until(run_id, 'done');
  t.strictSame(executed, ['c1']);
});
