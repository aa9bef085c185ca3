import t, { type Test } from 'tap';
import { NO_RECORDS } from '../../../src/configuration/records.ts';
import { AgentSpec } from '../../../src/schema/agent.ts';
import { RunList } from '../../../src/schema/run.ts';
import { asks, hangs } from '../models.ts';
import { eventually, startTroupe, type Troupe } from '../troupe.ts';

/** Two services, one of which calls the other (a2a.md 19, check 54; agent-loop.md 20, check 42). */

const messages = [{ role: 'user', content: 'Go' }];
const start = { agentId: 'far', threadId: 'T', messages };

/** `far` of the office is the agent `target` of the worker. */
const both = (
  name: string,
  target: string,
  act: (t: Test, services: { worker: Troupe; office: Troupe }) => Promise<void>,
) =>
  t.test(name, async (t) => {
    const worker = await startTroupe(t);
    const endpoint = { base_url: `${worker.url}/v1/a2a`, target, options: { poll_interval_ms: 20 } };
    const agents = [
      { id: 'far', endpoint },
      { id: 'boss', model_id: 'steps', delegates: ['far'] },
    ].map((agent) => AgentSpec.parse(agent));
    // Each service needs its own data directory.
    await t.test('in an office with remote agents', async (t) => {
      const office = await startTroupe(t, { app: { records: { ...NO_RECORDS, agents } } });
      await act(t, { worker, office });
    });
  });

const runsOf = async ({ call }: Troupe) => RunList.parse((await call('GET', '/v1/runs')).body).items;

both('an agent of the worker answers a run of the office', 'echo', async (t, { worker, office }) => {
  const events = await office.runToEnd(start);
  const text = events.flatMap((event) => (event.event_type === 'text_delta' ? [event.delta] : [])).join('');
  t.equal(text, 'echo: Go');
  t.match(events.at(-1), { result: { response: 'echo: Go', status: 'done' } });
  const activities = events.filter(({ activity_type }) => activity_type === 'a2a-task-progress');
  t.ok(activities.length > 0);
  const [task] = await runsOf(worker);
  t.match(task, { agent_id: 'echo', status: 'done', run_id: activities[0]?.message_id });
  const again = await office.runToEnd({ ...start, messages: [{ role: 'user', content: 'On' }] });
  t.match(again.at(-1), { result: { response: 'echo: On' } });
  const [first, second] = await runsOf(worker);
  t.equal(first?.thread_id, second?.thread_id, 'the remote conversation is the same');
  t.not(first?.run_id, second?.run_id);
});

both('a delegated task is a run of the worker only', 'echo', async (t, { worker, office }) => {
  office.models.steps.push(asks(['c1', 'agent_run_far', { prompt: 'count' }]));
  const events = await office.runToEnd({ ...start, agentId: 'boss' });
  t.match(
    events.find(({ event_type }) => event_type === 'tool_call_done'),
    { result: { status: 'success', data: { response: 'echo: count', steps: 1 } } },
  );
  t.equal((await runsOf(office)).length, 1);
  t.match(await runsOf(worker), [{ agent_id: 'echo', status: 'done' }]);
});

both('a cancel in the office ends the run of the worker', 'steps', async (t, { worker, office }) => {
  worker.models.steps.push(hangs('partial'));
  const stream = await office.run(start);
  await stream.until('activity_snapshot');
  t.equal((await office.post('/v1/threads/T/cancel')).status, 202);
  t.match((await stream.rest()).at(-1), { termination: { type: 'cancelled' } });
  const [run] = await eventually(
    () => runsOf(worker),
    ([first]) => first?.status === 'done',
  );
  t.match(run, { termination_reason: { type: 'cancelled' } });
});

t.test('runs and delegates to the public agent of a configured server', async (t) => {
  const worker = await startTroupe(t);
  await t.test('in an office that names the server', async (t) => {
    const agents = [AgentSpec.parse({ id: 'boss', model_id: 'steps', delegates: ['remote/default'] })];
    const office = await startTroupe(t, {
      settings: { a2a_remote_url: worker.url },
      app: { records: { ...NO_RECORDS, agents } },
    });
    const asked = { agentId: 'remote/default', messages };
    await eventually(
      () => office.call('POST', '/v1/runs', asked),
      ({ status }) => status === 200,
    );
    const events = await office.runToEnd(asked);
    t.match(events.at(-1), { result: { response: 'Scripted response to: Go' } });
    office.models.steps.push(asks(['c1', 'agent_run_remote/default', { prompt: 'count' }]));
    const delegated = await office.runToEnd({ ...asked, agentId: 'boss' });
    t.match(
      delegated.find(({ event_type }) => event_type === 'tool_call_done'),
      { result: { status: 'success', data: { response: 'Scripted response to: count' } } },
    );
    t.match((await office.runToEnd({ ...asked, agentId: 'default' })).at(-1), {
      result: { response: 'Scripted response to: Go' },
    });
  });
  t.equal((await runsOf(worker)).length, 3, 'the default agent of each instance is separate');
});
