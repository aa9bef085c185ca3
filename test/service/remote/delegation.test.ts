import t, { type Test } from 'tap';
import { NO_RECORDS } from '../../../src/configuration/records.ts';
import { AgentSpec } from '../../../src/schema/agent.ts';
import { RunList } from '../../../src/schema/run.ts';
import { asks, type Inference } from '../models.ts';
import { eventually, type RunEventLike, startTroupe } from '../troupe.ts';
import { farAgent, startPeer } from './peer.ts';

/** Agents that delegate tasks to agents of another service (a2a.md 12.10). */

const CALL = 'c1';
const messages = [{ role: 'user', content: 'Go' }];

const startBoth = async (t: Test, more: object = {}) => {
  const peer = await startPeer(t);
  const boss = { id: 'boss', model_id: 'steps', max_rounds: 8, delegates: ['far'] };
  const agents = [boss, farAgent(peer, more)].map((agent) => AgentSpec.parse(agent));
  const troupe = await startTroupe(t, { app: { records: { ...NO_RECORDS, agents } } });
  const delegates = (prompt = ' count the sheep '): Inference => asks([CALL, 'agent_run_far', { prompt }]);
  return {
    peer,
    troupe,
    /** The model calls the delegate once, and then completes. */
    start() {
      troupe.models.steps.push(delegates());
      return troupe.run({ agentId: 'boss', threadId: 'T', messages });
    },
    runs: async () => RunList.parse((await troupe.call('GET', '/v1/runs')).body).items,
    decide: (payload: unknown, action = 'resume') =>
      troupe.post('/v1/threads/T/decision', { toolCallId: CALL, action, payload }),
  };
};

const resultOf = (events: readonly RunEventLike[]) =>
  events.find(({ event_type, id }) => event_type === 'tool_call_done' && id === CALL)?.result;

const progressOf = (events: readonly RunEventLike[]) =>
  events.flatMap(({ activity_type, content }) =>
    activity_type === 'tool-call-progress' ? [JSON.parse(JSON.stringify(content))] : [],
  );

t.test('submits a call as a task of the other service, and returns its response', async (t) => {
  const { peer, troupe, start, runs } = await startBoth(t);
  const stream = await start();
  const task = await peer.task();
  t.match(task.said, [{ role: 'ROLE_USER', parts: [{ text: 'count the sheep' }] }]);
  t.notOk(Object.hasOwn(task.said[0] ?? {}, 'taskId') || Object.hasOwn(task.said[0] ?? {}, 'contextId'));
  task.becomes('TASK_STATE_COMPLETED', 'three');
  const events = await stream.rest();
  t.match(resultOf(events), {
    tool_name: 'agent_run_far',
    status: 'success',
    data: {
      agent_id: 'far',
      status: 'completed',
      response: 'three',
      output: { text: 'three', artifacts: [{ id: 'response' }], raw: { id: task.id } },
      steps: 1,
    },
    message: null,
  });
  t.strictSame(
    progressOf(events).map(({ status, message }) => `${status}: ${message}`),
    ['running: delegating to far', 'done: delegation to far completed'],
  );
  t.notOk(events.some(({ activity_type }) => activity_type === 'a2a-task-progress'));
  t.match(events.at(-1), { termination: { type: 'natural_end' } });
  t.equal((await runs()).length, 1, 'this service has only the run of the caller');
  t.strictSame(peer.cancelled, []);
  const stats = await troupe.admin('GET', '/v1/agents/boss/runtime-stats');
  t.match(JSON.stringify(stats.body), /"delegations":1/);
});

t.test('fails the call with the error of the task, and continues the run', async (t) => {
  const cases: [string, string | undefined, object, string][] = [
    [
      'TASK_STATE_FAILED',
      'out of sheep',
      {
        message: 'delegation to far failed: out of sheep',
        data: { status: 'failed: out of sheep', steps: 1 },
      },
      'failed',
    ],
    [
      'TASK_STATE_REJECTED',
      undefined,
      { data: { status: 'failed: remote task ended in TASK_STATE_REJECTED' } },
      'failed',
    ],
    [
      'TASK_STATE_CANCELED',
      undefined,
      { message: 'delegation to far cancelled', data: { status: 'cancelled' } },
      'cancelled',
    ],
  ];
  for (const [state, text, result, progress] of cases) {
    await t.test(state, async (t) => {
      const { peer, start } = await startBoth(t);
      const stream = await start();
      (await peer.task()).becomes(state, text);
      const events = await stream.rest();
      t.match(resultOf(events), { status: 'error', ...result });
      t.equal(progressOf(events).at(-1)?.status, progress);
      t.match(events.at(-1), { termination: { type: 'natural_end' } });
    });
  }
});

t.test('describes a rejected message in a sentence', async (t) => {
  const { peer, start } = await startBoth(t);
  peer.answersWith(500, { error: { code: 500, message: 'broken' } });
  const events = await (await start()).rest();
  t.match(resultOf(events), {
    status: 'error',
    data: null,
    message: /^remote error: A2A submission rejected: /,
  });
  t.equal(progressOf(events).at(-1)?.status, 'failed');
  t.match(events.at(-1), { termination: { type: 'natural_end' } });
});

t.test('cancels a task that exceeds its timeout', async (t) => {
  const { peer, start } = await startBoth(t, { timeout_ms: 3000 });
  const events = await (await start()).rest();
  t.match(resultOf(events), {
    status: 'error',
    message: 'delegation to far timed out',
    data: { agent_id: 'far', status: 'timeout' },
  });
  await eventually(
    async () => peer.cancelled,
    (ids) => ids.length > 0,
  );
  t.strictSame(peer.cancelled, ['task-1']);
});

t.test('suspends the call while its task needs input, and forwards a decision with a text', async (t) => {
  const { peer, troupe, start, runs, decide } = await startBoth(t);
  const stream = await start();
  const task = await peer.task();
  task.becomes('TASK_STATE_INPUT_REQUIRED', 'Which field?');
  const events = await stream.rest();
  t.match(resultOf(events), {
    status: 'pending',
    suspension: {
      suspension: {
        id: `delegate_tool:${CALL}`,
        action: 'agent_delegate:input_required',
        message: 'Which field?',
        parameters: {
          agent_id: 'far',
          backend_status: 'waiting_input: Which field?',
          child_run_id: null,
          tool_call_id: CALL,
        },
      },
      pending: { id: CALL, name: 'agent_run_far' },
      resume_mode: 'use_decision_as_tool_result',
    },
  });
  t.match(progressOf(events).at(-1), {
    status: 'pending',
    message: 'delegation to far waiting for input: Which field?',
  });
  await troupe.restart();
  t.equal((await decide({ text: 'the green one' })).status, 202);
  t.equal(await peer.answered(), task);
  t.match(task.said[1], {
    taskId: task.id,
    contextId: task.contextId,
    parts: [{ text: 'the green one' }],
  });
  task.becomes('TASK_STATE_COMPLETED', 'seven');
  const [run] = await eventually(runs, ([first]) => first?.status === 'done');
  t.match(run, { termination_reason: { type: 'natural_end' } });
  const { body } = await troupe.call('GET', '/v1/threads/T/messages');
  t.match(JSON.stringify(body), /seven/);
  t.strictSame(peer.cancelled, []);
});

t.test('uses a decision without a text as the result, and cancels the task', async (t) => {
  const { peer, troupe, start, runs, decide } = await startBoth(t);
  const stream = await start();
  (await peer.task()).becomes('TASK_STATE_AUTH_REQUIRED');
  t.match(resultOf(await stream.rest()), {
    suspension: {
      suspension: {
        action: 'agent_delegate:auth_required',
        message: 'remote agent requires authentication',
      },
    },
  });
  t.equal((await decide({ approved: true })).status, 202);
  await eventually(runs, ([first]) => first?.status === 'done');
  const { body } = await troupe.call('GET', '/v1/threads/T/messages');
  t.match(JSON.stringify(body), /approved/);
  await eventually(
    async () => peer.cancelled,
    (ids) => ids.length > 0,
  );
  t.strictSame(peer.cancelled, ['task-1']);
});

for (const [how, give] of [
  ['declined', (office: Awaited<ReturnType<typeof startBoth>>) => office.decide(null, 'cancel')],
  [
    'superseded by new input',
    ({ troupe }) => troupe.post('/v1/threads/T/messages', { agentId: 'boss', messages }),
  ],
  ['cancelled with its run', ({ troupe }) => troupe.post('/v1/threads/T/cancel')],
] as [string, (office: Awaited<ReturnType<typeof startBoth>>) => Promise<{ status: number }>][]) {
  for (const restarted of [false, true]) {
    t.test(
      `a suspended call that is ${how} leaves no task behind${restarted ? ' after a restart' : ''}`,
      async (t) => {
        const office = await startBoth(t);
        const stream = await office.start();
        (await office.peer.task()).becomes('TASK_STATE_INPUT_REQUIRED', 'Which?');
        await stream.rest();
        await eventually(office.runs, ([run]) => run?.status === 'waiting');
        if (restarted) await office.troupe.restart();
        t.equal((await give(office)).status, 202);
        await eventually(office.runs, ([run]) => run?.status === 'done');
        await eventually(
          async () => office.peer.cancelled,
          (ids) => ids.length > 0,
        );
        t.strictSame(office.peer.cancelled, ['task-1']);
      },
    );
  }
}

t.test('cancels the task of a cancelled run', async (t) => {
  const { peer, troupe, start } = await startBoth(t);
  const stream = await start();
  await peer.task();
  t.equal((await troupe.post('/v1/threads/T/cancel')).status, 202);
  t.match((await stream.rest()).at(-1), { termination: { type: 'cancelled' } });
  await eventually(
    async () => peer.cancelled,
    (ids) => ids.length > 0,
  );
  t.strictSame(peer.cancelled, ['task-1']);
});

t.test('rejects a blank prompt before sending anything', async (t) => {
  const { peer, troupe } = await startBoth(t);
  troupe.models.steps.push(asks([CALL, 'agent_run_far', { prompt: '  ' }]));
  const events = await troupe.runToEnd({ agentId: 'boss', threadId: 'T', messages });
  t.match(resultOf(events), { status: 'error', message: 'Invalid arguments: prompt must not be empty' });
  t.strictSame(peer.calls, []);
});

/** Starts a call with a task and returns the id of its run, before its service stops. */
const underWay = async (office: Awaited<ReturnType<typeof startBoth>>) => {
  const stream = await office.start();
  const task = await office.peer.task();
  const { run_id } = await stream.until('run_start');
  await eventually(
    async () => JSON.stringify((await office.runs())[0]?.state),
    (state = '') => state.includes(task.id),
  );
  return { task, run_id, stream };
};

t.test('follows the task of an interrupted call after a restart without submitting another', async (t) => {
  const office = await startBoth(t);
  const { task } = await underWay(office);
  await office.troupe.restart();
  task.becomes('TASK_STATE_COMPLETED', 'three');
  const [run] = await eventually(office.runs, ([each]) => each?.status === 'done');
  t.match(run, { termination_reason: { type: 'natural_end' } });
  t.equal(task.said.length, 1);
  t.strictSame(office.peer.cancelled, []);
  const { body } = await office.troupe.call('GET', '/v1/threads/T/messages');
  t.match(JSON.stringify(body), /three/);
  t.notMatch(JSON.stringify(body), /was interrupted/);
});

t.test('cancels the task of an interrupted call when its run is cancelled later', async (t) => {
  const office = await startBoth(t);
  const { task } = await underWay(office);
  await office.troupe.restart();
  t.strictSame(office.peer.cancelled, []);
  t.equal((await office.troupe.post('/v1/threads/T/cancel')).status, 202);
  await eventually(office.runs, ([run]) => run?.status === 'done');
  await eventually(
    async () => office.peer.cancelled,
    (ids) => ids.length > 0,
  );
  t.strictSame(office.peer.cancelled, [task.id]);
});

t.test('stores nothing about the task of a finished call', async (t) => {
  const office = await startBoth(t);
  const { task, stream } = await underWay(office);
  task.becomes('TASK_STATE_COMPLETED', 'three');
  await stream.rest();
  const [run] = await eventually(office.runs, ([each]) => each?.status === 'done');
  t.notMatch(JSON.stringify(run?.state), /"kept"/);
  t.strictSame(office.peer.cancelled, []);
});

t.test('cancels the task of a call whose run ends with its process', async (t) => {
  const peer = await startPeer(t);
  const agents = [
    { id: 'boss', model_id: 'steps', delegates: ['mid'] },
    { id: 'mid', model_id: 'steps', delegates: ['far'] },
    farAgent(peer),
  ].map((agent) => AgentSpec.parse(agent));
  const troupe = await startTroupe(t, { app: { records: { ...NO_RECORDS, agents } } });
  troupe.models.steps.push(asks(['c0', 'agent_run_mid', { prompt: 'go' }]));
  troupe.models.steps.push(asks([CALL, 'agent_run_far', { prompt: 'count' }]));
  await troupe.run({ agentId: 'boss', threadId: 'T', messages });
  const task = await peer.task();
  const runs = async () => RunList.parse((await troupe.call('GET', '/v1/runs')).body).items;
  await eventually(
    async () => JSON.stringify(await runs()),
    (text) => text.includes(task.id),
  );
  await troupe.restart();
  await eventually(
    async () => peer.cancelled,
    (ids) => ids.length > 0,
  );
  t.strictSame(peer.cancelled, [task.id], 'the task of the lost run is cancelled once');
  await eventually(runs, (all) => all.every(({ status }) => status === 'done'));
});
