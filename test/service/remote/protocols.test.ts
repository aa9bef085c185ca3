import t, { type Test } from 'tap';
import { NO_RECORDS } from '../../../src/configuration/records.ts';
import { AgentSpec } from '../../../src/schema/agent.ts';
import { RUN, startAgUi, taken } from '../ag-ui/ag-ui.ts';
import { find, framesOf, textOf, typesOf, user } from '../chat/chat.ts';
import { farAgent, startPeer } from './peer.ts';

/** Runs of remote agents in the chat protocols (a2a.md 12.8, chat-and-agui.md 13.1). */

const startAll = async (t: Test) => {
  const peer = await startPeer(t);
  const agents = [AgentSpec.parse(farAgent(peer))];
  const page = await startAgUi(t, { app: { records: { ...NO_RECORDS, agents } } });
  return { peer, page };
};

const pick = { name: 'pick', description: 'Picks', parameters: { type: 'object' } };

t.test(
  'chat: ends the response with tool-calls when a task needs input, and sends it the next message',
  async (t) => {
    const { peer, page } = await startAll(t);
    const chat = (...messages: unknown[]) =>
      page.open('/v1/ai-sdk/chat', { agentId: 'far', threadId: 'T', messages });
    const first = await chat(user('u1', 'Go'));
    const task = await peer.task();
    task.becomes('TASK_STATE_INPUT_REQUIRED', 'Where?');
    const frames = framesOf(await first.rest());
    t.equal(textOf(frames), 'Where?');
    t.match(find(frames, 'finish'), { finishReason: 'tool-calls' });
    t.ok(typesOf(frames).some((type) => type.startsWith('data-activity')));
    const second = await chat(user('u1', 'Go'), user('u2', 'Home'));
    await peer.answered();
    task.becomes('TASK_STATE_COMPLETED', 'home');
    const last = framesOf(await second.rest());
    t.equal(textOf(last), 'home');
    t.match(find(last, 'finish'), { finishReason: 'stop' });
  },
);

t.test('AG-UI: finishes the run with its result when a task needs input', async (t) => {
  const { peer, page } = await startAll(t);
  const body = { agentId: 'far', threadId: 'T', messages: [{ id: 'u1', role: 'user', content: 'Go' }] };
  const stream = await page.open(RUN, { ...body, tools: [] });
  (await peer.task()).becomes('TASK_STATE_INPUT_REQUIRED', 'Where?');
  const events = framesOf(await stream.rest());
  await taken(events);
  const end = find(events, 'RUN_FINISHED');
  t.match(end, {
    result: { response: 'Where?', status: 'waiting_input' },
    interrupt: { reason: 'tool_approval' },
  });
  t.notOk(Object.hasOwn(end, 'outcome'));
  t.equal(events.at(-1), end);
});

t.test('AG-UI: rejects client tools', async (t) => {
  const { peer, page } = await startAll(t);
  const body = { agentId: 'far', threadId: 'T', messages: [{ id: 'u1', role: 'user', content: 'Go' }] };
  const { status, body: answer } = await page.post(RUN, { ...body, tools: [pick] });
  t.equal(status, 400);
  t.strictSame(answer, {
    error: "agent 'far' backend does not support: frontend_tools",
    code: 'capability_mismatch',
  });
  t.strictSame(peer.calls, []);
  t.equal((await page.call('GET', '/v1/threads/T')).status, 404, 'nothing was written');
});

t.test('sends input and mailbox messages to a task that needs input', async (t) => {
  const { peer, page } = await startAll(t);
  const stream = await page.run({
    agentId: 'far',
    threadId: 'T',
    messages: [{ role: 'user', content: 'Go' }],
  });
  const task = await peer.task();
  task.becomes('TASK_STATE_INPUT_REQUIRED', 'Where?');
  const end = (await stream.rest()).at(-1);
  const { body } = await page.post('/v1/threads/T/mailbox', { payload: { text: 'Home' } });
  t.equal(body.run_id, end?.run_id);
  t.equal(await peer.answered(), task);
  t.match(task.said[1], { parts: [{ text: 'Home' }], taskId: task.id });
});
