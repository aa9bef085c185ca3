import type OpenAI from 'openai';
import t from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import { typesOf } from '../../protocols/openai/leg.ts';
import { countRuns, messagesOf } from './chat.ts';
import { startResponses } from './responses.ts';

/** openai-responses.md 7. */

const KEYS = [
  ...['background', 'completed_at', 'conversation', 'created_at', 'error', 'frequency_penalty', 'id'],
  ...['incomplete_details', 'instructions', 'max_output_tokens', 'max_tool_calls', 'metadata', 'model'],
  ...['object', 'output', 'output_text', 'parallel_tool_calls', 'presence_penalty', 'previous_response_id'],
  ...['prompt_cache_key', 'reasoning', 'safety_identifier', 'service_tier', 'status', 'store', 'temperature'],
  ...['text', 'tool_choice', 'tools', 'top_logprobs', 'top_p', 'truncation', 'usage', 'user'],
];

t.test('answers with a resource that has every key (check 37)', async (t) => {
  const { troupe } = await startResponses(t);
  const { status, headers, body } = await troupe.post('/v1/responses', { model: 'echo', input: 'hi' });
  t.equal(status, 200);
  t.same(Object.keys(body).sort(), KEYS);
  t.match(body, {
    id: `resp_${headers.get('x-troupe-run-id')?.replaceAll('-', '')}0001`,
    status: 'completed',
    output_text: 'echo: hi',
    usage: { input_tokens: 10, output_tokens: 20, total_tokens: 30 },
    temperature: 1,
    error: null,
  });
  const { status: found, body: again } = await troupe.call('GET', `/v1/responses/${body.id}`);
  t.equal(found, 200);
  t.strictSame(again, body);
});

t.test('continues one thread over a chain, without earlier instructions (check 38)', async (t) => {
  const { client, troupe } = await startResponses(t);
  const first = await client.responses.create({ model: 'echo', input: 'one', instructions: 'Be brief.' });
  const input: OpenAI.Responses.ResponseInput = [
    { role: 'user', content: [{ type: 'input_text', text: 'two' }] },
  ];
  const second = await client.responses.create({ input, previous_response_id: first.id });
  const third = await client.responses.create({ input: 'three', previous_response_id: second.id });
  t.equal(third.output_text, 'echo: three');
  t.equal(third.model, 'echo');
  t.equal(third.conversation?.id, first.conversation?.id);
  const thread = (first.conversation?.id ?? '').replace('conv_', '');
  const [{ request: one }, , { request: three }] = troupe.models.requests as [
    { request: { system?: string } },
    unknown,
    { request: { messages: { role: string }[]; system?: string } },
  ];
  t.match(JSON.stringify(one), /Be brief/);
  t.notMatch(JSON.stringify(three), /Be brief/);
  t.same(
    three.messages.map(({ role }) => role),
    ['user', 'assistant', 'user', 'assistant', 'user'],
  );
  t.equal((await messagesOf(troupe, uuid(thread))).length, 6);
});

t.test(
  'continues with the first of two requests at one position, and forks for the other (check 39)',
  async (t) => {
    const { client } = await startResponses(t);
    const first = await client.responses.create({ model: 'echo', input: 'one' });
    const [a, b] = await Promise.all(
      ['two', 'three'].map((input) => client.responses.create({ input, previous_response_id: first.id })),
    );
    t.same([a?.output_text, b?.output_text], ['echo: two', 'echo: three']);
    const threads = new Set([a, b].map((each) => each?.conversation?.id));
    t.equal(threads.size, 2);
    t.ok(threads.has(first.conversation?.id));
  },
);

t.test('locks a conversation while a run executes (check 40)', async (t) => {
  const { client, troupe } = await startResponses(t);
  const running = await client.responses.create({
    model: 'slow',
    input: 'a',
    conversation: 'c1',
    background: true,
  });
  const locked = await troupe.post('/v1/responses', { model: 'echo', input: 'b', conversation: 'c1' });
  t.equal(locked.status, 409);
  t.equal(locked.headers.get('x-should-retry'), 'true');
  t.match(locked.body, { error: { code: 'conversation_locked' } });
  const both = { model: 'echo', input: 'b', conversation: 'c1', previous_response_id: running.id };
  t.equal((await troupe.post('/v1/responses', both)).status, 400);
  troupe.models.releaseAll();
});

t.test('rejects a reference to nothing, and an unknown previous response (check 50)', async (t) => {
  const { client, troupe } = await startResponses(t);
  const item = { type: 'item_reference', id: `msg_${'0'.repeat(38)}` } as const;
  await t.rejects(client.responses.create({ model: 'echo', input: [item] }), { message: /^404/ });
  await t.rejects(
    client.responses.create({ model: 'echo', input: 'a', previous_response_id: `resp_${'0'.repeat(36)}` }),
    { status: 400, code: 'previous_response_not_found' },
  );
  t.equal(await countRuns(troupe), 0);
});

t.test('streams the events in order, and ends with the resource of GET (check 41)', async (t) => {
  const { client, events } = await startResponses(t);
  const {
    events: found,
    raw,
    headers,
  } = await events('/v1/responses', { model: 'echo', input: 'hi', stream: true });
  t.equal(headers.get('x-accel-buffering'), 'no');
  t.same(typesOf(found), [
    'created',
    'in_progress',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'completed',
  ]);
  t.same(
    found.map(({ sequence_number }) => sequence_number),
    [...found.keys()],
  );
  t.ok(raw.endsWith('data: [DONE]\n\n'));
  const stream = client.responses.stream({ model: 'echo', input: 'hello' });
  const final = await stream.finalResponse();
  const { output_parsed: _parsed, ...shown } = final;
  const stored = await client.responses.retrieve(final.id);
  t.equal(stored.output_text, 'echo: hello');
  t.match(
    stored.output,
    shown.output.map(({ id }) => ({ id })),
  );
  t.same(stored.usage, final.usage);
});

t.test('follows references of a whole history without an import (check 48)', async (t) => {
  const { client, troupe } = await startResponses(t);
  const first = await client.responses.create({ model: 'echo', input: 'one' });
  const [message] = first.output;
  const second = await client.responses.create({
    model: 'echo',
    input: [
      { role: 'user', content: 'one' },
      { type: 'item_reference', id: message?.id ?? '' },
      { role: 'user', content: 'two' },
    ],
  });
  t.equal(second.conversation?.id, first.conversation?.id);
  t.equal(troupe.models.requests.at(-1)?.request.messages.length, 3);
});

t.test('continues with full items, and imports a history with a changed one (check 49)', async (t) => {
  const { client, troupe } = await startResponses(t);
  const first = await client.responses.create({ model: 'echo', input: 'one' });
  const user = { role: 'user', content: 'one' } as const;
  const next = { role: 'user', content: 'two' } as const;
  const second = await client.responses.create({
    model: 'echo',
    input: [user, ...first.output, next] as never,
  });
  t.equal(second.conversation?.id, first.conversation?.id);
  const changed = structuredClone(first.output) as { content: { text: string }[] }[];
  for (const part of changed[0]?.content ?? []) part.text = 'changed';
  const third = await client.responses.create({ model: 'echo', input: [user, ...changed, next] as never });
  t.not(third.conversation?.id, first.conversation?.id);
  const { messages } = troupe.models.requests.at(-1)?.request ?? { messages: [] };
  t.same(
    messages.map(({ role, content }) => [role, JSON.stringify(content).includes('changed')]),
    [
      ['user', false],
      ['assistant', true],
      ['user', false],
    ],
  );
});

t.test('lists the items of one input, in both orders and pages (check 58)', async (t) => {
  const { client } = await startResponses(t);
  const first = await client.responses.create({ model: 'echo', input: 'zero' });
  const second = await client.responses.create({
    input: ['one', 'two', 'three'].map((content) => ({ role: 'user' as const, content })),
    previous_response_id: first.id,
  });
  const asc = await client.responses.inputItems.list(second.id, { order: 'asc' });
  const texts = (items: unknown): string[] =>
    (items as { content: { text: string }[] }[]).map(({ content }) => content[0]?.text ?? '');
  t.same(texts(asc.data), ['one', 'two', 'three']);
  const desc = await client.responses.inputItems.list(second.id, { limit: 2 });
  t.same(texts(desc.data), ['three', 'two']);
  t.equal(desc.has_more, true);
  const rest = await client.responses.inputItems.list(second.id, { after: desc.data[1]?.id ?? '' });
  t.same(texts(rest.data), ['one']);
  const again = await client.responses.create({
    model: 'echo',
    input: [
      { type: 'item_reference', id: asc.data[2]?.id ?? '' },
      { role: 'user', content: 'four' },
    ],
  });
  t.equal(again.output_text, 'echo: four');
});

t.test('deletes a response with its thread, unless the thread has more (check 59)', async (t) => {
  const { client, troupe } = await startResponses(t);
  const first = await client.responses.create({ model: 'echo', input: 'one', conversation: 'kept' });
  await client.responses.create({ model: 'echo', input: 'two', conversation: 'kept' });
  const alone = await client.responses.create({ model: 'echo', input: 'alone', conversation: 'alone' });
  for (const { id } of [first, alone]) {
    await client.responses.delete(id);
    await t.rejects(client.responses.retrieve(id), { message: /^404/ });
    await t.rejects(client.responses.create({ model: 'echo', input: 'a', previous_response_id: id }), {
      code: 'previous_response_not_found',
    });
  }
  t.equal((await troupe.call('GET', '/v1/threads/kept')).status, 200);
  t.equal((await troupe.call('GET', '/v1/threads/alone')).status, 404);
});

t.test('keeps nothing of a response that is not stored (check 54)', async (t) => {
  const { client, troupe } = await startResponses(t);
  const done = await client.responses.create({ model: 'echo', input: 'secret', store: false });
  t.equal(done.output_text, 'echo: secret');
  await t.rejects(client.responses.retrieve(done.id), { message: /^404/ });
  const thread = (done.conversation?.id ?? '').replace('conv_', '');
  await t.resolves(gone(() => troupe.call('GET', `/v1/threads/${uuid(thread)}`)));
  t.equal(await countRuns(troupe), 0);
  const named = {
    model: 'echo',
    input: 'in a new conversation',
    store: false,
    conversation: 'named',
  } as const;
  t.equal((await client.responses.create(named)).output_text, 'echo: in a new conversation');
  t.equal((await troupe.call('GET', '/v1/threads/named')).status, 404);
  t.equal(
    (await troupe.post('/v1/responses', { model: 'echo', input: 'a', store: false, background: true }))
      .status,
    400,
  );
});

const uuid = (digits: string): string =>
  digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

const gone = async (get: () => Promise<{ status: number }>): Promise<void> => {
  while ((await get()).status !== 404) await new Promise((resolve) => setTimeout(resolve, 5));
};

t.test('reports limits, blocks and failures (checks 55 and 56)', async (t) => {
  const { client, troupe } = await startResponses(t);
  troupe.models.steps.push((sink) => {
    sink.text('cut');
    return { stop: 'MaxTokens', usage: {} };
  });
  const cut = await client.responses.create({ model: 'steps', input: 'a', max_output_tokens: 16 });
  t.equal(cut.status, 'incomplete');
  t.same(cut.incomplete_details, { reason: 'max_output_tokens' });
  t.equal(cut.output_text, 'cut');
  troupe.models.steps.push((sink) => {
    sink.text('half');
    throw new ModelError('invalid_request', 'broken');
  });
  const failed = await client.responses.stream({ model: 'steps', input: 'b' }).finalResponse();
  t.equal(failed.status, 'failed');
  t.match(failed.error, { code: 'invalid_prompt' });
  const stored = await client.responses.retrieve(failed.id);
  t.equal(stored.status, 'failed');
});

t.test('parses a structured result (check 60)', async (t) => {
  const { client, troupe } = await startResponses(t);
  troupe.models.steps.push((sink) => {
    sink.text('{"city":"Oslo"}');
    return { stop: 'EndTurn', usage: {} };
  });
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  };
  const parsed = await client.responses.parse({
    model: 'steps',
    input: 'Where?',
    text: { format: { type: 'json_schema', name: 'place', schema, strict: true } },
  });
  t.same(parsed.output_parsed, { city: 'Oslo' });
});
