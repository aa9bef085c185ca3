import t from 'tap';
import { asks, hangs, type Inference } from '../models.ts';
import { answered, type Chat, countRuns, cutStream, say, startChat } from './chat.ts';

/**
 * Requests in the form in which Open WebUI 0.12.4 sends them. It offers its tools to each model, sends calls and
 * results back with the history, and takes several kinds of tags in a text for the beginning of reasoning, which it does
 * not send back.
 */

const HEADERS = {
  'x-openwebui-chat-id': '1c8b6b0a-9008-43d3-900f-a447ef00dbf8',
  'x-openwebui-user-id': 'a9ed9c42-5c0f-4416-a7bd-0aa529a12f24',
  'x-openwebui-user-name': 'ada',
  'x-openwebui-user-role': 'admin',
};

const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'get_current_timestamp',
      description: 'Get the current Unix timestamp in seconds.',
      parameters: { properties: {}, type: 'object' },
    },
  },
];

const CHAT = { model: 'steps', tools: TOOLS };

/** The text without what Open WebUI takes for reasoning. */
const withoutReasoning = (text: string): string =>
  text.replace(/<(think(?:ing)?|reason(?:ing)?|[Tt]hought)>.*?(?:<\/\1>|$)/gs, '');

t.test('a text that asks for an approval arrives whole, and is answered by /approve', async (t) => {
  const chat = await startChat(t);
  chat.troupe.models.steps.push(asks(['c1', 'risky', { path: '/tmp' }]));
  const first = await chat.stream({ ...CHAT, messages: [say('hi')] }, HEADERS);
  const shown = withoutReasoning(first.content);
  t.equal(shown, first.content);
  const messages = [say('hi'), answered(shown), say('/approve')];
  await chat.stream({ ...CHAT, messages }, HEADERS);
  t.strictSame(chat.tools.executed, ['c1']);
  t.equal(await countRuns(chat.troupe), 1);
});

t.test('arguments that look like reasoning do not prevent an approval', async (t) => {
  const chat = await startChat(t);
  chat.troupe.models.steps.push(asks(['c1', 'risky', { path: '/tmp/<reason>' }]));
  const first = await chat.stream({ ...CHAT, messages: [say('hi')] }, HEADERS);
  const shown = withoutReasoning(first.content);
  t.not(shown, first.content);
  await chat.stream({ ...CHAT, messages: [say('hi'), answered(shown), say('/approve')] }, HEADERS);
  t.strictSame(chat.tools.executed, ['c1']);
});

t.test('an answer with reasoning in tags continues its thread', async (t) => {
  const chat = await startChat(t);
  chat.troupe.models.steps.push((sink) => {
    for (const text of ['<thinking>', 'hm', ' so</thinking>', 'Tagged ', '<b>bold</b> ', 'end'])
      sink.text(text);
    return { stop: 'EndTurn' };
  });
  const first = await chat.stream({ ...CHAT, messages: [say('hi')] }, HEADERS);
  const messages = [say('hi'), answered('Tagged <b>bold</b> end'), say('next')];
  const next = await chat.stream({ ...CHAT, messages }, HEADERS);
  t.equal(next.headers.get('x-troupe-thread-id'), first.headers.get('x-troupe-thread-id'));
});

t.test('calls of its tools continue the run, and stay in the thread', async (t) => {
  const chat = await startChat(t);
  chat.troupe.models.steps.push(asks(['c1', 'get_current_timestamp', {}]));
  const first = await chat.stream({ ...CHAT, messages: [say('hi')] }, HEADERS);
  t.equal(first.finish_reason, 'tool_calls');
  const [{ id }] = first.chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  const call = { id, type: 'function', function: { name: 'get_current_timestamp', arguments: '{}' } };
  const messages = [
    say('hi'),
    { role: 'assistant', content: '', tool_calls: [call] },
    { role: 'tool', tool_call_id: id, content: '{"current_timestamp":1795955872}' },
  ];
  const second = await chat.stream({ ...CHAT, messages }, HEADERS);
  t.equal(second.headers.get('x-troupe-run-id'), first.headers.get('x-troupe-run-id'));
  const history = [...messages, answered(second.content), say('next')];
  const next = await chat.stream({ ...CHAT, messages: history }, HEADERS);
  t.equal(next.headers.get('x-troupe-thread-id'), first.headers.get('x-troupe-thread-id'));
  t.match(JSON.stringify(chat.troupe.models.requests.at(-1)?.request.messages), /1795955872/);
});

/** Stops an answer after this text, as Open WebUI does, and returns the id of its thread. */
const stopAfter = async (chat: Chat, text: string, messages: object[]): Promise<string> => {
  const body = { ...CHAT, messages };
  const { thread_id } = await cutStream(chat, { body, headers: HEADERS, after: text, status: 'done' });
  return thread_id;
};

t.test('a stopped answer of which it has the beginning continues its thread', async (t) => {
  const chat = await startChat(t);
  chat.troupe.models.steps.push(hangs('one two three'));
  const thread = await stopAfter(chat, 'three', [say('hi')]);
  const history = [say('hi'), answered('one two'), say('next')];
  const next = await chat.stream({ ...CHAT, messages: history }, HEADERS);
  t.equal(next.headers.get('x-troupe-thread-id'), thread);
  const after = [...history, answered(next.content), say('last')];
  const last = await chat.stream({ ...CHAT, messages: after }, HEADERS);
  t.equal(last.headers.get('x-troupe-thread-id'), thread, 'the next answer continues the thread too');
  const edited = [say('hi'), answered('one too'), say('next')];
  const other = await chat.stream({ ...CHAT, messages: edited }, HEADERS);
  t.not(other.headers.get('x-troupe-thread-id'), thread, 'an edited answer does not');
});

t.test('the beginning of a stopped answer may end in an earlier step', async (t) => {
  const chat = await startChat(t);
  const { steps } = chat.troupe.models;
  const first = { say: 'I will note it.', call: asks(['c1', 'note']) };
  steps.push((sink, request, signal) => {
    sink.text(first.say);
    return first.call(sink, request, signal);
  }, hangs('Noted, and'));
  const thread = await stopAfter(chat, 'Noted', [say('hi')]);
  for (const text of ['I will note', 'I will note it.\n\nNoted']) {
    const messages = [say('hi'), answered(text), say('next')];
    const { troupe } = chat;
    const next = await chat.stream({ ...CHAT, messages }, HEADERS);
    const { body } = await troupe.call('GET', `/v1/threads/${next.headers.get('x-troupe-thread-id')}`);
    const from = (body.forked_from as { thread_id: string } | undefined)?.thread_id ?? body.id;
    t.equal(from, thread, text);
    t.match(JSON.stringify(troupe.models.requests.at(-1)?.request.messages), /did c1/);
  }
});

t.test('a continued answer, to which it appends the continuation, continues its thread', async (t) => {
  const chat = await startChat(t);
  const { steps } = chat.troupe.models;
  const says =
    (text: string): Inference =>
    (sink) => {
      sink.text(text);
      return { stop: 'EndTurn' };
    };
  steps.push(says('one'), says(' two'), says(' three'));
  const first = await chat.stream({ ...CHAT, messages: [say('hi')] }, HEADERS);
  const thread = first.headers.get('x-troupe-thread-id');
  for (const text of ['one', 'one two']) {
    const more = await chat.stream({ ...CHAT, messages: [say('hi'), answered(text)] }, HEADERS);
    t.equal(more.headers.get('x-troupe-thread-id'), thread, text);
  }
  const messages = [say('hi'), answered('one two three'), say('next')];
  const next = await chat.stream({ ...CHAT, messages }, HEADERS);
  t.equal(next.headers.get('x-troupe-thread-id'), thread);
  const edited = [say('hi'), answered('one two four'), say('next')];
  const other = await chat.stream({ ...CHAT, messages: edited }, HEADERS);
  t.not(other.headers.get('x-troupe-thread-id'), thread, 'an edited answer is another one');
});
