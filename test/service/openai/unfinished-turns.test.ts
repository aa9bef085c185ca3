import t, { type Test } from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import { asks, hangs, type Inference } from '../models.ts';
import { eventually } from '../troupe.ts';
import { answered, type Chat, cutStream, messagesOf, say, startChat } from './chat.ts';

/**
 * Turns that end without the whole answer (openai.md 5.2): a front end that sends what it has shown continues the thread
 * with its next message.
 */

const HEADER = { 'x-openwebui-chat-id': 'c' };
const MODEL = { model: 'steps' };

const says =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn' };
  };

const fails =
  (first = ''): Inference =>
  (sink) => {
    if (first !== '') sink.text(first);
    throw new ModelError('invalid_request', 'no such thing');
  };

/** A call of a tool, behind this text. */
const calls =
  (text: string): Inference =>
  (sink, request, signal) => {
    if (text !== '') sink.text(text);
    return asks(['c1', 'note'])(sink, request, signal);
  };

type End = {
  name: string;
  steps: Inference[];
  /** The text after which the client cuts the stream; without it, the stream is read to its end. */
  cut?: string;
  /** Texts that front ends send in place of the answer; undefined: none. */
  shown: (string | undefined)[];
};

const ERROR = 'Something is wrong: inference failed: invalid request: no such thing';

const ENDS: End[] = [
  { name: 'fails before its text', steps: [fails()], shown: [undefined, ERROR, 'Oops'] },
  { name: 'fails within its text', steps: [fails('half of')], shown: [undefined, 'half of', ERROR, 'Oops'] },
  {
    name: 'fails in its second step',
    steps: [calls('Let me see.'), fails('half')],
    shown: [undefined, 'Let me see.', 'Let me see.\n\nhalf', `Let me see. ${ERROR}`],
  },
  { name: 'is stopped before its text', steps: [hangs()], cut: '', shown: [undefined, 'Stopped.'] },
  {
    name: 'is stopped within its text',
    steps: [hangs('half of')],
    cut: 'half of',
    shown: ['half', undefined],
  },
  {
    name: 'ends at its limit',
    steps: Array(8).fill(calls('')),
    shown: [undefined, 'The limit was reached.'],
  },
  { name: 'has no text', steps: [() => ({ stop: 'EndTurn' })], shown: [undefined] },
];

/** Has the turn behind these messages, and returns the id of its thread. */
const haveTurn = async (chat: Chat, { steps, cut }: End, messages: object[]): Promise<string> => {
  chat.troupe.models.steps.push(...steps);
  const body = { ...MODEL, messages };
  if (cut !== undefined)
    return (await cutStream(chat, { body, headers: HEADER, after: cut, status: 'done' })).thread_id;
  return (await chat.stream(body, HEADER)).headers.get('x-troupe-thread-id') ?? '';
};

const checkNext = async (
  t: Test,
  chat: Chat,
  { messages, thread }: { messages: object[]; thread: string },
): Promise<string> => {
  const next = await chat.stream({ ...MODEL, messages }, HEADER);
  t.equal(next.headers.get('x-troupe-thread-id'), thread);
  return next.content;
};

const textsOf = async (chat: Chat, thread: string): Promise<string[]> => {
  const messages = await messagesOf(chat.troupe, thread);
  return messages
    .filter(({ role }) => role !== 'tool')
    .map(({ content }) => (content as { text?: string }[])[0]?.text ?? '')
    .filter((text) => text !== '');
};

for (const end of ENDS) {
  t.test(`the message behind a turn that ${end.name} continues its thread`, async (t) => {
    const chat = await startChat(t);
    for (const [row, shown] of end.shown.entries()) {
      for (const isFirst of [true, false]) {
        const name = `${shown ?? 'nothing'}, ${isFirst ? 'first' : 'second'} turn`;
        const history: object[] = [];
        if (!isFirst) {
          chat.troupe.models.steps.push(says(`Hello ${row}.`));
          history.push(say('hello'));
          const hello = await chat.stream({ ...MODEL, messages: history }, HEADER);
          history.push(answered(hello.content));
        }
        const question = `question ${name}`;
        history.push(say(question));
        const thread = await haveTurn(chat, end, history);
        if (shown !== undefined) history.push(answered(shown));
        history.push(say('next'));
        const content = await checkNext(t, chat, { messages: history, thread });
        const texts = await textsOf(chat, thread);
        t.strictSame(
          texts.filter((text) => text === question || text === 'next'),
          [question, 'next'],
          `${name}: each message once`,
        );
        const messages = [...history, answered(content), say('last')];
        await checkNext(t, chat, { messages, thread });
      }
    }
  });
}

t.test('a repeated question continues the turn that failed, with the results of its tools', async (t) => {
  const chat = await startChat(t);
  const messages = [say('hi')];
  const [failing] = ENDS.filter(({ name }) => name === 'fails in its second step');
  const thread = await haveTurn(chat, failing as End, messages);
  const content = await checkNext(t, chat, { messages, thread });
  t.equal(content, 'echo: hi');
  t.strictSame(chat.tools.executed, ['c1']);
  t.match(JSON.stringify(chat.troupe.models.requests.at(-1)?.request.messages), /did c1/);
  await checkNext(t, chat, { messages: [...messages, answered(content), say('next')], thread });
});

for (const shown of [undefined, 'Oops']) {
  t.test(`several turns that fail stay in one thread, each shown as ${shown ?? 'nothing'}`, async (t) => {
    const chat = await startChat(t);
    const messages: object[] = [say('one')];
    const thread = await haveTurn(chat, { name: '', steps: [fails()], shown: [] }, messages);
    for (const text of ['two', 'three']) {
      if (shown !== undefined) messages.push(answered(shown));
      messages.push(say(text));
      chat.troupe.models.steps.push(fails());
      await checkNext(t, chat, { messages, thread });
    }
    await checkNext(t, chat, { messages, thread });
    const texts = (await textsOf(chat, thread)).filter((text) => text !== shown);
    t.strictSame(texts, ['one', 'two', 'three', 'echo: three']);
  });
}

t.test('a failed turn whose question was rewritten for it continues its thread', async (t) => {
  const chat = await startChat(t);
  const rewritten = say('Use this context: …\n\nWhat is it?');
  const thread = await haveTurn(chat, { name: '', steps: [fails()], shown: [] }, [rewritten]);
  await checkNext(t, chat, { messages: [say('What is it?'), say('Tell me.')], thread });
  const again = say('Use that context: …\n\nAnd now?');
  const history = [say('What is it?'), say('Tell me.'), answered('echo: Tell me.')];
  await haveTurn(chat, { name: '', steps: [fails()], shown: [] }, [...history, again]);
  const messages = [...history, say('And now?'), answered('Oops'), say('Well?')];
  await checkNext(t, chat, { messages, thread });
});

t.test('a turn that is stopped before its run begins keeps the thread for the next message', async (t) => {
  const chat = await startChat(t, { settings: { max_concurrent_runs: 1 } });
  const { models } = chat.troupe;
  const other = chat.complete({ model: 'slow', messages: [say('other')] });
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 1,
  );
  const stopped = { name: '', steps: [], cut: '', shown: [] };
  const thread = await haveTurn(chat, stopped, [say('hi')]);
  models.release();
  await other;
  await checkNext(t, chat, { messages: [say('hi'), say('next')], thread });
});

t.test(
  'the repeated question of a stopped turn, and an edited one of a failed turn, begin a branch',
  async (t) => {
    const chat = await startChat(t);
    chat.troupe.models.steps.push(says('Hello.'));
    const hello = await chat.stream({ ...MODEL, messages: [say('hi')] }, HEADER);
    const history = [say('hi'), answered(hello.content)];
    const stopped = await haveTurn(chat, { name: '', steps: [hangs('half')], cut: 'half', shown: [] }, [
      ...history,
      say('one'),
    ]);
    const again = await chat.stream({ ...MODEL, messages: [...history, say('one')] }, HEADER);
    t.not(again.headers.get('x-troupe-thread-id'), stopped);
    const failed = await haveTurn(chat, { name: '', steps: [fails()], shown: [] }, [say('first')]);
    const edited = await chat.stream({ ...MODEL, messages: [say('first, edited')] }, HEADER);
    t.not(edited.headers.get('x-troupe-thread-id'), failed);
  },
);

t.test('a run that continues without its client keeps the thread for the next message', async (t) => {
  const chat = await startChat(t, { settings: { openai: { on_disconnect: 'continue' } } });
  const { models } = chat.troupe;
  const body = { model: 'slow', messages: [say('hi')] };
  const { run_id, thread_id } = await cutStream(chat, { body, headers: HEADER, after: 'partial' });
  const readers = async () => String((await chat.troupe.call('GET', '/metrics')).body.text);
  await eventually(readers, (text) => /^service_sse_connections 0$/m.test(text));
  models.release();
  await eventually(
    () => chat.troupe.call('GET', `/v1/runs/${run_id}`),
    (answer) => answer.body.status === 'done',
  );
  models.release();
  const messages = [say('hi'), answered('part'), say('next')];
  const next = await chat.complete({ model: 'slow', messages }, HEADER);
  t.equal(next.thread_id, thread_id);
});

t.test('an approval that was decided elsewhere keeps the thread for the next message', async (t) => {
  const chat = await startChat(t);
  chat.troupe.models.steps.push(asks(['c1', 'risky']));
  const first = await chat.stream({ ...MODEL, messages: [say('hi')] }, HEADER);
  const thread = first.headers.get('x-troupe-thread-id') ?? '';
  const run_id = first.headers.get('x-troupe-run-id');
  const decided = await chat.troupe.post(`/v1/runs/${run_id}/decision`, {
    toolCallId: 'c1',
    action: 'resume',
  });
  t.equal(decided.status, 202);
  await eventually(
    () => chat.troupe.call('GET', `/v1/runs/${run_id}`),
    (answer) => answer.body.status === 'done',
  );
  const messages = [say('hi'), answered(first.content), say('next')];
  await checkNext(t, chat, { messages, thread });
});
