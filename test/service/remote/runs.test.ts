import t, { type Test } from 'tap';
import { NO_RECORDS } from '../../../src/configuration/records.ts';
import { AgentSpec } from '../../../src/schema/agent.ts';
import { eventually, startTroupe, type Troupe } from '../troupe.ts';
import { farAgent, startPeer } from './peer.ts';

/** Remote agents over HTTP (a2a.md 12). */

const messages = [{ role: 'user', content: 'Go' }];
const start = { agentId: 'far', threadId: 'T', messages };

const startBoth = async (t: Test, more: object = {}) => {
  const peer = await startPeer(t);
  const agents = [AgentSpec.parse(farAgent(peer, more))];
  const troupe = await startTroupe(t, { app: { records: { ...NO_RECORDS, agents } } });
  return { peer, troupe };
};

const runOf = async (troupe: Troupe, id: unknown) => (await troupe.call('GET', `/v1/runs/${id}`)).body;

t.test('submits one message and completes with the result of the task', async (t) => {
  const { peer, troupe } = await startBoth(t);
  const stream = await troupe.run(start);
  const task = await peer.task();
  task.becomes('TASK_STATE_COMPLETED', 'gone');
  const events = await stream.rest();
  const text = events.flatMap((event) => (event.event_type === 'text_delta' ? [event.delta] : [])).join('');
  t.equal(text, 'gone');
  t.match(events.at(-1), {
    event_type: 'run_finish',
    termination: { type: 'natural_end' },
    result: { response: 'gone', status: 'done', status_reason: 'natural', output: { text: 'gone' } },
  });
  t.ok(events.some(({ activity_type }) => activity_type === 'a2a-task-progress'));
  t.equal(peer.calls.filter((call) => call === 'POST /message:send').length, 1);
  t.match(peer.headers[0], { 'a2a-version': '1.0', authorization: 'Bearer the-token' });
  t.strictSame(peer.cancelled, []);
});

t.test('suspends the run while its task needs input, and sends it the next message', async (t) => {
  const { peer, troupe } = await startBoth(t);
  const stream = await troupe.run(start);
  const task = await peer.task();
  task.becomes('TASK_STATE_INPUT_REQUIRED', 'Where?');
  const [first] = (await stream.rest()).slice(-1);
  t.match(first, {
    termination: { type: 'suspended' },
    result: { response: 'Where?', status: 'waiting_input' },
  });
  t.match(await runOf(troupe, first?.run_id), { status: 'waiting', waiting: { reason: 'user_input' } });
  const decision = { toolCallId: 'x', action: 'resume' };
  for (const path of [`/v1/runs/${first?.run_id}/decision`, '/v1/threads/T/decision'])
    t.equal((await troupe.post(path, decision)).status, 404);
  const again = await troupe.run({ ...start, messages: [{ role: 'user', content: 'Home' }] });
  t.equal(await peer.answered(), task);
  t.match(task.said[1], { taskId: task.id, contextId: task.contextId, parts: [{ text: 'Home' }] });
  task.becomes('TASK_STATE_COMPLETED', 'home');
  t.match((await again.rest()).at(-1), { run_id: first?.run_id, result: { response: 'home' } });
});

t.test('cancels a task at its deadline', async (t) => {
  const { peer, troupe } = await startBoth(t, { timeout_ms: 3000 });
  const stream = await troupe.run(start);
  await peer.task();
  t.match((await stream.rest()).at(-1), {
    termination: { type: 'stopped', value: { code: 'timeout' } },
    result: { status: 'timeout', status_reason: 'stopped:timeout' },
  });
  await eventually(
    async () => peer.cancelled,
    (ids) => ids.length > 0,
  );
  t.strictSame(peer.cancelled, ['task-1']);
});

t.test('cancels the task once', async (t) => {
  const { peer, troupe } = await startBoth(t);
  const stream = await troupe.run(start);
  await peer.task();
  await stream.until('activity_snapshot');
  t.equal((await troupe.post('/v1/threads/T/cancel')).status, 202);
  t.match((await stream.rest()).at(-1), {
    termination: { type: 'cancelled' },
    result: { status: 'cancelled' },
  });
  await eventually(
    async () => peer.cancelled,
    (ids) => ids.length > 0,
  );
  t.strictSame(peer.cancelled, ['task-1']);
});

t.test('cancels the task of a suspended run that is cancelled', async (t) => {
  const { peer, troupe } = await startBoth(t);
  const stream = await troupe.run(start);
  (await peer.task()).becomes('TASK_STATE_AUTH_REQUIRED');
  const end = (await stream.rest()).at(-1);
  t.match(end, { result: { status: 'waiting_auth', status_reason: 'auth_required' } });
  await troupe.restart();
  t.equal((await troupe.post(`/v1/runs/${end?.run_id}/cancel`)).status, 202);
  t.match(await runOf(troupe, end?.run_id), { status: 'done', termination_reason: { type: 'cancelled' } });
  await eventually(
    async () => peer.cancelled,
    (ids) => ids.length > 0,
  );
  t.strictSame(peer.cancelled, ['task-1']);
});

t.test('follows the task after a restart without submitting another', async (t) => {
  const { peer, troupe } = await startBoth(t);
  const stream = await troupe.run(start);
  const task = await peer.task();
  const { run_id } = await stream.until('run_start');
  await stream.until('activity_snapshot');
  await troupe.restart();
  t.match(await runOf(troupe, run_id), {
    state: {
      extensions: { __runtime_remote_backend: { targets: { [`a2a:${peer.url}`]: { task_id: task.id } } } },
    },
  });
  task.becomes('TASK_STATE_COMPLETED', 'later');
  const run = await eventually(
    () => runOf(troupe, run_id),
    ({ status }) => status === 'done',
  );
  t.match(run, { final_output: 'later', termination_reason: { type: 'natural_end' } });
  t.equal(task.said.length, 1);
  t.strictSame(peer.cancelled, []);
});

t.test('fails the run on a rejection, and completes it on an immediate message', async (t) => {
  const { peer, troupe } = await startBoth(t);
  peer.answersWith(401, { error: { code: 401, message: 'who are you' } });
  t.match((await troupe.runToEnd(start)).at(-1), {
    termination: { type: 'error', value: /^A2A submission rejected: .*who are you/ },
  });
  peer.answersWith(200, {});
  t.match((await troupe.runToEnd(start)).at(-1), {
    termination: { type: 'error', value: 'sendMessage response did not contain a task or message' },
  });
  peer.answersWith(200, { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'at once' }] } });
  t.match((await troupe.runToEnd(start)).at(-1), { result: { response: 'at once', status: 'done' } });
});

t.test('fails the run of an unreachable agent, and the service stays healthy', async (t) => {
  const agents = [AgentSpec.parse(farAgent({ url: 'http://127.0.0.1:1' }))];
  const troupe = await startTroupe(t, { app: { records: { ...NO_RECORDS, agents } } });
  t.match((await troupe.runToEnd(start)).at(-1), {
    termination: { type: 'error', value: /^failed to submit A2A task: / },
  });
  t.equal((await troupe.call('GET', '/health')).status, 200);
});

const ARTIFACTS = [
  {
    artifactId: 'a',
    parts: [
      { text: 'Here: ' },
      { data: { n: 1 }, filename: 'n.json' },
      { raw: 'aGk=', mediaType: 'text/plain', filename: 'hi.txt' },
    ],
  },
  {
    artifactId: 'b',
    parts: [{ url: 'https://a.example/x', mediaType: 'image/png' }, { url: 'javascript:alert(1)' }],
  },
];

t.test('returns files, links and data of a task as parts of the message and the artifact', async (t) => {
  const { peer, troupe } = await startBoth(t);
  const status = { state: 'TASK_STATE_COMPLETED' };
  peer.answersWith(200, { task: { id: 'far-1', contextId: 'c', status, artifacts: ARTIFACTS } });
  const events = await troupe.runToEnd(start);
  const text = events.flatMap((event) => (event.event_type === 'text_delta' ? [event.delta] : [])).join('');
  t.equal(text, 'Here: ', 'data is described by its type');
  t.match(
    events.flatMap(({ activity_type, content }) =>
      activity_type === 'file' || activity_type === 'data' ? [content] : [],
    ),
    [
      { data: { n: 1 }, filename: 'n.json' },
      { url: 'data:text/plain;base64,aGk=', filename: 'hi.txt' },
      { url: 'https://a.example/x', mediaType: 'image/png' },
    ],
  );
  const run_id = String(events[0]?.run_id);
  t.match(events.at(-1), { result: { response: 'Here: \n\n{"n":1}' } });
  const { body } = await troupe.call('GET', `/v1/a2a/tasks/${run_id}`);
  t.match(body, {
    artifacts: [
      {
        parts: [
          { text: 'Here: ' },
          { data: { n: 1 }, filename: 'n.json', mediaType: 'application/json' },
          { raw: 'aGk=', mediaType: 'text/plain', filename: 'hi.txt' },
          { url: 'https://a.example/x', mediaType: 'image/png' },
        ],
      },
    ],
  });
});

t.test('returns parts that a task made before its question once, at its end', async (t) => {
  const { peer, troupe } = await startBoth(t);
  const task = (state: string) => ({
    task: { id: 'far-1', contextId: 'c', status: { state }, artifacts: ARTIFACTS },
  });
  peer.answersWith(200, task('TASK_STATE_INPUT_REQUIRED'));
  const asked = await troupe.runToEnd(start);
  t.match(asked.at(-1), { termination: { type: 'suspended' } });
  t.notOk(asked.some(({ activity_type }) => activity_type === 'file'));
  peer.answersWith(200, task('TASK_STATE_COMPLETED'));
  const events = await troupe.runToEnd({ ...start, messages: [{ role: 'user', content: 'Go on' }] });
  t.equal(events.filter(({ activity_type }) => activity_type === 'file').length, 2);
});
