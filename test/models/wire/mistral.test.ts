import assert from 'node:assert/strict';
import t from 'tap';
import type { InferenceRequest, SentSettings } from '../../../src/models/model.ts';
import { mistralWire } from '../../../src/models/wire/openai-chat-mistral.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import type { Message } from '../../../src/schema/message.ts';
import fc from '../../random.ts';
import { createProvider } from '../create-provider.ts';
import { type Heard, joined, recordingSink, requestOf, userMessage } from '../infer.ts';
import { chatChunk, sendEvents, startSseServer } from '../sse-server.ts';
import { callOf, decode, unnamed } from './decode.ts';
import { requests } from './histories.ts';
import { problemsOfMistral } from './strict-mistral.ts';

const RUNS = Number(process.env.TROUPE_ORACLE_RUNS || 500);

const bodyOf = (request: InferenceRequest, upstream = 'mistral-large-latest'): JsonObject =>
  JSON.parse(JSON.stringify(mistralWire().encode(callOf({ request, upstream, adapter: 'mistral' })).body));

t.test('sends only what a strict service accepts', async () => {
  const upstream = fc.constantFrom('mistral-large-latest', 'magistral-medium-latest', 'mistral-small-latest');
  fc.assert(
    fc.property(requests, upstream, (request, name) => {
      assert.deepEqual(problemsOfMistral(bodyOf(request, name)), []);
    }),
    { numRuns: RUNS },
  );
});

t.test('the adapter passes a strict service', async (t) => {
  const { url } = await startSseServer(t, (response, { body }) => {
    const problems = problemsOfMistral(JSON.parse(body));
    if (problems.length > 0) response.writeHead(422).end(JSON.stringify({ detail: problems.join(', ') }));
    else {
      sendEvents(response, [chatChunk({ content: 'Hi' }, 'stop')]);
      response.end('data: [DONE]\n\n');
    }
  });
  const model = createProvider({ id: 'p', adapter: 'mistral', api_key: 'k', base_url: url }, {}).model({
    id: 'm',
    provider_id: 'p',
    upstream_model: 'mistral-small-latest',
  });
  const messages: Message[] = [
    userMessage('Hi'),
    { id: 'a', role: 'assistant', content: [], tool_calls: [{ id: 'toolu_01', name: 'get', arguments: {} }] },
    { id: 't', role: 'tool', tool_call_id: 'toolu_01', content: [{ type: 'text', text: 'ok' }] },
    userMessage('More'),
  ];
  const request = requestOf('', { messages, overrides: { seed: 3, reasoning_effort: 'low' } });
  const heard: Heard[] = [];
  const sent: SentSettings[] = [];
  await model.stream(
    request,
    { ...recordingSink(heard), sent: (settings) => sent.push(settings) },
    new AbortController().signal,
  );
  t.equal(joined(heard, 'text'), 'Hi');
  t.strictSame(sent[0]?.settings, { seed: 3, reasoning_effort: 'high' });
});

t.test('sends the seed under the name that the service uses', async (t) => {
  t.equal(bodyOf(requestOf('Hi', { overrides: { seed: 3 } })).random_seed, 3);
});

t.test('maps a call and its result to the same id of nine characters, and keeps Mistral ids', async (t) => {
  const call = (id: string): Message[] => [
    { id: 'a', role: 'assistant', content: [], tool_calls: [{ id, name: 'get', arguments: {} }] },
    { id: 't', role: 'tool', tool_call_id: id, content: [{ type: 'text', text: 'ok' }] },
  ];
  const body = bodyOf(
    requestOf('', { messages: [userMessage('Hi'), ...call('toolu_01'), ...call('D681PevKs')] }),
  );
  const [, first, result, second, other] = body.messages as {
    tool_calls: { id: string }[];
    tool_call_id: string;
  }[];
  t.match(first?.tool_calls[0]?.id, /^[A-Za-z0-9]{9}$/);
  t.equal(result?.tool_call_id, first?.tool_calls[0]?.id);
  t.equal(second?.tool_calls[0]?.id, 'D681PevKs');
  t.equal(other?.tool_call_id, 'D681PevKs');
});

t.test(
  'inserts an assistant message between results and user text, and marks a prefilled completion',
  async (t) => {
    const messages: Message[] = [
      userMessage('Hi'),
      { id: 'a', role: 'assistant', content: [], tool_calls: [{ id: 'c', name: 'get', arguments: {} }] },
      { id: 't', role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'ok' }] },
      userMessage('More'),
      { id: 'b', role: 'assistant', content: [{ type: 'text', text: 'So' }] },
    ];
    const sent = bodyOf(requestOf('', { messages })).messages as JsonObject[];
    t.strictSame(
      sent.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant'],
    );
    t.strictSame(sent.at(3), { role: 'assistant', content: 'Done.' });
    t.strictSame(sent.at(-1), { role: 'assistant', content: 'So', prefix: true });
  },
);

t.test('supports two efforts, and none for models that always reason', async (t) => {
  const effort = (reasoning_effort: 'none' | 'low', upstream: string): unknown =>
    bodyOf(requestOf('Hi', { overrides: { reasoning_effort } }), upstream).reasoning_effort;
  t.equal(effort('low', 'mistral-small-latest'), 'high');
  t.equal(effort('none', 'mistral-small-latest'), 'none');
  t.equal(effort('low', 'magistral-medium-latest'), undefined);
});

t.test('reads reasoning and text from parts, and usage from the last chunk', async (t) => {
  const chunk = (delta: object, more: object = {}): JsonObject =>
    JSON.parse(JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, ...more }] }));
  const { heard, end } = decode(
    mistralWire(),
    unnamed([
      chunk({ role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }),
      chunk({ content: [{ type: 'text', text: 'Hi' }] }),
      {
        ...chunk({ content: '' }, { finish_reason: 'stop' }),
        usage: { prompt_tokens: 3, completion_tokens: 2 },
      },
      '[DONE]',
    ]),
  );
  t.strictSame(heard, [
    ['reasoning', 'Hm'],
    ['text', 'Hi'],
  ]);
  t.match(end, { stop: 'EndTurn', usage: { prompt_tokens: 3, completion_tokens: 2 } });
});
