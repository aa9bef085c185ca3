import OpenAI, { APIUserAbortError, BadRequestError, ConflictError, NotFoundError } from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { toFile } from 'openai/uploads';
import t from 'tap';
import { z } from 'zod';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { asks, type Inference } from '../../service/models.ts';
import { startChat } from '../../service/openai/chat.ts';
import { until } from '../../service/openai/responses.ts';

/** The official client, unmodified: responses, conversations and files of its version 7. */

const broken = defineTool({
  id: 'broken',
  description: 'Fails.',
  input: z.object({}),
  execute: () => {
    throw new Error('out of order');
  },
});

const { troupe } = await startChat(t, { app: { tools: [broken] } });
const client = new OpenAI({ baseURL: `${troupe.url}/v1`, apiKey: 'unused' });

const says =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn' };
  };

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

t.test('streams a response, and reads it again from an event on (check 52)', async (t) => {
  const stream = client.responses.stream({ model: 'echo', input: 'hi' });
  const numbers: number[] = [];
  for await (const event of stream) numbers.push(event.sequence_number);
  const final = await stream.finalResponse();
  t.equal(final.output_text, 'echo: hi');
  const again = await client.responses.retrieve(final.id, { stream: true, starting_after: 2 });
  const rest: number[] = [];
  for await (const event of again) rest.push(event.sequence_number);
  t.strictSame(rest, numbers.slice(3));
});

t.test('parses a structured result (check 60)', async (t) => {
  troupe.models.steps.push(says('{"color":"red"}'));
  const { output_parsed } = await client.responses.parse({
    model: 'steps',
    input: 'Which color?',
    text: { format: zodTextFormat(z.object({ color: z.string() }), 'color') },
  });
  t.strictSame(output_parsed, { color: 'red' });
});

t.test('uploads a file, refers to it and deletes it (check 63)', async (t) => {
  const file = await client.files.create({
    file: await toFile(Buffer.from('hello'), 'a.txt'),
    purpose: 'user_data',
  });
  const answer = await client.responses.create({
    model: 'echo',
    input: [{ role: 'user', content: [{ type: 'input_file', file_id: file.id }] }],
  });
  const { data } = await client.responses.inputItems.list(answer.id);
  t.match(data, [{ content: [{ type: 'input_file', file_id: file.id, filename: 'a.txt' }] }]);
  t.equal(await (await client.files.content(file.id)).text(), 'hello');
  t.equal((await client.files.delete(file.id)).deleted, true);
  t.ok((await failureOf(client.files.retrieve(file.id))) instanceof NotFoundError);
});

t.test('answers in a conversation (check 61)', async (t) => {
  const { id } = await client.conversations.create({ items: [{ role: 'user', content: 'one' }] });
  await client.responses.create({ model: 'echo', conversation: id, input: 'two' });
  const roles: unknown[] = [];
  for await (const item of client.conversations.items.list(id, { order: 'asc' }))
    roles.push('role' in item && item.role);
  t.same(roles, ['user', 'user', 'assistant']);
  t.equal((await client.conversations.delete(id)).deleted, true);
});

t.test('continues the run of a function (check 45)', async (t) => {
  troupe.models.steps.push(asks(['c1', 'pick', { a: 1 }]), says('done'));
  const pick = { type: 'function', name: 'pick', parameters: {}, strict: false } as const;
  const asked = await client.responses.create({ model: 'steps', input: 'a', tools: [pick] });
  const call = asked.output.find((item) => item.type === 'function_call');
  const output = { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'red' } as const;
  const done = await client.responses.create({ model: 'steps', input: [...asked.output, output] as never });
  t.equal(done.output_text, 'done');
  t.equal(done.conversation?.id, asked.conversation?.id);
});

t.test('reports a failed call of the agent, and the run continues (check 43)', async (t) => {
  troupe.models.steps.push(asks(['c1', 'broken']), says('Sorry.'));
  const answer = await client.responses.create({ model: 'steps', input: 'a' });
  const [call] = answer.output;
  t.match(call, { type: 'mcp_call', name: 'broken', status: 'failed', output: null });
  t.match(JSON.stringify(call), /"type":"mcp_tool_execution_error".*out of order/);
  t.equal(answer.output_text, 'Sorry.');
});

t.test('throws errors by their class, and cancels the run of an aborted request (check 51)', async (t) => {
  t.ok((await failureOf(client.responses.retrieve('resp_none'))) instanceof NotFoundError);
  const wrong = client.responses.create({ model: 'echo', input: 'a', temperature: 9 });
  t.match(await failureOf(wrong), { status: 400, param: 'temperature' });
  t.ok((await failureOf(wrong)) instanceof BadRequestError);
  const { id, conversation } = await client.responses.create({
    model: 'slow',
    input: 'a',
    background: true,
  });
  const locked = client.responses.create(
    { model: 'slow', input: 'b', conversation: conversation?.id ?? '' },
    { maxRetries: 0 },
  );
  t.ok((await failureOf(locked)) instanceof ConflictError);
  t.equal((await client.responses.cancel(id)).status, 'cancelled');
  const abort = new AbortController();
  const aborted = client.responses.create({ model: 'slow', input: 'c' }, { signal: abort.signal });
  await until(() => troupe.models.waiting() > 0);
  abort.abort();
  t.ok((await failureOf(aborted)) instanceof APIUserAbortError);
  await until(() => troupe.models.waiting() === 0);
});
