import type { InferenceRequest } from '../../../src/models/model.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import type { ContentBlock, Message } from '../../../src/schema/message.ts';
import fc from '../../random.ts';
import { requestOf, userMessage } from '../infer.ts';

/**
 * Generated requests whose histories contain what services are known to reject: blank texts, odd ids, lone surrogates.
 */

const word = fc.constantFrom('', ' ', '\n\n', 'x\ud83d', 'end \n', 'plain', '😀');
const textBlock = word.map((text): ContentBlock => ({ type: 'text', text }));
const file = fc.constantFrom<ContentBlock>(
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
  {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
    title: 'Spec  (final).pdf',
  },
);

let ids = 0;
const nextId = fc.constantFrom('toolu_', 'call|', 'functions.get:', 'a'.repeat(70)).map((prefix) => {
  ids += 1;
  return `${prefix}${ids}`;
});

const calls = fc.array(
  fc.record({
    id: nextId,
    name: fc.constantFrom('get', 'a b', 'x'.repeat(70)),
    arguments: fc.constantFrom<JsonObject | string>({}, { q: 'x' }, 'broken'),
  }),
  { minLength: 1, maxLength: 3 },
);

const round: fc.Arbitrary<Message[]> = fc.oneof(
  fc
    .array(fc.oneof(textBlock, file), { minLength: 1, maxLength: 3 })
    .map((content): Message[] => [{ id: 'u', role: 'user', content }]),
  word.map((text): Message[] => [{ id: 's', role: 'system', content: [{ type: 'text', text }] }]),
  word.map((text): Message[] => [{ id: 'a', role: 'assistant', content: [{ type: 'text', text }] }]),
  fc.tuple(calls, word).map(([tool_calls, text]): Message[] => [
    { id: 'a', role: 'assistant', content: [{ type: 'text', text }], tool_calls },
    ...tool_calls.map(
      ({ id }): Message => ({
        id: `t-${id}`,
        role: 'tool',
        tool_call_id: id,
        content: [{ type: 'text', text }],
      }),
    ),
  ]),
);

const tool = {
  id: 'get',
  name: 'Get',
  description: ' ',
  category: null,
  parameters: { type: 'object', properties: { q: { type: 'string' } } },
};

export const requests: fc.Arbitrary<InferenceRequest> = fc
  .record({
    rounds: fc.array(round, { minLength: 1, maxLength: 6 }),
    system: fc.array(word, { maxLength: 2 }),
    hasTools: fc.boolean(),
    caches: fc.boolean(),
    startsWithUser: fc.boolean(),
    overrides: fc.record(
      {
        temperature: fc.constantFrom(null, 0.5),
        top_p: fc.constantFrom(null, 0.5),
        max_tokens: fc.constantFrom(null, 2000),
        reasoning_effort: fc.constantFrom(null, 'none' as const, 'low' as const, 'max' as const, {
          budget: 9000,
        }),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ rounds, system, hasTools, caches, startsWithUser, overrides }) => {
    const asked = [userMessage('Hi')];
    const messages = (startsWithUser ? [asked, ...rounds] : [...rounds, asked]).flat();
    return requestOf('', {
      messages,
      system,
      overrides,
      tools: hasTools ? [tool] : [],
      ...(caches && { cache: { stable_messages: messages.length } }),
    });
  });
