import t from 'tap';
import { asks } from '../models.ts';
import { eventually } from '../troupe.ts';
import { type Chat, framesOf, startChat, textOf, user } from './chat.ts';

/** Regenerated completions and edited questions (chat-and-agui.md 3.6), which rewind the conversation. */

const chat = await startChat(t);

const text = ({ parts }: { parts: Record<string, unknown>[] }): string =>
  parts.map((part) => part.text ?? '').join('');

const shown = async (thread: string) =>
  (await chat.history(thread, '?order=asc')).messages.map((message) => `${message.role}: ${text(message)}`);

/** The last prompt of the model. */
const asked = () =>
  chat.models.requests
    .at(-1)
    ?.request.messages.map(
      ({ role, content }) =>
        `${role}: ${content.map((block) => ('text' in block ? block.text : '')).join('')}`,
    );

const answers = (of: Chat, body: object) =>
  of.open('/v1/ai-sdk/chat', { agentId: 'steps', trigger: 'submit-message', ...body });

const ask = async (body: object): Promise<string> =>
  textOf(framesOf(await (await answers(chat, body)).rest()));

const saying = (...texts: string[]) => {
  for (const each of texts) {
    chat.models.steps.push((sink) => {
      sink.text(each);
      return { stop: 'EndTurn' };
    });
  }
};

const counts = async (thread: string, visibility: string) => {
  const { body } = await chat.call('GET', `/v1/threads/${thread}/messages?visibility=${visibility}&limit=2`);
  return { total: body.total, listed: (body.messages as unknown[]).length };
};

t.test('replaces the last completion for readers and for the model', async (t) => {
  const threadId = 'last';
  const one = user('l1', 'one');
  saying('first', 'second', 'third', 'fourth');
  await ask({ threadId, messages: [one] });
  const again = { threadId, messages: [one], trigger: 'regenerate-message' };
  t.equal(await ask(again), 'second');
  t.equal(await ask(again), 'third');
  t.strictSame(asked(), ['user: one']);
  t.strictSame(await shown(threadId), ['user: one', 'assistant: third']);
  t.strictSame(await counts(threadId, 'external'), { total: 2, listed: 2 });
  t.strictSame(await counts(threadId, 'all'), { total: 2, listed: 2 });
  await ask({ threadId, messages: [one, user('l2', 'two')] });
  t.strictSame(asked(), ['user: one', 'assistant: third', 'user: two']);
});

t.test('regenerates an earlier completion and removes everything after it', async (t) => {
  const threadId = 'earlier';
  const [one, two] = [user('e1', 'one'), user('e2', 'two')];
  chat.models.steps.push(asks(['c1', 'note']));
  saying('noted', 'second', 'other');
  await ask({ threadId, messages: [one] });
  await ask({ threadId, messages: [one, two] });
  t.equal(await ask({ threadId, messages: [one], trigger: 'regenerate-message', messageId: 'any' }), 'other');
  t.strictSame(asked(), ['user: one']);
  t.strictSame(await shown(threadId), ['user: one', 'assistant: other']);
  t.equal((await ask({ threadId, messages: [one, two, user('e3', 'three')] })).length > 0, true);
  t.strictSame(
    asked(),
    ['user: one', 'assistant: other', 'user: three'],
    'removed messages are not sent to the model',
  );
});

t.test('replaces an edited question, however often it is edited', async (t) => {
  const threadId = 'edited';
  const edit = (to: string) => ask({ threadId, messages: [user('d1', to)], messageId: 'd1' });
  await ask({ threadId, messages: [user('d1', 'one')] });
  t.equal(await edit('won'), 'echo: won');
  t.equal(await edit('wan'), 'echo: wan');
  t.strictSame(asked(), ['user: wan']);
  t.strictSame(await shown(threadId), ['user: wan', 'assistant: echo: wan']);
  const [question] = (await chat.history(threadId, '?order=asc')).messages;
  const reloaded = [user(question?.id ?? '', 'wun')];
  t.equal(await ask({ threadId, messages: reloaded, messageId: question?.id }), 'echo: wun');
  t.equal(await edit('win'), 'echo: win', 'an edit by the original id works too');
  t.equal(await edit('win'), 'echo: win', 'the last question without a change is a repeated one');
  t.strictSame(asked(), ['user: win']);
  saying('again');
  await ask({ threadId, messages: [user('d1', 'win'), user('d2', 'two')], messageId: 'd2' });
  t.strictSame(asked(), ['user: win', 'assistant: echo: win', 'user: two'], 'a new message replaces nothing');
  t.equal(await edit('win'), 'echo: win', 'an earlier question without a change is answered again');
  t.strictSame(await shown(threadId), ['user: win', 'assistant: echo: win']);
  t.strictSame(asked(), ['user: win']);
});

t.test('ends executing and suspended runs after the question', async (t) => {
  const threadId = 'open';
  const one = user('o1', 'one');
  const again = { threadId, messages: [one], trigger: 'regenerate-message' };
  chat.models.steps.push(asks(['c1', 'risky']));
  await ask({ threadId, messages: [one] });
  const waiting = (await chat.call('GET', `/v1/threads/${threadId}/runs/latest`)).body.run_id;
  t.equal(await ask(again), 'echo: one');
  t.match((await chat.call('GET', `/v1/runs/${waiting}`)).body, { status: 'done' });
  t.strictSame(asked(), ['user: one']);

  const slow = await answers(chat, { ...again, agentId: 'slow' });
  await slow.until('text-delta');
  saying('quick');
  t.equal(await ask(again), 'quick');
  t.equal(textOf(framesOf(await slow.rest())), '');
  t.strictSame(await shown(threadId), ['user: one', 'assistant: quick']);
});

t.test('keeps the rewound history in another service on the same data directory', async (t) => {
  const own = await startChat(t);
  const body = (messages: object[], more = {}) => ({ agentId: 'echo', threadId: 'T', messages, ...more });
  await (await own.open('/v1/ai-sdk/chat', body([user('r1', 'one')]))).rest();
  await (await own.open('/v1/ai-sdk/chat', body([user('r1', 'two')], { messageId: 'r1' }))).rest();
  await own.restart();
  t.equal(textOf(await own.say('echo', 'T', user('r1', 'one'), user('r2', 'three'))), 'echo: three');
  const contents = own.models.requests.at(-1)?.request.messages.map(({ content }) => content);
  t.match(contents, [[{ text: 'two' }], [{ text: 'echo: two' }], [{ text: 'three' }]]);
  t.equal(contents?.length, 3);
  await eventually(
    async () => (await own.history('T')).total,
    (total) => total === 4,
  );
});

t.test('rejects a regeneration without a completion', async (t) => {
  const body = { threadId: 'none', messages: [], trigger: 'regenerate-message' };
  t.equal((await chat.post('/v1/ai-sdk/chat', body)).status, 400);
});
