import t from 'tap';
import { asks, type Call } from '../models.ts';
import { eventually } from '../troupe.ts';
import { type Chat, find, framesOf, startChat, textOf, typesOf, user } from './chat.ts';

/** Approvals and results of client tools (chat-and-agui.md 3.5, 5, 17). */

const CHAT = '/v1/ai-sdk/chat';

/** A run suspended at these calls, with the frames of its first response. */
const suspend = async (chat: Chat, threadId: string, ...calls: Call[]) => {
  chat.models.steps.push(asks(...calls));
  const frames = await chat.say('steps', threadId, user('u1', 'hi'));
  return { frames, run_id: String(frames[0]?.messageId) };
};

const part = (name: string, toolCallId: string, more: object) => ({
  type: `tool-${name}`,
  toolCallId,
  input: {},
  ...more,
});

const approval = (toolCallId: string, approved: boolean, reason?: string) =>
  part('risky', toolCallId, {
    state: 'approval-responded',
    approval: { id: `perm_${toolCallId}`, approved, ...(reason && { reason }) },
  });

/** Posts the reply of the client with the message id of the run. */
const respond = async (chat: Chat, threadId: string, id: string, ...parts: unknown[]) => {
  const messages = [user('u1', 'hi'), { id, role: 'assistant', parts }];
  return chat.open(CHAT, { threadId, messages });
};

const latest = async (chat: Chat, threadId: string) =>
  (await chat.call('GET', `/v1/threads/${threadId}/runs/latest`)).body;

t.test('ends the response at a call that needs approval, and suspends the run', async (t) => {
  const chat = await startChat(t);
  const { frames, run_id } = await suspend(chat, 'T', ['c1', 'risky']);
  t.strictSame(find(frames, 'tool-approval-request'), {
    type: 'tool-approval-request',
    approvalId: 'perm_c1',
    toolCallId: 'c1',
  });
  t.match(frames.at(-1), { type: 'finish', finishReason: 'tool-calls' });
  t.match(await latest(chat, 'T'), { run_id, status: 'waiting' });
  t.equal((await chat.follow('/v1/ai-sdk/chat/T/stream')).status, 204);
});

t.test('continues the same run and message on an approval, and ignores a repeated one', async (t) => {
  const chat = await startChat(t);
  const { run_id } = await suspend(chat, 'T', ['c1', 'risky']);
  const frames = framesOf(await (await respond(chat, 'T', run_id, approval('c1', true))).rest());
  t.strictSame(frames[0], { type: 'start', messageId: run_id });
  t.match(find(frames, 'data-run-info').data, { runId: run_id });
  t.match(find(frames, 'tool-output-available'), { toolCallId: 'c1', output: 'did c1' });
  t.notOk(typesOf(frames).includes('tool-input-available'), 'the client already has the call');
  t.match(frames.at(-1), { type: 'finish', finishReason: 'stop' });
  const again = await respond(chat, 'T', run_id, approval('c1', true));
  t.equal(again.status, 200);
  t.equal(again.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
  t.strictSame(await again.rest(), []);
  t.equal(again.raw(), '');
  t.strictSame(chat.tools.executed, ['c1']);
});

t.test('does not execute a denied call, and reports the reason to the model', async (t) => {
  const chat = await startChat(t);
  const { run_id } = await suspend(chat, 'T', ['c1', 'risky']);
  const frames = framesOf(await (await respond(chat, 'T', run_id, approval('c1', false, 'no'))).rest());
  t.match(find(frames, 'tool-output-denied'), { toolCallId: 'c1' });
  t.strictSame(chat.tools.executed, []);
  t.match(chat.models.requests.at(-1)?.request.messages.at(-1), {
    role: 'tool',
    tool_call_id: 'c1',
    content: [{ text: /^Denied: .* \(no\)$/ }],
  });
  t.strictSame(
    (await chat.history('T')).messages.map(({ role }) => role),
    ['user', 'assistant'],
    'the history omits the call',
  );
});

t.test('accepts an approval after a restart', async (t) => {
  const chat = await startChat(t);
  const { run_id } = await suspend(chat, 'T', ['c1', 'risky']);
  await chat.restart();
  const frames = framesOf(await (await respond(chat, 'T', run_id, approval('c1', true))).rest());
  t.strictSame(frames[0], { type: 'start', messageId: run_id });
  t.match(find(frames, 'tool-output-available'), { toolCallId: 'c1' });
  t.match(frames.at(-1), { type: 'finish', finishReason: 'stop' });
});

t.test('applies a decision on one of two calls, and keeps the run suspended for the other', async (t) => {
  const chat = await startChat(t);
  const { run_id } = await suspend(chat, 'T', ['c1', 'risky'], ['c2', 'risky']);
  const first = framesOf(await (await respond(chat, 'T', run_id, approval('c1', true))).rest());
  t.match(find(first, 'tool-output-available'), { toolCallId: 'c1' });
  t.match(first.at(-1), { type: 'finish', finishReason: 'tool-calls' });
  const second = framesOf(await (await respond(chat, 'T', run_id, approval('c2', true))).rest());
  t.match(find(second, 'tool-output-available'), { toolCallId: 'c2' });
  t.match(second.at(-1), { type: 'finish', finishReason: 'stop' });
});

t.test('continues the run on a new message instead of a decision, as a new client message', async (t) => {
  const chat = await startChat(t);
  const { run_id } = await suspend(chat, 'T', ['c1', 'risky'], ['c2', 'risky']);
  const frames = await chat.say('steps', 'T', user('u1', 'hi'), user('u2', 'never mind'));
  t.match(find(frames, 'data-run-info').data, { runId: run_id });
  t.not(frames[0]?.messageId, run_id);
  t.equal(textOf(frames), 'echo: never mind');
  const { messages } = await chat.history('T');
  t.notOk(messages.some(({ parts }) => parts.some(({ toolCallId }) => toolCallId !== undefined)));
});

t.test('accepts a decision although the client names the original agent', async (t) => {
  const chat = await startChat(t);
  const { run_id } = await suspend(chat, 'T', ['c1', 'risky']);
  const messages = [{ id: run_id, role: 'assistant', parts: [approval('c1', true)] }];
  const stream = await chat.open(CHAT, { threadId: 'T', agentId: 'echo', messages });
  t.match(find(framesOf(await stream.rest()), 'data-run-info').data, { runId: run_id });
});

t.test('lets the client execute a tool and uses its output', async (t) => {
  const chat = await startChat(t);
  const { frames, run_id } = await suspend(chat, 'T', ['c1', 'pick_color']);
  t.notOk(typesOf(frames).includes('tool-approval-request'));
  const output = part('pick_color', 'c1', { state: 'output-available', output: { v: 1 } });
  const then = framesOf(await (await respond(chat, 'T', run_id, output)).rest());
  t.match(find(then, 'tool-output-available'), { toolCallId: 'c1', output: { v: 1 } });
  t.match(then.at(-1), { type: 'finish', finishReason: 'stop' });
});

t.test('responds with an empty stream to decisions on calls that are not suspended', async (t) => {
  const chat = await startChat(t);
  const output = part('x', 'c9', { state: 'output-available', output: 1 });
  const only = await chat.open(CHAT, {
    threadId: 'other',
    messages: [{ id: 'a1', role: 'assistant', parts: [output] }],
  });
  t.equal(only.status, 200);
  t.strictSame(await only.rest(), []);
});

t.test('continues the message of a client that loaded the history', async (t) => {
  const chat = await startChat(t);
  await suspend(chat, 'T', ['c1', 'risky']);
  const { messages } = await chat.history('T');
  const answer = messages.at(-1);
  t.match(answer?.parts, [{ state: 'approval-requested', approval: { id: 'perm_c1' } }]);
  const stream = await respond(chat, 'T', answer?.id ?? '', approval('c1', true));
  t.strictSame(framesOf(await stream.rest())[0], { type: 'start', messageId: answer?.id });
  const after = await chat.history('T');
  t.match(
    after.messages.flatMap(({ parts }) => parts).find(({ toolCallId }) => toolCallId === 'c1'),
    { state: 'output-available', output: 'did c1' },
  );
});

t.test('joins the stream of the run on a decision while other calls execute', async (t) => {
  const chat = await startChat(t);
  chat.models.steps.push(asks(['c1', 'risky'], ['h', 'hold']));
  const first = await chat.open(CHAT, { agentId: 'steps', threadId: 'T', messages: [user('u1', 'hi')] });
  await first.until('tool-approval-request');
  const run_id = (await latest(chat, 'T')).run_id;
  const second = await respond(chat, 'T', String(run_id), approval('c1', true));
  t.equal(second.status, 200);
  await eventually(
    async () => chat.tools.holding(),
    (held) => held.includes('h'),
  );
  chat.tools.release();
  const frames = framesOf(await second.rest());
  t.strictSame(frames[0], { type: 'start', messageId: run_id });
  t.match(
    frames.filter(({ type }) => type === 'tool-output-available').map(({ toolCallId }) => toolCallId),
    ['h', 'c1'],
  );
  t.match(frames.at(-1), { type: 'finish', finishReason: 'stop' });
  t.match(framesOf(await first.rest()).at(-1), { type: 'finish', finishReason: 'stop' });
});

t.test('sends executing calls to followers of a run that a later decision has joined', async (t) => {
  const chat = await startChat(t);
  const executes = (call: string): Promise<unknown> =>
    eventually(
      async () => chat.tools.holding(),
      (held) => held.includes(call),
    );
  const { run_id } = await suspend(chat, 'T', ['one', 'guarded'], ['two', 'guarded']);
  const first = await respond(chat, 'T', run_id, approval('one', true));
  await executes('one');
  const second = await respond(chat, 'T', run_id, approval('two', true));
  chat.tools.release();
  const own = await second.until('tool-output-available');
  await executes('two');
  const follower = await chat.follow('/v1/ai-sdk/chat/T/stream');
  chat.tools.release();
  const known = new Set<unknown>();
  for (const { type, toolCallId } of framesOf(await follower.rest())) {
    if (type.startsWith('tool-input')) known.add(toolCallId);
    else if (toolCallId !== undefined) t.ok(known.has(toolCallId), `${type} of ${toolCallId}`);
  }
  t.strictSame([...known], ['one', 'two']);
  t.strictSame(typesOf(framesOf(own)), ['start', 'data-run-info', 'tool-output-available']);
  for (const stream of [first, second]) {
    t.match(framesOf(await stream.rest()).at(-1), { type: 'finish', finishReason: 'stop' });
  }
});

t.test('sends executing calls to followers of a run resumed by a decision', async (t) => {
  const chat = await startChat(t);
  const { run_id } = await suspend(chat, 'T', ['c1', 'guarded'], ['c2', 'risky'], ['c3', 'pick_color']);
  const color = part('pick_color', 'c3', { state: 'output-available', output: 'red' });
  const stream = await respond(chat, 'T', run_id, approval('c1', true), color);
  const own = await stream.until('data-run-info');
  await eventually(
    async () => chat.tools.holding(),
    (held) => held.includes('c1'),
  );
  const follower = await chat.follow('/v1/ai-sdk/chat/T/stream');
  const head = await follower.until('tool-input-delta');
  t.strictSame(
    framesOf(head).map(({ type, toolCallId }) => [type, toolCallId]),
    [
      ['start', undefined],
      ['data-run-info', undefined],
      ['tool-input-available', 'c1'],
      ['tool-input-available', 'c2'],
      ['tool-approval-request', 'c2'],
      ['tool-input-start', 'c3'],
      ['tool-input-delta', 'c3'],
    ],
  );
  const behind = await chat.follow('/v1/ai-sdk/chat/T/stream', { 'last-event-id': own.at(-1)?.id ?? '' });
  chat.tools.release();
  const undisturbed = [...own, ...(await stream.rest())];
  t.strictSame([...own, ...(await behind.rest())], undisturbed);
  const followed = [...head, ...(await follower.rest())];
  const recalled = new Set(head.slice(2).map(({ id }) => id));
  t.strictSame(
    followed.filter(({ id }) => !recalled.has(id)),
    undisturbed,
  );
  t.match(framesOf(undisturbed).at(-1), { type: 'finish', finishReason: 'tool-calls' });
});
