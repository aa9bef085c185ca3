import t from 'tap';
import type { Task } from '../../src/protocols/a2a/model.ts';
import { a2aFor, statesIn, textIn } from './a2a/tasks-client.ts';
import { startAgUi, taken } from './ag-ui/ag-ui.ts';
import { framesOf, startChat, typesOf, user } from './chat/chat.ts';
import { resume, suspend } from './suspended.ts';

/** Streams of other protocols for repeated requests with an `Idempotency-Key`: runtime.md 0.8, check 43. */

const KEY = { 'idempotency-key': 'k' };
const REPLAYED = 'idempotency-replayed';

t.test('streams a chat response again, while it is generated and after its end (check 43)', async (t) => {
  const chat = await startChat(t);
  const body = { agentId: 'slow', threadId: 'T', messages: [user('u1', 'Hello')] };
  const cut = await chat.open('/v1/ai-sdk/chat', body, KEY);
  const before = framesOf(await cut.until('text-delta'));
  await cut.close();
  const joined = await chat.open('/v1/ai-sdk/chat', body, KEY);
  t.equal(joined.headers.get(REPLAYED), 'true');
  t.equal(joined.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
  const again = framesOf(await joined.until('text-delta'));
  t.strictSame(again, before);
  chat.models.releaseAll();
  const live = [...again, ...framesOf(await joined.rest())];
  t.equal(live.at(-1)?.type, 'finish');
  const text = (frames: typeof live): string => frames.map(({ delta = '' }) => delta).join('');
  for (const restarts of [false, true]) {
    if (restarts) await chat.restart();
    const stream = await chat.open('/v1/ai-sdk/chat', body, KEY);
    t.equal(stream.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
    const logged = framesOf(await stream.rest());
    t.equal(typesOf(logged).filter((type) => type === 'start').length, 1);
    t.equal(logged.at(-1)?.type, 'finish');
    t.equal(text(logged), text(live));
    t.match(
      logged.find(({ type }) => type === 'start'),
      live.find(({ type }) => type === 'start') ?? {},
    );
  }
  t.equal(((await chat.call('GET', '/v1/threads/T/runs')).body.items as unknown[]).length, 1);
  const other = { ...body, messages: [user('u1', 'Hello'), user('u2', 'More')] };
  t.equal((await chat.open('/v1/ai-sdk/chat', other, KEY)).status, 422);
});

t.test('streams only the part of a run that follows the decision of the request', async (t) => {
  const chat = await startChat(t);
  const { run_id } = await suspend(chat, 'S', ['c1', 'risky']);
  const decided = { ...resume('c1', { approved: true }) };
  const first = await chat.post(`/v1/runs/${run_id}/decision`, decided);
  t.equal(first.status, 202);
  const body = { agentId: 'echo', threadId: 'S', messages: [user('u1', 'Hello')] };
  const live = framesOf(await (await chat.open('/v1/ai-sdk/chat', body, KEY)).rest());
  const logged = framesOf(await (await chat.open('/v1/ai-sdk/chat', body, KEY)).rest());
  t.equal(
    typesOf(logged).filter((type) => type === 'finish').length,
    typesOf(live).filter((type) => type === 'finish').length,
  );
});

t.test('streams an AG-UI run again as the official clients accept it (check 43)', async (t) => {
  const agUi = await startAgUi(t);
  const body = {
    agentId: 'echo',
    threadId: 'T',
    runId: 'r',
    messages: [{ id: 'u1', role: 'user', content: 'Hello' }],
  };
  const live = framesOf(await (await agUi.open('/v1/ag-ui/run', body, KEY)).rest());
  const stream = await agUi.open('/v1/ag-ui/run', body, KEY);
  t.equal(stream.headers.get(REPLAYED), 'true');
  const logged = framesOf(await stream.rest());
  await taken(logged);
  t.equal(logged.at(-1)?.type, 'RUN_FINISHED');
  t.equal(logged[0]?.runId, live[0]?.runId);
  t.equal(logged.map(({ delta = '' }) => delta).join(''), live.map(({ delta = '' }) => delta).join(''));
});

const message = (text: string, configuration = {}) => ({
  message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text }] },
  configuration,
});

t.test('returns the task of an A2A message again that was sent with the same key (check 41)', async (t) => {
  const { troupe } = await a2aFor(t);
  const post = (path: string, body: object) => troupe.call('POST', path, body, KEY);
  const sendPath = '/v1/a2a/echo/message:send';
  const first = await post(sendPath, message('Hello'));
  const again = await post(sendPath, message('Hello'));
  t.equal(first.status, 200);
  t.notOk(first.headers.get(REPLAYED));
  t.equal(again.headers.get(REPLAYED), 'true');
  t.strictSame(again.body, first.body);
  t.equal((await post(sendPath, message('Bye'))).status, 422);
  const sendAtOnce = async () =>
    troupe.call('POST', sendPath, message('Hello', { returnImmediately: true }), { 'idempotency-key': 'n' });
  const submitted = await sendAtOnce();
  t.strictSame((await sendAtOnce()).body, submitted.body);
  t.equal(((await troupe.call('GET', '/v1/a2a/tasks')).body.tasks as Task[]).length, 2);
});

t.test(
  'joins an A2A message that is in progress, and streams its task from the beginning (check 44)',
  async (t) => {
    const { troupe, stream: open } = await a2aFor(t);
    const send = () => troupe.call('POST', '/v1/a2a/slow/message:send', message('Hello'), KEY);
    const held = [send(), send()];
    while (troupe.models.waiting() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    held.push(send());
    troupe.models.releaseAll();
    const bodies = await Promise.all(held);
    for (const { status, body } of bodies) t.strictSame([status, body], [200, bodies[0]?.body]);
    t.equal(((await troupe.call('GET', '/v1/a2a/tasks')).body.tasks as Task[]).length, 1);
    const live = await (await open({ tenant: 'echo' }, { 'idempotency-key': 's' })).rest();
    const reader = await open({ tenant: 'echo' }, { 'idempotency-key': 's' });
    t.equal(reader.headers.get(REPLAYED), 'true');
    const again = await reader.rest();
    t.strictSame(again[0], live[0]);
    t.strictSame(statesIn(again), ['SUBMITTED', 'COMPLETED']);
    t.equal(textIn(again), textIn(live));
  },
);
