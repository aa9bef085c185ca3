import t from 'tap';
import { eventually } from '../troupe.ts';
import { startChat, textOf, user } from './chat.ts';

/** Parts that a reloaded chat shows although they are not part of the model history. */

const chat = await startChat(t);

const history = async (thread: string) => (await chat.history(thread, '?order=asc')).messages;

const contents = () => chat.models.requests.at(-1)?.request.messages.map(({ content }) => content);

t.test('shows reasoning before its message without sending it to the model again', async (t) => {
  chat.models.steps.push((sink) => {
    sink.reasoning('Let me ');
    sink.reasoning('think.');
    sink.text('Done.');
    return { stop: 'EndTurn' };
  });
  await chat.say('steps', 'R', user('r1', 'one'));
  t.match((await history('R')).at(-1)?.parts, [
    { type: 'reasoning', text: 'Let me think.' },
    { type: 'text', text: 'Done.' },
  ]);
  const { messages } = (await chat.call('GET', '/v1/ag-ui/threads/R/messages?order=asc')).body;
  t.match(messages, [{}, { content: [{ type: 'thinking', thinking: 'Let me think.' }, { text: 'Done.' }] }]);
  await chat.say('steps', 'R', user('r2', 'two'));
  t.notMatch(JSON.stringify(contents()), /think/);
});

t.test('shows the partial text of a stopped completion, which is not in the history', async (t) => {
  const body = { agentId: 'slow', threadId: 'S', messages: [user('s1', 'one')] };
  const stream = await chat.open('/v1/ai-sdk/chat', body);
  await stream.until('text-delta');
  t.equal((await chat.post('/v1/ai-sdk/threads/S/cancel')).status, 202);
  await stream.rest();
  const shown = async () => (await history('S')).map(({ role, parts }) => [role, parts[0]?.text]);
  await eventually(shown, ({ length }) => length === 2);
  t.strictSame(await shown(), [
    ['user', 'one'],
    ['assistant', 'partial'],
  ]);
  t.equal((await chat.history('S')).total, 2);
  for (const visibility of ['external', 'internal', 'all']) {
    const { body } = await chat.call('GET', `/v1/threads/S/messages?visibility=${visibility}`);
    t.match(body, { total: visibility === 'internal' ? 0 : 1 });
    t.notMatch(JSON.stringify(body), /partial/);
  }
  t.notMatch(JSON.stringify((await chat.call('GET', '/v1/threads/S/events?limit=200')).body), /"partial"/);
  await chat.say('echo', 'S', user('s1', 'one'), user('s2', 'two'));
  t.strictSame(contents(), [[{ type: 'text', text: 'one' }], [{ type: 'text', text: 'two' }]]);
  t.equal((await shown()).length, 4);

  await chat.restart();
  t.equal((await shown()).length, 4);
  const again = { ...body, agentId: 'echo', trigger: 'regenerate-message' };
  const answer = await chat.open('/v1/ai-sdk/chat', again);
  t.equal(textOf((await answer.rest()).map(({ frame }) => frame)), 'echo: one');
  t.strictSame(await shown(), [
    ['user', 'one'],
    ['assistant', 'echo: one'],
  ]);
});

t.test('keeps the names of files', async (t) => {
  const file = {
    type: 'file',
    mediaType: 'text/plain',
    filename: ' notes.txt ',
    url: `data:text/plain;base64,${Buffer.from('hi').toString('base64')}`,
  };
  await chat.say('echo', 'F', { id: 'f1', role: 'user', parts: [file, { type: 'text', text: 'look' }] });
  t.match((await history('F'))[0]?.parts[0], { type: 'file', filename: 'notes.txt', url: file.url });
});

t.test('keeps the partial text of an interrupted run', async (t) => {
  const body = { agentId: 'slow', threadId: 'I', messages: [user('i1', 'one')] };
  const stream = await chat.open('/v1/ai-sdk/chat', body);
  await stream.until('text-delta');
  t.equal((await chat.post('/v1/threads/I/interrupt')).status, 202);
  await stream.rest();
  const shown = async () => (await history('I')).map(({ parts }) => parts[0]?.text);
  await eventually(shown, ({ length }) => length === 2);
  t.strictSame(await shown(), ['one', 'partial']);
});
