import { connect } from 'node:net';
import t from 'tap';
import { says } from '../agent-loop/agents.ts';
import { asks, type Inference } from '../models.ts';
import { eventually } from '../troupe.ts';
import { viewOf } from '../view.ts';
import { find, RUN, startAgUi, taken, textOf, typesOf, user } from './ag-ui.ts';

/** The events of a run, and readers that stall (chat-and-agui.md 2.7, 12, 17). */

const start = (agentId: string, threadId = 'T') => ({ threadId, agentId, messages: [user('u1', 'hi')] });

t.test('emits calls and results of a run with tools, and closes every step', async (t) => {
  const agUi = await startAgUi(t);
  agUi.models.steps.push(asks(['c1', 'note'], ['c2', 'note']), says('noted'));
  const events = await agUi.ask(start('steps'));
  const results = events.filter(({ type }) => type === 'TOOL_CALL_RESULT');
  t.strictSame(
    results.map(({ toolCallId }) => toolCallId),
    ['c1', 'c2'],
  );
  const ids = results.map(({ messageId }) => messageId);
  t.equal(new Set([...ids, '']).size, 3, 'the ids of results are unique and not empty');
  t.ok(results.every(({ role }) => role === 'tool'));
  const names = (wanted: string) =>
    events.flatMap(({ type, stepName }) => (type === wanted ? [stepName] : []));
  t.strictSame(names('STEP_STARTED'), ['step_1', 'step_2']);
  t.strictSame(names('STEP_FINISHED'), ['step_1', 'step_2']);
  const { messages } = await agUi.items('T');
  t.strictSame(
    ids,
    messages.flatMap(({ role, id }) => (role === 'tool' ? [id] : [])),
    'results have the ids of the messages in the history',
  );
});

/** Streams incomplete arguments. */
const incompleteCall: Inference = (sink, _request, signal) => {
  sink.text('let me see');
  sink.toolStart('c1', 'note');
  sink.toolDelta('c1', '{"a":');
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
};

t.test('closes a call when its run is cancelled during the arguments', async (t) => {
  const agUi = await startAgUi(t);
  agUi.models.steps.push(incompleteCall);
  const stream = await agUi.open(RUN, start('steps'));
  const before = await stream.until('TOOL_CALL_ARGS');
  await agUi.post('/v1/ag-ui/threads/T/interrupt');
  const events = [...before, ...(await stream.rest())].map(({ frame }) => frame);
  await taken(events);
  t.equal(find(events, 'TOOL_CALL_END').toolCallId, 'c1');
  t.equal(events.at(-1)?.type, 'RUN_FINISHED');
});

t.test('closes a call whose arguments the model does not complete', async (t) => {
  const agUi = await startAgUi(t);
  agUi.models.steps.push((sink) => {
    sink.toolStart('c1', 'note');
    sink.toolDelta('c1', '{"a":');
    throw new Error('the connection broke');
  });
  const events = await agUi.ask(start('steps'));
  t.ok(typesOf(events).includes('TOOL_CALL_END'));
  t.ok(['RUN_FINISHED', 'RUN_ERROR'].includes(String(events.at(-1)?.type)));
});

t.test('sends reasoning as a separate message', async (t) => {
  const agUi = await startAgUi(t);
  agUi.models.steps.push((sink) => {
    sink.reasoning('hmm');
    sink.text('yes');
    return { stop: 'EndTurn' };
  });
  const events = await agUi.ask(start('steps'));
  const [thought, said] = ['REASONING_MESSAGE_START', 'TEXT_MESSAGE_START'].map((type) => find(events, type));
  t.not(thought?.messageId, said?.messageId);
});

t.test('produces the same text for a prompt in every protocol', async (t) => {
  const agUi = await startAgUi(t);
  const [own, chat, plain] = await Promise.all([
    agUi.ask(start('echo', 'A')),
    agUi.say('echo', 'B', { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }),
    agUi.runToEnd({ agentId: 'echo', threadId: 'C', messages: [{ role: 'user', content: 'hi' }] }),
  ]);
  t.equal(textOf(own), 'echo: hi');
  t.equal(chat.map(({ delta = '' }) => delta).join(''), 'echo: hi');
  t.equal(plain.map(({ delta = '' }) => delta).join(''), 'echo: hi');
});

t.test('continues a run whose client disconnects', async (t) => {
  const agUi = await startAgUi(t);
  const stream = await agUi.open(RUN, start('slow'));
  const [started] = await stream.until('TEXT_MESSAGE_CONTENT');
  await stream.close();
  agUi.models.release();
  const view = viewOf(agUi, 'T');
  const run = await view.until(started?.frame.runId, 'done');
  t.match(run, { final_output: 'partial answer', termination_reason: { type: 'natural_end' } });
  await view.check(t);
});

t.test('disconnects a client that does not read, and continues its run', async (t) => {
  const agUi = await startAgUi(t, { settings: { sse_buffer_size: 16 } });
  // 7 MB: more than the buffers of a socket (4 MB on Linux) and 16 frames.
  const piece = 'x'.repeat(64 * 1024);
  const pieces = 112;
  agUi.models.steps.push(async (sink) => {
    for (let turn = 0; turn < pieces; turn += 1) {
      sink.text(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { stop: 'EndTurn' };
  });
  const { hostname, port } = new URL(agUi.url);
  const socket = connect(Number(port), hostname);
  const body = JSON.stringify(start('steps'));
  const head = `POST ${RUN} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  socket.on('error', () => {});
  socket.pause();
  socket.write(`${head}\r\n\r\n${body}`);
  const view = viewOf(agUi, 'T');
  const [run] = await eventually(
    async () => ((await agUi.call('GET', '/v1/threads/T')).status === 200 ? view.runs() : []),
    ([first]) => first?.status === 'done',
  );
  t.equal(run?.final_output?.length, pieces * piece.length);
  const dropped = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  await dropped;
  await view.check(t);
});
