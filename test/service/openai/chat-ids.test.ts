import t from 'tap';
import { asks } from '../models.ts';
import { eventually } from '../troupe.ts';
import { withUsers } from '../users.ts';
import { answered, type Chat, completed, messagesOf, say, startChat } from './chat.ts';

const HEADER = { 'x-openwebui-chat-id': 'c' };

/** Asks these questions one after the other, with the whole history each time, as front ends do. */
const talk = async ({ complete }: Chat, questions: readonly string[], more: object = {}) => {
  const history: object[] = [];
  const threads: string[] = [];
  for (const question of questions) {
    history.push(say(question));
    const { content, thread_id } = await complete({ messages: history, ...more }, HEADER);
    history.push(answered(content ?? ''));
    threads.push(thread_id);
  }
  return { history, threads };
};

const threadOf = async ({ troupe: { call } }: Chat, id: string): Promise<Record<string, unknown>> =>
  (await call('GET', `/v1/threads/${id}`)).body;

const texts = async ({ troupe }: Chat, id: string): Promise<string[]> =>
  (await messagesOf(troupe, id)).map(({ content }) => (content as { text: string }[])[0]?.text ?? '');

t.test('five turns of a chat are one thread with the results of its tools (check 24)', async (t) => {
  const chat = await startChat(t);
  chat.troupe.models.steps.push(asks(['c1', 'note']));
  const { threads } = await talk(chat, ['one', 'two', 'three', 'four', 'five'], { model: 'steps' });
  const [id = ''] = threads;
  t.strictSame(new Set(threads).size, 1);
  t.match(await threadOf(chat, id), { resource_id: 'c', expires_at: undefined });
  const asked = (await texts(chat, id)).filter(
    (text) => !text.startsWith('echo') && !text.includes('did c1'),
  );
  t.strictSame(
    asked.filter((text) => text !== ''),
    ['one', 'two', 'three', 'four', 'five'],
  );
  t.match(JSON.stringify(chat.troupe.models.requests.at(-1)?.request.messages), /did c1/);
  const metrics = String((await chat.troupe.call('GET', '/metrics')).body.text);
  t.match(metrics, /service_openai_positions_total\{route="chat_completions",outcome="continued"\} 4/);
  t.match(metrics, /service_openai_positions_total\{route="chat_completions",outcome="new"\} 1/);
  t.match(metrics, /service_openai_legs_total\{status="completed"\} 5/);
});

t.test('requests for titles are separate threads that expire (check 25)', async (t) => {
  const chat = await startChat(t);
  const { history, threads } = await talk(chat, ['one']);
  const asked = await Promise.all(
    ['title', 'tags', 'follow-ups'].map((text) => chat.complete({ messages: [say(text)] }, HEADER)),
  );
  for (const { thread_id } of asked) {
    t.not(thread_id, threads[0]);
    t.match(await threadOf(chat, thread_id), { resource_id: 'c', expires_at: Number });
  }
  const next = await chat.complete({ messages: [...history, say('two')] }, HEADER);
  t.equal(next.thread_id, threads[0]);
  t.strictSame(await texts(chat, next.thread_id), ['one', 'echo: one', 'two', 'echo: two']);
});

t.test('the conversation is the first thread that a stream began (check 25)', async (t) => {
  const chat = await startChat(t);
  const title = await chat.complete({ messages: [say('title')] }, HEADER);
  const question = await chat.stream({ messages: [say('one')] }, HEADER);
  const id = question.headers.get('x-troupe-thread-id') ?? '';
  t.match(await threadOf(chat, title.thread_id), { resource_id: 'c', expires_at: Number });
  t.match(await threadOf(chat, id), { resource_id: 'c', expires_at: undefined });
  const edited = await chat.stream({ messages: [say('edited')] }, HEADER);
  const other = edited.headers.get('x-troupe-thread-id') ?? '';
  t.match(await threadOf(chat, other), { expires_at: Number });
  const history = [say('edited'), answered(edited.content), say('two')];
  const next = await chat.stream({ messages: history }, HEADER);
  t.equal(next.headers.get('x-troupe-thread-id'), other);
  t.match(await threadOf(chat, other), { expires_at: undefined }, 'a continued thread is kept');
});

t.test('a chat without a stream is kept from its first request on', async (t) => {
  const chat = await startChat(t);
  const { history, threads } = await talk(chat, ['one']);
  const [id = ''] = threads;
  t.match(await threadOf(chat, id), { resource_id: 'c', expires_at: undefined });
  const title = await chat.complete({ messages: [say('Title of: one')] }, HEADER);
  t.match(await threadOf(chat, title.thread_id), { expires_at: Number });
  await chat.complete({ messages: [...history, say('two')] }, HEADER);
  t.match(await threadOf(chat, id), { expires_at: undefined });
  t.match(await threadOf(chat, title.thread_id), { expires_at: Number });
});

t.test('a request for a title in front of a chat without a stream expires', async (t) => {
  await t.test('if its message contains the question', async (t) => {
    const chat = await startChat(t);
    const title = await chat.complete({ messages: [say('Title of: USER: one')] }, HEADER);
    t.match(
      await threadOf(chat, title.thread_id),
      { expires_at: undefined },
      'the thread may be the conversation',
    );
    const { threads } = await talk(chat, ['one']);
    t.match(await threadOf(chat, title.thread_id), { expires_at: Number });
    t.match(await threadOf(chat, threads[0] ?? ''), { expires_at: undefined });
  });
  await t.test('if another thread has a second request', async (t) => {
    const chat = await startChat(t);
    const title = await chat.complete({ messages: [say('Write a title.')] }, HEADER);
    const { history, threads } = await talk(chat, ['one']);
    const [id = ''] = threads;
    t.match(await threadOf(chat, id), { expires_at: Number });
    await chat.complete({ messages: [...history, say('two')] }, HEADER);
    t.match(await threadOf(chat, id), { expires_at: undefined });
    t.match(await threadOf(chat, title.thread_id), { expires_at: Number });
  });
});

t.test('threads that began at once are kept until one of them has a second request', async (t) => {
  const chat = await startChat(t);
  const { models } = chat.troupe;
  const model = { model: 'slow' };
  const asked = ['title', 'one'].map((text) => chat.complete({ ...model, messages: [say(text)] }, HEADER));
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 2,
  );
  models.releaseAll();
  const [title, first] = await Promise.all(asked);
  const messages = [say('one'), answered(first?.content ?? ''), say('two')];
  models.release();
  const next = await chat.complete({ ...model, messages }, HEADER);
  t.equal(next.thread_id, first?.thread_id);
  t.match(await threadOf(chat, next.thread_id), { expires_at: undefined });
  t.match(await threadOf(chat, title?.thread_id ?? ''), { expires_at: Number });
});

t.test('a regenerated answer is a fork, and both branches continue (check 26)', async (t) => {
  const chat = await startChat(t);
  const { history, threads } = await talk(chat, ['one', 'two', 'three']);
  const before = await texts(chat, threads[0] ?? '');
  chat.troupe.models.steps.push((sink) => {
    sink.text('another');
    return { stop: 'EndTurn' };
  });
  const again = await chat.complete({ messages: history.slice(0, 5) }, HEADER);
  t.not(again.thread_id, threads[0]);
  t.match(await threadOf(chat, again.thread_id), {
    resource_id: 'c',
    forked_from: { thread_id: threads[0], seq: 4 },
    expires_at: Number,
  });
  t.strictSame(await texts(chat, threads[0] ?? ''), before);
  const old = await chat.complete({ messages: [...history, say('four')] }, HEADER);
  t.equal(old.thread_id, again.thread_id, 'of equal answers to equal questions the newest counts');
  t.equal(
    (await threadOf(chat, again.thread_id)).expires_at,
    undefined,
    'a thread that is used again is kept',
  );
});

t.test('branches with different answers continue separately (check 26)', async (t) => {
  const chat = await startChat(t);
  const said = (text: string) => (sink: { text(delta: string): void }) => {
    sink.text(text);
    return { stop: 'EndTurn' as const };
  };
  chat.troupe.models.steps.push(said('a'), said('b'), said('b2'));
  const { history, threads } = await talk(chat, ['one', 'two'], { model: 'steps' });
  const again = await chat.complete({ model: 'steps', messages: history.slice(0, 3) }, HEADER);
  const first = await chat.complete({ model: 'steps', messages: [...history, say('x')] }, HEADER);
  t.equal(first.thread_id, threads[0]);
  const branch = [...history.slice(0, 3), answered('b2'), say('y')];
  const second = await chat.complete({ model: 'steps', messages: branch }, HEADER);
  t.equal(second.thread_id, again.thread_id);
});

t.test('an edited first message begins a thread, which continues (check 27)', async (t) => {
  const chat = await startChat(t);
  const { threads } = await talk(chat, ['one', 'two']);
  const edited = await chat.complete({ messages: [say('edited')] }, HEADER);
  t.not(edited.thread_id, threads[0]);
  const messages = [say('edited'), answered(edited.content ?? ''), say('next')];
  t.equal((await chat.complete({ messages }, HEADER)).thread_id, edited.thread_id);
});

t.test(
  'rewritten messages of the user, and details in answers, change no thread (checks 28, 29)',
  async (t) => {
    const chat = await startChat(t);
    const { history, threads } = await talk(chat, ['one', 'two']);
    const rewritten = [
      say('Use this context: …\n\none'),
      answered(
        ' echo:  one\n<details type="reasoning" done="true">\n<summary>Thought</summary>\nhm</details>',
      ),
      ...history.slice(2),
      say('three'),
    ];
    const next = await chat.complete({ messages: rewritten }, HEADER);
    t.equal(next.thread_id, threads[0]);
  },
);

t.test('an answer that was edited in substance is imported into a fork (check 29)', async (t) => {
  const chat = await startChat(t);
  const { history, threads } = await talk(chat, ['one', 'two']);
  const edited = [...history.slice(0, 3), answered('something else'), say('three')];
  const next = await chat.complete({ messages: edited }, HEADER);
  t.not(next.thread_id, threads[0]);
  t.strictSame(await texts(chat, next.thread_id), [
    'one',
    'echo: one',
    'two',
    'something else',
    'three',
    'echo: three',
  ]);
});

t.test('two agents in one chat have one thread each (check 30)', async (t) => {
  const chat = await startChat(t);
  const [one, other] = await Promise.all(
    ['echo', 'flaky'].map((model) => chat.complete({ model, messages: [say('hi')] }, HEADER)),
  );
  t.not(one?.thread_id, other?.thread_id);
  for (const each of [one, other]) {
    t.equal(each?.status, 200);
    t.match(await threadOf(chat, each?.thread_id ?? ''), { resource_id: 'c' });
  }
});

t.test('a message after a stopped answer continues its thread (check 31)', async (t) => {
  const chat = await startChat(t);
  const { models, url, call } = chat.troupe;
  const stopping = new AbortController();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...HEADER },
    body: JSON.stringify({ model: 'slow', stream: true, messages: [say('hi')] }),
    signal: stopping.signal,
  });
  const thread_id = response.headers.get('x-troupe-thread-id') ?? '';
  const run_id = response.headers.get('x-troupe-run-id') ?? '';
  const reader = response.body?.getReader();
  for (let text = ''; !text.includes('partial'); ) {
    const { value } = (await reader?.read()) ?? {};
    text += new TextDecoder().decode(value);
  }
  stopping.abort();
  await eventually(
    () => call('GET', `/v1/runs/${run_id}`),
    ({ body }) => body.status === 'done',
  );
  models.release();
  const messages = [say('hi'), answered('partial'), say('go on')];
  const next = await chat.complete({ model: 'slow', messages }, HEADER);
  t.equal(next.thread_id, thread_id);
  t.equal(next.content, 'partial answer');
});

t.test('rejects a chat id that is no id, and separates owners (check 32)', async (t) => {
  const { user } = await withUsers(t);
  const send = async (id: string, chat: string, messages: object[]) =>
    completed(
      await user(id).call(
        'POST',
        '/v1/chat/completions',
        { model: 'echo', messages },
        { 'x-conversation-id': chat },
      ),
    );
  const rejected = await send('alice', 'a/b', [say('hi')]);
  t.equal(rejected.status, 400);
  t.match(rejected.body.error, { code: 'invalid_value' });
  const alice = await send('alice', 'c', [say('hi')]);
  const history = [say('hi'), answered(alice.content ?? ''), say('next')];
  const bob = await send('bob', 'c', history);
  t.not(bob.thread_id, alice.thread_id);
  t.equal((await send('alice', 'c', history)).thread_id, alice.thread_id);
  t.equal((await user('bob').get(`/v1/threads/${alice.thread_id}`)).status, 404);
});

t.test('a named thread has the history of the service, and is never disturbed (check 33)', async (t) => {
  const chat = await startChat(t);
  const named = { 'x-troupe-thread-id': 't' };
  await chat.complete({ messages: [say('one')] }, named);
  const second = await chat.complete({ messages: [say('x'), answered('invented'), say('two')] }, named);
  t.equal(second.thread_id, 't');
  t.strictSame(await texts(chat, 't'), ['one', 'echo: one', 'two', 'echo: two']);
  const third = await chat.complete({ messages: [say('three')], metadata: { thread_id: 't' } });
  t.equal(third.thread_id, 't');

  const slow = chat.complete({ model: 'slow', messages: [say('slow')] }, named);
  await eventually(
    async () => chat.troupe.models.waiting(),
    (waiting) => waiting === 1,
  );
  const busy = await chat.complete({ messages: [say('four')] }, named);
  t.equal(busy.status, 409);
  t.match(busy.body.error, { code: 'thread_busy' });
  t.equal(busy.headers.get('x-should-retry'), 'false');
  chat.troupe.models.release();
  t.equal((await slow).content, 'partial answer');
});

t.test('of two requests at one position, the first continues and the second forks', async (t) => {
  const chat = await startChat(t);
  const { models } = chat.troupe;
  models.release();
  const { history, threads } = await talk(chat, ['one'], { model: 'slow' });
  const next = (text: string) => chat.complete({ model: 'slow', messages: [...history, say(text)] }, HEADER);
  const sent = [next('two')];
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 1,
  );
  sent.push(next('three'));
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 2,
  );
  models.release();
  const [first, second] = await Promise.all(sent);
  t.equal(first?.thread_id, threads[0]);
  t.not(second?.thread_id, threads[0]);
  t.match(await threadOf(chat, second?.thread_id ?? ''), { forked_from: { thread_id: threads[0] } });
});

t.test('a thread without an id expires with its runs and events (check 34)', async (t) => {
  const chat = await startChat(t, { settings: { openai: { unkeyed_retention_secs: 1 } } });
  const { thread_id, run_id } = await chat.complete({ messages: [say('hi')] });
  const { call, admin } = chat.troupe;
  t.match(await threadOf(chat, thread_id), { expires_at: Number });
  await eventually(
    () => call('GET', `/v1/threads/${thread_id}`),
    ({ status }) => status === 404,
  );
  t.equal((await call('GET', `/v1/runs/${run_id}`)).status, 404);
  t.strictSame((await admin('GET', `/v1/threads/${thread_id}/events`)).body.items ?? [], []);
  t.equal((await call('GET', '/v1/runs')).body.total, 0);
});

t.test('a thread that waits does not expire', async (t) => {
  const chat = await startChat(t, { settings: { openai: { unkeyed_retention_secs: 1 } } });
  chat.troupe.models.steps.push(asks(['c1', 'risky']));
  const { thread_id, content } = await chat.complete({ model: 'steps', messages: [say('hi')] });
  t.match(content, /Decide in the inbox/);
  const first = (await threadOf(chat, thread_id)).expires_at;
  const later = await eventually(
    () => threadOf(chat, thread_id),
    ({ expires_at }) => expires_at !== first,
  );
  t.ok(Number(later.expires_at) > Number(first));
});

t.test('rows of a deleted thread are not found again', async (t) => {
  const chat = await startChat(t);
  const { history, threads } = await talk(chat, ['one']);
  t.equal((await chat.troupe.call('DELETE', `/v1/threads/${threads[0]}`)).status, 204);
  const next = await chat.complete({ messages: [...history, say('two')] }, HEADER);
  t.not(next.thread_id, threads[0]);
  t.strictSame(await texts(chat, next.thread_id), ['one', 'echo: one', 'two', 'echo: two']);
});
