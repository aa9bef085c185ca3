import t from 'tap';
import { asks } from '../models.ts';
import { ADMIN_TOKEN } from '../troupe.ts';
import { type Chat, find, framesOf, startChat, textOf, user } from './chat.ts';

/** Runs of unsaved agents (chat-and-agui.md 10, 17). */

const PREVIEW = '/v1/ai-sdk/agent-previews/runs';
const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

const preview = (chat: Chat, agent: unknown, more: object = {}) =>
  chat.open(PREVIEW, { agent, threadId: 'T', messages: [user('u1', 'hi')], ...more }, admin);

t.test('requires the admin token before validating the request', async (t) => {
  const chat = await startChat(t);
  t.equal((await chat.post(PREVIEW, '{')).status, 401);
  const wrong = { authorization: 'Bearer wrong' };
  t.equal((await chat.call('POST', PREVIEW, '{', wrong)).status, 401);
});

t.test('runs a draft as it is, without saving it', async (t) => {
  const chat = await startChat(t);
  const stream = await preview(chat, { model_id: 'echo', system_prompt: 'You are a draft.' });
  t.equal(stream.status, 200);
  t.equal(textOf(framesOf(await stream.rest())), 'echo: hi');
  t.match(JSON.stringify(chat.models.requests.at(-1)?.request), /You are a draft/);
  t.match((await chat.call('GET', '/v1/threads/T/runs/latest')).body, { agent_id: 'draft-preview' });
  const unknown = await chat.post('/v1/ai-sdk/agents/draft-preview/runs', { messages: [user('u2', 'hi')] });
  t.equal(unknown.status, 400);
  t.equal((await chat.history('T')).messages.length, 2, 'the run is stored');
});

t.test('resumes a suspended draft after a restart', async (t) => {
  const chat = await startChat(t);
  chat.models.steps.push(asks(['c1', 'risky']));
  const draft = { id: 'mine', model_id: 'steps' };
  const [start] = framesOf(await (await preview(chat, draft)).rest());
  await chat.restart();
  const approved = {
    type: 'tool-risky',
    toolCallId: 'c1',
    input: {},
    state: 'approval-responded',
    approval: { id: 'perm_c1', approved: true },
  };
  const messages = [{ id: start?.messageId, role: 'assistant', parts: [approved] }];
  const frames = framesOf(await (await preview(chat, draft, { messages })).rest());
  t.equal(frames[0]?.messageId, start?.messageId);
  t.match(find(frames, 'tool-output-available'), { toolCallId: 'c1' });
});

t.test('rejects drafts that cannot run', async (t) => {
  const chat = await startChat(t);
  const refusal = async (agent: unknown) => {
    const { status, body } = await chat.call('POST', PREVIEW, { agent, messages: [user('u1', 'hi')] }, admin);
    return [status, body.error];
  };
  t.match(await refusal(undefined), [422]);
  t.strictSame(await refusal({ model_id: ' ' }), [400, 'preview agent model_id cannot be empty']);
  const remote = 'preview agent payload must not carry remote backend, `endpoint`, or `registry` fields';
  for (const more of [
    { endpoint: { base_url: 'http://a.example' } },
    { registry: 'r' },
    { backend: { kind: 'a2a' } },
  ])
    t.strictSame(await refusal({ model_id: 'echo', ...more }), [400, remote]);
  t.match(await refusal({ id: 'x', model_id: 'nope' }), [400, /^invalid preview agent 'x': .*nope/]);
  t.match(await refusal({ id: 'x', model_id: 'echo', nonsense: 1 }), [400, /^invalid preview agent 'x': /]);
});
