import assert from 'node:assert/strict';
import t from 'tap';
import type { InferenceRequest } from '../../../src/models/model.ts';
import { mistralWire } from '../../../src/models/wire/openai-chat-mistral.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import type { Message } from '../../../src/schema/message.ts';
import fc from '../../random.ts';
import { requestOf, userMessage } from '../infer.ts';
import { callOf, decode, unnamed } from './decode.ts';
import { requests } from './histories.ts';
import { problemsOfMistral } from './strict-mistral.ts';

const RUNS = Number(process.env.TROUPE_ORACLE_RUNS || 500);

const bodyOf = (request: InferenceRequest, upstream = 'mistral-large-latest'): JsonObject =>
  JSON.parse(JSON.stringify(mistralWire().encode(callOf({ request, upstream })).body));

t.test('sends only what a strict service accepts', async () => {
  const upstream = fc.constantFrom('mistral-large-latest', 'magistral-medium-latest', 'mistral-small-latest');
  fc.assert(
    fc.property(requests, upstream, (request, name) => {
      assert.deepEqual(problemsOfMistral(bodyOf(request, name)), []);
    }),
    { numRuns: RUNS },
  );
});

t.test('gives a call and its result the same id of nine characters, and keeps one of Mistral', async (t) => {
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

t.test('puts an answer between results and what the user wrote, and marks a begun answer', async (t) => {
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
});

t.test('knows two efforts, and none for models that always reason', async (t) => {
  const effort = (reasoning_effort: 'none' | 'low', upstream: string): unknown =>
    bodyOf(requestOf('Hi', { overrides: { reasoning_effort } }), upstream).reasoning_effort;
  t.equal(effort('low', 'mistral-small-latest'), 'high');
  t.equal(effort('none', 'mistral-small-latest'), 'none');
  t.equal(effort('low', 'magistral-medium-latest'), undefined);
});

t.test('reads reasoning and text that come as parts, and usage of the last chunk', async (t) => {
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
