import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { createAnswer } from '../../../src/models/answer.ts';
import { FOREIGN_CHAT } from '../../../src/models/chat-options.ts';
import type { DecodedEnd } from '../../../src/models/transport/events.ts';
import { EVENT_STREAM } from '../../../src/models/transport/framing.ts';
import { anthropicWire } from '../../../src/models/wire/anthropic.ts';
import { bedrockWire } from '../../../src/models/wire/bedrock.ts';
import { geminiWire } from '../../../src/models/wire/gemini.ts';
import { openaiChatWire } from '../../../src/models/wire/openai-chat.ts';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import type { Wire } from '../../../src/models/wire/wire.ts';
import type { AnswerPart } from '../../../src/schema/answer-part.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import { type Heard, joined, recordingSink } from '../infer.ts';
import { added, args, call, completed, done, reasoning, summary, text } from '../wire/responses-events.ts';
import { frame } from './frames.ts';

/** Each format reads the same completion, delta by delta, from every split of the bytes of its stream. */

const TEXT = ['Grüße 😀', '\u2028 "x"\n'];

/** A stream as services write it: some name their events, and some end lines with a carriage return. */
const sse = (events: readonly (JsonObject | string)[], end = '\n'): Buffer => {
  const lines = events.flatMap((event) => {
    if (typeof event === 'string') return [`data: ${event}`, ''];
    const name = typeof event.type === 'string' ? [`event: ${event.type}`] : [];
    return [...name, `data: ${JSON.stringify(event)}`, ''];
  });
  return Buffer.from([': open', '', ...lines, ''].join(end));
};

const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const argsDelta = (index: number, given: string): JsonObject =>
  chunk({ tool_calls: [{ index, function: { arguments: given } }] });

const OPENAI_CHAT = sse(
  [
    chunk({ role: 'assistant', reasoning_content: 'Hm é' }),
    ...TEXT.map((content) => chunk({ content })),
    chunk({
      tool_calls: ['a', 'b'].map((id, index) => ({ index, id, function: { name: 'search', arguments: '' } })),
    }),
    argsDelta(0, '{"q":'),
    argsDelta(1, '{"q":2'),
    argsDelta(0, '"😀"}'),
    argsDelta(1, '}'),
    chunk({}, 'tool_calls'),
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } },
    '[DONE]',
  ],
  '\r\n',
);

const OPENAI_RESPONSES = sse([
  added(reasoning('', 'ENC')),
  summary('Hm é'),
  done(reasoning('Hm é')),
  ...TEXT.map((each) => text(each, 1)),
  added(call('a', ''), 2),
  args('a', '{"q":', 2),
  args('a', '"😀"}', 2),
  done(call('a', '{"q":"😀"}'), 2),
  done(call('b', '{"q":2}'), 3),
  completed({ usage: { input_tokens: 3, output_tokens: 4 } }),
]);

const block = (index: number, content_block: JsonObject, deltas: readonly JsonObject[]): JsonObject[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const use = (index: number, id: string, pieces: readonly string[]): JsonObject[] =>
  block(
    index,
    { type: 'tool_use', id, name: 'search', input: {} },
    pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  );

const ANTHROPIC = sse([
  { type: 'message_start', message: { id: 'm', role: 'assistant', usage: { input_tokens: 3 } } },
  ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
    { type: 'thinking_delta', thinking: 'Hm é' },
    { type: 'signature_delta', signature: 'sig' },
  ]),
  { type: 'ping' },
  ...block(
    1,
    { type: 'text', text: '' },
    TEXT.map((each) => ({ type: 'text_delta', text: each })),
  ),
  ...use(2, 'a', ['{"q":', '"😀"}']),
  ...use(3, 'b', ['', '{"q":2}']),
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } },
  { type: 'message_stop' },
]);

const content = (parts: JsonObject[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
});

const GEMINI = sse(
  [
    content([{ text: 'Hm é', thought: true, thoughtSignature: 'sig' }]),
    ...TEXT.map((each) => content([{ text: each }])),
    content([{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }]),
    content([
      { functionCall: { id: 'a', name: 'search', args: { q: '😀' } } },
      { functionCall: { id: 'b', name: 'search', args: { q: 2 } } },
    ]),
    {
      ...content([], { finishReason: 'STOP' }),
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 },
    },
  ],
  '\r',
);

const piece = (contentBlockIndex: number, delta: JsonObject): Buffer =>
  frame('contentBlockDelta', { contentBlockIndex, delta });
const toolUse = (contentBlockIndex: number, toolUseId: string, pieces: readonly string[]): Buffer[] => [
  frame('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name: 'search' } } }),
  ...pieces.map((input) => piece(contentBlockIndex, { toolUse: { input } })),
  frame('contentBlockStop', { contentBlockIndex }),
];

const BEDROCK = Buffer.concat([
  frame('messageStart', { role: 'assistant' }),
  piece(0, { reasoningContent: { text: 'Hm é' } }),
  piece(0, { reasoningContent: { signature: 'sig' } }),
  frame('contentBlockStop', { contentBlockIndex: 0 }),
  ...TEXT.map((each) => piece(1, { text: each })),
  ...toolUse(2, 'a', ['{"q":', '"😀"}']),
  ...toolUse(3, 'b', ['{"q":2}']),
  frame('messageStop', { stopReason: 'tool_use' }),
  frame('metadata', { usage: { inputTokens: 3, outputTokens: 4 } }),
]);

const STREAMS: readonly [wire: Wire, body: Buffer][] = [
  [openaiChatWire(FOREIGN_CHAT), OPENAI_CHAT],
  [openaiResponsesWire(), OPENAI_RESPONSES],
  [anthropicWire(), ANTHROPIC],
  [geminiWire({ platform: 'gemini' }), GEMINI],
  [bedrockWire(), BEDROCK],
];

const read = (wire: Wire, chunks: readonly Buffer[]) => {
  const heard: Heard[] = [];
  const others: (JsonObject | AnswerPart)[] = [];
  const sink = {
    ...recordingSink(heard),
    reasoningItem: ({ item }: { item: JsonObject }) => others.push(item),
    part: (part: AnswerPart) => others.push(part),
  };
  const answer = createAnswer(sink, { provider: 'p', model: 'm', format: wire.format });
  const decoder = wire.decoder(answer);
  const reader = (wire.framing ?? EVENT_STREAM)();
  const events = { event: (name: string, data: string) => decoder.push(name, data) };
  const results = new Set<DecodedEnd>(chunks.map((each) => reader.read(each, events)));
  if (!results.has('complete')) results.add(reader.end(events));
  results.delete('more');
  return { heard, others, results, end: answer.end(decoder.end()) };
};

for (const [wire, body] of STREAMS) {
  t.test(`${wire.format}: reads the same completion from every split of its stream`, async (t) => {
    t.ok(body.length <= 4096);
    const whole = read(wire, [body]);
    t.equal(joined(whole.heard, 'text'), TEXT.join(''));
    t.equal(joined(whole.heard, 'reasoning'), 'Hm é');
    t.strictSame(
      whole.heard.filter(([kind]) => kind === 'end'),
      [
        ['end', 'a', '{"q":"😀"}'],
        ['end', 'b', '{"q":2}'],
      ],
    );
    t.match(whole.end, { stop: 'ToolUse', usage: { prompt_tokens: 3, completion_tokens: 4 } });
    t.notOk(whole.results.has('cut') || whole.results.has('unframed'));
    const splits = Array.from({ length: body.length }, (_, at) => [body.subarray(0, at), body.subarray(at)]);
    splits.push(Array.from(body, (byte) => Buffer.of(byte)));
    const different = splits.findIndex((chunks) => !isDeepStrictEqual(read(wire, chunks), whole));
    t.equal(different, -1, 'offset of the first split that changes the completion');
  });
}
