import t, { type Test } from 'tap';
import { ResponseEvent } from '../../../src/protocols/openai/event-schema.ts';
import { ResponseResource } from '../../../src/protocols/openai/response.ts';
import { parseFrames } from '../../protocols/openai/leg.ts';
import { ask } from '../../service/http.ts';
import { asks, type Inference } from '../../service/models.ts';
import { startChat } from '../../service/openai/chat.ts';

/**
 * The required cases of the compliance test of Open Responses, in tests of this project. Its agent has no tools that the service
 * executes, and it loses frames that are split over chunks.
 */

const { troupe } = await startChat(t);

const says =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn' };
  };

type Body = ReturnType<typeof ResponseResource.parse>;

const respond = async (t: Test, body: object): Promise<Body> => {
  const sent = { model: 'steps', ...body };
  const answer = await troupe.post('/v1/responses', sent);
  t.equal(answer.status, 200, JSON.stringify(answer.body));
  const response = ResponseResource.parse(answer.body);
  t.strictSame(answer.body, response, 'the response has no other keys');
  t.equal(response.status, 'completed');
  t.not(response.output.length, 0);
  return response;
};

const stream = async (t: Test, body: object) => {
  const got = await ask(`${troupe.url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'steps', stream: true, ...body }),
  });
  t.match(got.headers.get('content-type'), /^text\/event-stream/);
  const chunks: string[] = [];
  for (let chunk = await got.read(); chunk !== undefined; chunk = await got.read()) chunks.push(chunk);
  t.ok(
    chunks.every((chunk) => chunk.endsWith('\n\n')),
    'frames are whole',
  );
  const text = chunks.join('');
  t.ok(text.endsWith('data: [DONE]\n\n'));
  const events = parseFrames(text);
  for (const event of events) t.strictSame(ResponseEvent.parse(event), event, event.type);
  const last = events.at(-1);
  t.match(last, { type: 'response.completed', response: { status: 'completed' } });
  return events;
};

const user = (content: unknown) => ({ type: 'message', role: 'user', content });

const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'Returns the weather of a place.',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
};
const ASKS = asks(['c1', 'get_weather', { location: 'Oslo' }]);

const received = () => troupe.models.requests.at(-1)?.request;

t.test('answers a message', async (t) => {
  t.equal((await respond(t, { input: [user('hi')] })).output_text, 'echo: hi');
});

t.test('streams the answer to a message', async (t) => {
  const events = await stream(t, { input: [user('hi')] });
  t.match(
    events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta),
    ['echo: hi'],
  );
});

t.test('gives the model a system message of the input', async (t) => {
  await respond(t, { input: [{ type: 'message', role: 'system', content: 'Be a pirate.' }, user('hi')] });
  t.match(JSON.stringify(received()), /Be a pirate\./);
});

t.test('calls a function', async (t) => {
  troupe.models.steps.push(ASKS);
  const { output } = await respond(t, { input: [user('Weather?')], tools: [WEATHER] });
  t.match(output, [{ type: 'function_call', name: 'get_weather', arguments: '{"location":"Oslo"}' }]);
});

t.test('streams the call of a function', async (t) => {
  troupe.models.steps.push(ASKS);
  const events = await stream(t, { input: [user('Weather?')], tools: [WEATHER] });
  const types = events.map(({ type, item }) => {
    const kind = (item as { type: string } | undefined)?.type;
    return kind === undefined ? type : `${type} ${kind}`;
  });
  for (const type of [
    'response.output_item.added function_call',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done function_call',
  ])
    t.ok(types.includes(type), type);
});

for (const way of ['previous_response_id', 'history', 'history without ids'] as const) {
  t.test(`accepts the output of a function, by ${way}`, async (t) => {
    troupe.models.steps.push(ASKS, says('Seven degrees.'));
    const tools = [WEATHER];
    const choice = { type: 'function', name: 'get_weather' };
    const asked = await respond(t, { input: [user('Weather?')], tools, tool_choice: choice });
    const [call] = asked.output;
    if (call?.type !== 'function_call') throw new Error('no function was called');
    const output = { type: 'function_call_output', call_id: call.call_id, output: '{"degrees":7}' };
    const { id: _id, ...bare } = call;
    const repeated = way === 'history' ? call : bare;
    const done = await respond(
      t,
      way === 'previous_response_id'
        ? { previous_response_id: asked.id, input: [output], tools }
        : { input: [user('Weather?'), repeated, output], tools },
    );
    t.equal(done.output_text, 'Seven degrees.');
    t.equal(done.conversation.id, asked.conversation.id);
    t.match(JSON.stringify(received()?.messages), /degrees/);
  });
}

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

t.test('gives the model an image', async (t) => {
  const image = { type: 'input_image', image_url: `data:image/png;base64,${PNG}` };
  await respond(t, { input: [user([{ type: 'input_text', text: 'What is it?' }, image])] });
  t.match(received()?.messages.at(-1)?.content, [
    { type: 'text' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
  ]);
});

t.test('gives the model a file', async (t) => {
  const data = Buffer.from('%PDF-1.1').toString('base64');
  const file = {
    type: 'input_file',
    filename: 'a.pdf',
    file_data: `data:application/pdf;base64,${data}`,
  };
  await respond(t, { input: [user([{ type: 'input_text', text: 'Read it.' }, file])] });
  t.match(received()?.messages.at(-1)?.content, [
    { type: 'text' },
    { type: 'document', title: 'a.pdf', source: { media_type: 'application/pdf', data } },
  ]);
});

t.test('imports a history of several turns', async (t) => {
  const history = [user('I am Ann.'), { type: 'message', role: 'assistant', content: 'Hello Ann.' }];
  await respond(t, { input: [...history, user('Who am I?')] });
  t.same(
    received()?.messages.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  );
});

t.test('continues behind previous_response_id', async (t) => {
  const first = await respond(t, { input: 'The word is papaya.' });
  const second = await respond(t, { input: 'Which word?', previous_response_id: first.id });
  t.equal(second.previous_response_id, first.id);
  t.match(JSON.stringify(received()?.messages), /papaya/);
});
