import { safeValidateUIMessages } from 'ai';
import t from 'tap';
import { asks } from '../models.ts';
import { type Chat, startChat, user } from './chat.ts';

/** Messages of a thread as the chat client receives them, and the durable replay (chat-and-agui.md 7, 8, 17). */

/** Three messages of the client: a question, a step with a call, and a response. */
const converse = async (chat: Chat) => {
  chat.models.steps.push(asks(['c1', 'note']));
  await chat.say('steps', 'T', user('u1', 'hi'));
};

const idsOf = ({ messages }: { messages: { id: string }[] }): string[] => messages.map(({ id }) => id);

t.test('returns tool results as parts of the message that requested them', async (t) => {
  const chat = await startChat(t);
  await converse(chat);
  const page = await chat.history('T');
  t.match(page, { total: 3, has_more: false, next_cursor: null });
  t.strictSame(
    page.messages.map(({ role }) => role),
    ['user', 'assistant', 'assistant'],
  );
  t.match(page.messages[1]?.parts, [
    { type: 'tool-note', toolCallId: 'c1', state: 'output-available', output: 'did c1' },
  ]);
  t.ok((await safeValidateUIMessages({ messages: page.messages })).success);
});

t.test('marks a call that waits for approval', async (t) => {
  const chat = await startChat(t);
  chat.models.steps.push(asks(['c1', 'risky'], ['c2', 'pick_color']));
  await chat.say('steps', 'T', user('u1', 'hi'));
  const { messages } = await chat.history('T');
  t.match(messages[1]?.parts, [
    { toolCallId: 'c1', state: 'approval-requested', approval: { id: 'perm_c1' } },
    { toolCallId: 'c2', state: 'input-available', providerExecuted: undefined },
  ]);
  t.ok((await safeValidateUIMessages({ messages })).success);
});

t.test('pages in both directions and orders without gaps', async (t) => {
  const chat = await startChat(t);
  await converse(chat);
  for (const id of ['u2', 'u3']) await chat.say('echo', 'T', user(id, id));
  const all = idsOf(await chat.history('T'));
  t.equal(all.length, 7);
  for (const order of ['asc', 'desc']) {
    const expected = order === 'asc' ? all : all.toReversed();
    const query = (more: string) => `?order=${order}&limit=3${more}`;
    const pages = [await chat.history('T', query(''))];
    for (let next = pages[0]?.next_cursor; next; next = pages.at(-1)?.next_cursor)
      pages.push(await chat.history('T', query(`&cursor=${next}`)));
    t.strictSame(pages.flatMap(idsOf), expected);
    t.strictSame(
      pages.map(({ total }) => total),
      [7, 7, 7],
    );
    t.notOk(pages[0] && 'prev_cursor' in pages[0]);
    const back = await chat.history('T', query(`&cursor=${pages[2]?.prev_cursor}`));
    t.strictSame(idsOf(back), expected.slice(3, 6));
    t.strictSame(idsOf(await chat.history('T', query(`&cursor=${back.prev_cursor}`))), expected.slice(0, 3));
  }
  t.strictSame(idsOf(await chat.history('T', '?cursor=1&limit=2')), all.slice(1, 3));
  t.strictSame(idsOf(await chat.history('T', '?offset=5')), all.slice(5));
  t.match(await chat.history('T', '?order=desc'), {
    messages: Array(5)
      .fill({})
      .concat({ parts: [{ state: 'output-available' }] }),
  });
});

t.test('rejects invalid queries, and returns empty pages for unknown threads', async (t) => {
  const chat = await startChat(t);
  await converse(chat);
  const { next_cursor: cursor } = await chat.history('T', '?limit=1');
  for (const [query, error] of [
    ['order=up', 'order must be asc or desc'],
    ['cursor=nonsense', 'cursor must be a valid pagination token'],
    [`order=desc&cursor=${cursor}`, 'cursor does not match message query filters'],
    ['order=desc&cursor=1', 'cursor does not match message query filters'],
  ]) {
    const answer = await chat.call('GET', `/v1/ai-sdk/threads/T/messages?${query}`);
    t.equal(answer.status, 400);
    t.equal(answer.body.error, error);
  }
  t.equal((await chat.call('GET', '/v1/ai-sdk/threads/T/messages?limit=abc')).status, 400);
  t.strictSame(await chat.history('unknown'), { messages: [], total: 0, has_more: false, next_cursor: null });
});

t.test('selects stored messages by window and by run', async (t) => {
  const chat = await startChat(t);
  await converse(chat);
  await chat.say('echo', 'T', user('u2', 'hi'));
  const all = idsOf(await chat.history('T'));
  const { run_id } = (await chat.call('GET', '/v1/threads/T/runs/latest')).body;
  t.strictSame(idsOf(await chat.history('T', `?run_id=${run_id}`)), all.slice(3));
  t.strictSame(idsOf(await chat.history('T', '?after=1&before=4')), all.slice(1, 2));
});
