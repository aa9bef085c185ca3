import { connect } from 'node:net';
import t from 'tap';
import { hangs } from '../models.ts';
import { eventually } from '../troupe.ts';
import { type Chat, type ChatStream, find, framesOf, startChat, textOf, typesOf, user } from './chat.ts';

/** Followers of live streams, cancel and interrupt (chat-and-agui.md 6, 9, 17). */

const CHAT = '/v1/ai-sdk/chat';
const FOLLOW = '/v1/ai-sdk/chat/T/stream';

const open = (chat: Chat, agentId: string, id = 'u1', threadId = 'T') =>
  chat.open(CHAT, { agentId, threadId, messages: [user(id, `text of ${id}`)] });

t.test('sends the whole stream to a client that reconnects, while the run continues', async (t) => {
  const chat = await startChat(t);
  const gone = await open(chat, 'slow');
  const seen = await gone.until('text-delta');
  await gone.close();
  const [first, second] = [await chat.follow(FOLLOW), await chat.follow('/v1/ai-sdk/threads/T/stream')];
  t.equal(first.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
  const head = await first.until('text-delta');
  t.strictSame(head, seen);
  chat.models.release();
  const rest = await first.rest();
  t.equal(textOf(framesOf([...head, ...rest])), 'partial answer');
  t.match(framesOf(rest).at(-1), { type: 'finish', finishReason: 'stop' });
  t.strictSame(await second.rest(), [...head, ...rest]);
  t.equal((await chat.follow(FOLLOW)).status, 204);
  t.equal((await chat.follow('/v1/ai-sdk/chat/unknown/stream')).status, 204);
  const idle = await chat.follow(FOLLOW, { 'last-event-id': '5' });
  t.equal(idle.status, 204);
});

t.test('sends the frames after the position of a client', async (t) => {
  const chat = await startChat(t);
  const stream = await open(chat, 'slow');
  const seen = await stream.until('text-delta');
  const after = seen[1]?.id ?? '';
  const follower = await chat.follow(FOLLOW, { 'last-event-id': after });
  chat.models.release();
  const all = [...seen, ...(await stream.rest())];
  t.strictSame(await follower.rest(), all.slice(2));
});

t.test('makes the question readable before its stream can be followed', async (t) => {
  const chat = await startChat(t);
  for (let index = 0; index < 20; index += 1) {
    const thread = `Q${index}`;
    const asking = open(chat, 'slow', `q${index}`, thread);
    const follow = (): Promise<ChatStream> => chat.follow(`/v1/ai-sdk/chat/${thread}/stream`);
    let follower = await follow();
    while (follower.status === 204) follower = await follow();
    t.match((await chat.history(thread)).messages, [{ role: 'user' }]);
    chat.models.release();
    const whole = await (await asking).rest();
    t.strictSame(await follower.rest(), whole);
  }
});

t.test('continues positions across the runs of a thread', async (t) => {
  const chat = await startChat(t);
  const first = await (await open(chat, 'echo', 'u1')).rest();
  const second = await (await open(chat, 'echo', 'u2')).rest();
  t.ok(Number(second[0]?.id) > Number(first.at(-1)?.id));
});

t.test('keeps the start of a long run', async (t) => {
  const chat = await startChat(t, { settings: { replay_buffer_capacity: 20 } });
  chat.models.steps.push((sink, request, signal) => {
    for (let count = 0; count < 3_000; count += 1) sink.text(`${count} `);
    return hangs()(sink, request, signal);
  });
  const stream = await open(chat, 'steps');
  const seen = await stream.until('text-delta');
  await eventually(
    async () => (await chat.follow(FOLLOW)).until('text-start'),
    (frames) => frames.length > 0,
  );
  const late = await chat.follow(FOLLOW);
  const head = await late.until('text-delta');
  t.strictSame(typesOf(framesOf(head)), ['start', 'data-run-info', 'start-step', 'text-start', 'text-delta']);
  t.equal((await chat.post('/v1/ai-sdk/threads/T/cancel')).status, 202);
  const text = Array.from({ length: 3_000 }, (_, count) => `${count} `).join('');
  t.equal(textOf(framesOf([...seen, ...(await stream.rest())])), text);
  t.equal(textOf(framesOf([...head, ...(await late.rest())])), text);
});

t.test('replaces the run on a new request, and followers of the thread follow the new one', async (t) => {
  const chat = await startChat(t);
  const first = await open(chat, 'slow', 'u1');
  await first.until('text-delta');
  const second = await open(chat, 'slow', 'u2');
  t.match(framesOf(await first.rest()).at(-1), { type: 'finish', finishReason: 'stop' });
  const seen = await second.until('text-delta');
  const follower = await chat.follow(FOLLOW);
  chat.models.release();
  t.strictSame(await follower.rest(), [...seen, ...(await second.rest())]);
});

t.test('leaves the stream in place when a request is rejected', async (t) => {
  const chat = await startChat(t);
  const stream = await open(chat, 'slow');
  await stream.until('text-delta');
  t.equal(
    (await chat.post(CHAT, { threadId: 'T', messages: [{ id: 'u2', role: 'user', parts: [] }] })).status,
    400,
  );
  const follower = await chat.follow(FOLLOW);
  chat.models.release();
  t.equal(textOf(framesOf(await follower.rest())), 'partial answer');
});

t.test('separates threads and streams of different scopes', async (t) => {
  const resolveScope = (_surface: unknown, head: { header(name: string): string | undefined }) =>
    head.header('x-scope') ?? 'default';
  const chat = await startChat(t, { app: { resolveScope } });
  const stream = await open(chat, 'slow');
  await stream.until('text-delta');
  t.equal((await chat.follow(FOLLOW, { 'x-scope': 'other' })).status, 204);
  const body = { agentId: 'echo', threadId: 'T', messages: [user('u1', 'hi')] };
  const other = await chat.open(CHAT, body, { 'x-scope': 'other' });
  const frames = framesOf(await other.rest());
  t.match(find(frames, 'data-run-info').data, { threadId: 'T' });
  t.equal(textOf(frames), 'echo: hi');
  chat.models.release();
});

t.test('ends the stream of the run on cancel, and returns 404 on an idle thread', async (t) => {
  const chat = await startChat(t);
  const stream = await open(chat, 'slow');
  await stream.until('text-delta');
  const cancelled = await chat.post('/v1/ai-sdk/threads/T/cancel');
  t.equal(cancelled.status, 202);
  t.strictSame(cancelled.body, { status: 'cancel_requested', thread_id: 'T' });
  const frames = framesOf(await stream.rest());
  t.match(frames.at(-1), { type: 'finish', finishReason: 'stop' });
  t.ok(typesOf(frames).includes('finish-step'));
  for (const verb of ['cancel', 'interrupt']) {
    for (const [id, error] of [
      ['T', `nothing to ${verb} on thread 'T'`],
      ['unknown', 'thread not found: unknown'],
    ]) {
      const answer = await chat.post(`/v1/ai-sdk/threads/${id}/${verb}`);
      t.equal(answer.status, 404);
      t.equal(answer.body.error, error);
    }
  }
});

t.test('cancels by the id of a thread, but not of a run', async (t) => {
  const chat = await startChat(t);
  const stream = await open(chat, 'slow');
  const [start] = await stream.until('text-delta');
  t.equal((await chat.post(`/v1/ai-sdk/threads/${start?.frame.messageId}/cancel`)).status, 404);
  chat.models.release();
});

t.test('drops the queue on interrupt', async (t) => {
  const chat = await startChat(t);
  const stream = await open(chat, 'slow');
  await stream.until('text-delta');
  for (const content of ['a', 'b'])
    await chat.post('/v1/threads/T/messages', { messages: [{ role: 'user', content }] });
  const answer = await chat.post('/v1/ai-sdk/threads/T/interrupt');
  t.equal(answer.status, 202);
  t.strictSame(answer.body, { status: 'interrupt_requested', thread_id: 'T', superseded_dispatches: 2 });
  t.match(framesOf(await stream.rest()).at(-1), { type: 'finish', finishReason: 'stop' });
});

t.test('sends heartbeats on a silent stream, also to followers', async (t) => {
  const chat = await startChat(t, { settings: { sse_heartbeat_ms: 30 } });
  const stream = await open(chat, 'slow');
  const follower = await chat.follow(FOLLOW);
  for (const each of [stream, follower]) await each.until('text-delta');
  const rests = [stream.rest(), follower.rest()];
  await eventually(
    async () => [stream, follower].every((each) => each.raw().includes(': heartbeat\n\n')),
    (both) => both,
  );
  chat.models.release();
  await Promise.all(rests);
  t.pass('both streams received a heartbeat');
});

t.test('disconnects a client that does not read, without affecting others', async (t) => {
  const chat = await startChat(t, { settings: { sse_buffer_size: 10 } });
  // 7 MB: more than the buffers of a socket (4 MB on Linux) and 10 frames.
  const chunk = 'x'.repeat(100_000);
  const chunks = 72;
  let go = (): void => {};
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  chat.models.steps.push(async (sink) => {
    await gone;
    for (let count = 0; count < chunks; count += 1) {
      sink.text(chunk);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { stop: 'EndTurn' };
  });
  const stream = await open(chat, 'steps');
  await stream.until('start-step');
  const { hostname, port } = new URL(chat.url);
  const stalled = connect(Number(port), hostname);
  t.teardown(() => stalled.destroy());
  stalled.pause();
  const closed = new Promise((resolve) => stalled.once('close', resolve));
  stalled.on('error', () => {});
  stalled.write(`GET ${FOLLOW} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
  await eventually(
    async () => (await chat.call('GET', '/metrics')).body.text,
    (text) => /sse[^\n]* 2\n|streams[^\n]* 2\n/.test(String(text)),
  );
  go();
  t.equal(textOf(framesOf(await stream.rest())).length, chunks * chunk.length);
  stalled.resume();
  await closed;
  t.match((await chat.call('GET', '/v1/threads/T/runs/latest')).body, { status: 'done' });
});
