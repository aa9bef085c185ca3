import t from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import { hasStandby } from '../../cluster/mode.ts';
import { asks } from '../models.ts';
import { eventually } from '../troupe.ts';
import { type Chat, find, framesOf, startChat, textOf, typesOf, user } from './chat.ts';

/** A client that repeats a request because the response never reached it (chat-and-agui.md 3, 5). */

const open = (chat: Chat, agentId: string, ...messages: unknown[]) =>
  chat.open('/v1/ai-sdk/chat', { agentId, threadId: 'T', messages });

const visible = async (chat: Chat) =>
  (await chat.history('T')).messages.map(({ id, role }) => `${role} ${id}`);

/** Stops the service in the middle of a response, and recovers the run in another one. */
const interrupted = async (chat: Chat): Promise<void> => {
  const stream = await open(chat, 'slow', user('u1', 'one'));
  await stream.until('text-delta');
  await chat.restart();
  await stream.close();
  await eventually(
    async () => chat.models.waiting(),
    (waiting) => waiting === 1,
  );
};

t.test('sends the completion of a run that continues after a restart', async (t) => {
  const chat = await startChat(t);
  await interrupted(chat);
  const streams = await Promise.all([1, 2].map(() => open(chat, 'slow', user('u1', 'one'))));
  chat.models.release();
  for (const stream of streams) {
    t.equal(stream.status, 200);
    const numbered = await stream.rest();
    const frames = framesOf(numbered);
    t.equal(textOf(frames), 'partial answer');
    t.equal(typesOf(frames)[0], 'start');
    t.equal(typesOf(frames).filter((type) => type === 'start').length, 1);
    t.match(frames.at(-1), { type: 'finish', finishReason: 'stop' });
    t.match(numbered[0]?.id, /^\d+$/, 'the response joins the live stream');
  }
  t.match(await visible(chat), ['user u1', /^assistant/]);
  t.equal((await visible(chat)).length, 2);
  t.equal(chat.models.requests.length, 2, 'the model is called once before and once after the restart');
});

t.test('sends the completion of a run that ended without a reader', async (t) => {
  const chat = await startChat(t);
  await interrupted(chat);
  chat.models.release();
  await eventually(
    () => visible(chat),
    (messages) => messages.length === 2,
  );
  const frames = framesOf(await (await open(chat, 'slow', user('u1', 'one'))).rest());
  t.equal(textOf(frames), 'partial answer');
  t.equal((await visible(chat)).length, 2);
  t.equal(chat.models.requests.length, 2);
});

t.test(
  'sends the completion again to a client that names its last message, as the official one does',
  async (t) => {
    const chat = await startChat(t);
    const resend = async (...messages: unknown[]) => {
      const body = { agentId: 'echo', threadId: 'T', trigger: 'submit-message', messageId: 'u2', messages };
      return textOf(framesOf(await (await chat.open('/v1/ai-sdk/chat', body)).rest()));
    };
    const [one, two] = [user('u1', 'one'), user('u2', 'two')];
    await chat.say('echo', 'T', one);
    await chat.say('echo', 'T', one, two);
    t.equal(await resend(one, two), 'echo: two');
    await chat.restart();
    t.equal(await resend(one, two), 'echo: two');
    t.equal((await visible(chat)).length, 4);
    t.equal(chat.models.requests.length, 2, 'each question runs once');
  },
);

t.test('joins the stream of the run that is executing', async (t) => {
  const chat = await startChat(t);
  const first = await open(chat, 'slow', user('u1', 'one'));
  const head = await first.until('text-delta');
  await first.close();
  const again = await open(chat, 'slow', user('u1', 'one'));
  t.strictSame(await again.until('text-delta'), head);
  chat.models.release();
  t.equal(textOf(framesOf(await again.rest())), ' answer');
  t.equal(chat.models.requests.length, 1);
});

t.test('runs a question again whose run ended without a completion', async (t) => {
  const chat = await startChat(t);
  chat.models.steps.push(() => {
    throw new ModelError('invalid_request', 'the provider is down');
  });
  t.match(find(await chat.say('steps', 'T', user('u1', 'one')), 'error').errorText, /the provider is down/);
  t.equal(textOf(await chat.say('steps', 'T', user('u1', 'one'))), 'echo: one');
  t.equal((await visible(chat)).length, 2);
});

t.test('shows a suspended run with its open calls, and each question with its own completion', async (t) => {
  const chat = await startChat(t);
  chat.models.steps.push(asks(['c1', 'risky']));
  await chat.say('steps', 'T', user('u1', 'one'));
  const waiting = await chat.say('steps', 'T', user('u1', 'one'));
  t.match(find(waiting, 'tool-approval-request'), { approvalId: 'perm_c1', toolCallId: 'c1' });
  t.match(waiting.at(-1), { type: 'finish', finishReason: 'tool-calls' });
  const live = await chat.say('steps', 'T', user('u2', 'two'));
  const again = await chat.say('steps', 'T', user('u1', 'one'), user('u2', 'two'));
  t.equal(find(again, 'start').messageId, find(live, 'start').messageId);
  t.equal(textOf(again), 'echo: two');
  t.notOk(typesOf(again).includes('tool-approval-request'));
  t.notOk(textOf(await chat.say('steps', 'T', user('u1', 'one'))).includes('two'));
});

t.test('sends a completion that needed a decision in one stream', async (t) => {
  const chat = await startChat(t);
  chat.models.steps.push(asks(['c1', 'risky']));
  await chat.say('steps', 'T', user('u1', 'one'));
  const decision = { toolCallId: 'c1', action: 'resume', payload: { approved: true } };
  t.equal((await chat.post('/v1/threads/T/decision', decision)).status, 202);
  await eventually(
    async () => (await chat.call('GET', '/v1/threads/T/runs/latest')).body.status,
    (status) => status === 'done',
  );
  const types = typesOf(await chat.say('steps', 'T', user('u1', 'one')));
  for (const type of ['start', 'data-run-info', 'finish'])
    t.equal(types.filter((each) => each === type).length, 1, type);
  t.ok(types.indexOf('tool-approval-request') < types.indexOf('tool-output-available'));
  t.equal(types.at(-1), 'finish');
});

t.test('rejects a repeated question of a finished run without an event log', async (t) => {
  const chat = await startChat(t, { settings: { event_capture_mode: 'disabled' } });
  await chat.say('echo', 'T', user('u1', 'one'));
  const { status, body } = await chat.post('/v1/ai-sdk/chat', {
    threadId: 'T',
    messages: [user('u1', 'one')],
  });
  t.equal(status, 400);
  t.match(body.error, 'no new messages or interaction responses');
});

// In a cluster, the member that the client is connected to stops first.
t.test('notifies clients that wait for a run when the service stops', { skip: hasStandby }, async (t) => {
  const chat = await startChat(t);
  await interrupted(chat);
  const stream = await open(chat, 'slow', user('u1', 'one'));
  await chat.restart();
  t.match(find(framesOf(await stream.rest()), 'error').errorText, /shutting down/);
});
