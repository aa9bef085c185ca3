import t from 'tap';
import { type Chat, framesOf, type Numbered, startChat, typesOf, user } from './chat.ts';

/** The durable replay of a thread (chat-and-agui.md 7, 17). */

const REPLAY = '/v1/ai-sdk/threads/T/replay';

const replay = async (chat: Chat, query = '', headers = {}): Promise<Numbered[]> => {
  const stream = await chat.follow(`${REPLAY}${query}`, headers);
  t.equal(stream.status, 200);
  t.equal(stream.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
  return stream.rest();
};

const withTwoRuns = async (chat: Chat) => {
  await chat.say('echo', 'T', user('u1', 'one'));
  await chat.runToEnd({ agentId: 'echo', threadId: 'T', messages: [{ role: 'user', content: 'two' }] });
};

t.test('replays all runs of a thread identically each time, whatever started them', async (t) => {
  const chat = await startChat(t);
  await withTwoRuns(chat);
  const rows = await replay(chat);
  const types = typesOf(framesOf(rows));
  t.equal(types.filter((type) => type === 'start').length, 2);
  t.equal(types[0], 'start');
  t.equal(types.at(-1), 'finish');
  for (const { id } of rows) t.notMatch(id, /^\d+$/);
  t.equal(new Set(rows.map(({ id }) => id)).size, rows.length);
  t.strictSame(await replay(chat), rows);
  const alias = await chat.follow('/v1/ai-sdk/chat/T/replay');
  t.strictSame(await alias.rest(), rows);
});

t.test('starts a page behind its cursor, which takes precedence over Last-Event-ID', async (t) => {
  const chat = await startChat(t);
  await withTwoRuns(chat);
  const rows = await replay(chat);
  const [first, second] = rows.map(({ id }) => id ?? '');
  t.strictSame(await replay(chat, `?cursor=${first}`), rows.slice(1));
  t.strictSame(await replay(chat, '', { 'last-event-id': second }), rows.slice(2));
  t.strictSame(await replay(chat, `?cursor=${first}`, { 'last-event-id': second }), rows.slice(1));
  const resumed = await chat.follow('/v1/ai-sdk/chat/T/stream', { 'last-event-id': second ?? '' });
  t.strictSame(await resumed.rest(), rows.slice(2), 'the live route accepts the cursor too');
  const paged: Numbered[] = [];
  for (;;) {
    const at = paged.at(-1)?.id;
    const page = await replay(chat, `?limit=2${at ? `&cursor=${at}` : ''}`);
    if (page.length === 0) break;
    paged.push(...page);
  }
  t.strictSame(paged, rows);
  t.equal((await replay(chat, '?limit=0')).length, 1);
  t.strictSame(await replay(chat, '?limit=9999'), rows);
});

t.test('rejects invalid cursors', async (t) => {
  const chat = await startChat(t);
  await withTwoRuns(chat);
  const [row] = await replay(chat);
  const status = async (path: string, headers = {}) =>
    (await chat.call('GET', path, undefined, headers)).status;
  t.equal(await status(`${REPLAY}?limit=x`), 400);
  t.equal(await status(`${REPLAY}?cursor=garbage`), 400);
  const blank = await chat.call('GET', `${REPLAY}?cursor=%20`);
  t.equal(blank.status, 400);
  t.equal(blank.body.error, 'cursor cannot be empty');
  const unknown = row?.id?.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
  const gone = await chat.call('GET', `${REPLAY}?cursor=${unknown}`);
  t.equal(gone.status, 410);
  t.equal(gone.body.error, unknown);
  await chat.say('echo', 'other', user('u1', 'one'));
  t.equal(await status(`/v1/ai-sdk/threads/other/replay?cursor=${row?.id}`), 410);
  t.equal(await status('/v1/ai-sdk/chat/T/stream', { 'last-event-id': 'garbage' }), 400);
  const nothing = await chat.follow('/v1/ai-sdk/threads/unknown/replay');
  t.equal(nothing.status, 200);
  t.strictSame(await nothing.rest(), []);
});

for (const options of [
  { app: { eventLog: false } },
  { settings: { event_capture_mode: 'disabled' as const } },
]) {
  t.test(`returns 503 for a replay without an event log: ${JSON.stringify(options)}`, async (t) => {
    const chat = await startChat(t, options);
    await chat.say('echo', 'T', user('u1', 'one'));
    const answer = await chat.call('GET', REPLAY);
    t.equal(answer.status, 503);
    t.equal(answer.body.error, 'protocol replay log is not configured');
  });
}
