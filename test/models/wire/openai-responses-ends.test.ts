import t from 'tap';
import { createAnswer } from '../../../src/models/answer.ts';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import { recordingSink } from '../infer.ts';
import { type Decoded, decode, named, SILENT, unnamed } from './decode.ts';
import {
  added,
  args,
  CITATION,
  call,
  completed,
  done,
  failed,
  incomplete,
  message,
  nothing,
  reasoning,
  SOURCE,
  text,
} from './responses-events.ts';
import type { Event } from './responses-streams.ts';

/** Failures, ends and whole bodies of the Responses protocol. */

const wire = openaiResponsesWire();

const FAILURES: [name: string, events: Event[], error: object][] = [
  [
    'a content filter',
    [text('Hi'), incomplete('content_filter')],
    { class: 'content_filtered', message: 'content filtered: content_filter', transient: false },
  ],
  [
    'a failed response, with its usage and words',
    [failed({ code: 'server_error', message: 'Oops' })],
    { class: 'provider', status: 500, message: 'provider error: Oops server_error', transient: true },
  ],
  [
    'a failed response after text',
    [text('Hi'), failed({ code: 'server_error', message: 'Oops' })],
    { class: 'stream_interrupted', status: 500, message: 'stream interrupted (provider 500 mid-stream)' },
  ],
  [
    'a prompt that is rejected',
    [failed({ code: 'invalid_prompt', message: 'Not this' })],
    { class: 'invalid_request', message: 'invalid request: Not this invalid_prompt', transient: false },
  ],
  [
    'a prompt that is rejected after text',
    [text('Hi'), failed({ code: 'invalid_prompt', message: 'Not this' })],
    { class: 'invalid_request', message: 'invalid request: Not this invalid_prompt', transient: false },
  ],
  [
    'an image that violates the policy',
    [failed({ code: 'image_content_policy_violation', message: 'No' })],
    { class: 'content_filtered', transient: false },
  ],
  [
    'an image that does not exist',
    [failed({ code: 'image_file_not_found', message: 'Where' })],
    { class: 'invalid_request', transient: false },
  ],
  [
    'a failed response without an error',
    [failed(null)],
    { message: 'provider error: the model stopped with failed' },
  ],
  [
    'a failed response that names a reason',
    [failed(null, { incomplete_details: { reason: 'content_filter' } })],
    { class: 'content_filtered' },
  ],
  [
    'an error event as the specification has it',
    [{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down', param: null, sequence_number: 1 }],
    { class: 'rate_limited', status: 429, message: 'rate limited: Slow down rate_limit_exceeded' },
  ],
  [
    'an error event as the service sends it',
    [{ type: 'error', error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'Pay' } }],
    { class: 'rate_limited', status: 429 },
  ],
  [
    'an error event after text',
    [text('Hi'), { type: 'error', error: { type: 'server_error', code: null, message: 'Oops' } }],
    { class: 'stream_interrupted', status: 500 },
  ],
  [
    'a context that is too long',
    [
      {
        type: 'error',
        error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'Long' },
      },
    ],
    { class: 'context_overflow', transient: false },
  ],
  [
    'an error with a status as its code',
    [{ type: 'error', code: 503, message: 'Busy' }],
    { class: 'overloaded', status: 503 },
  ],
  ['an error that is a text', [{ type: 'error', error: 'Busy' }], { message: 'provider error: Busy' }],
  [
    'a call without a name',
    [done(call('a', '{}', { name: null })), completed()],
    { message: "provider error: the completion has a call without a name (id 'a')", transient: true },
  ],
  [
    'a call without a name, never finished',
    [text('Hi'), added(call('a', '', { name: '' }), 1), completed()],
    { class: 'stream_interrupted' },
  ],
  ['a body that ends before anything', [], { class: 'stream_interrupted', transient: true }],
  [
    'a body that ends in the middle of a call',
    [text('Hi'), added(call('a', ''), 1), args('a', '{"n"', 1)],
    { class: 'stream_interrupted', transient: true },
  ],
];

for (const [name, events, error] of FAILURES) {
  t.test(`reports ${name}`, async (t) => {
    const decoded = decode(wire, named(events));
    t.match(decoded.error, error);
    t.equal(decoded.end, undefined);
  });
}

t.test('reads an event whose type is only its name', async (t) => {
  const decoded = decode(wire, [
    ['response.output_text.delta', '{"output_index":0,"delta":"Hi"}'],
    ['response.completed', '{"response":{}}'],
  ]);
  t.strictSame(decoded, { ...nothing, heard: [['text', 'Hi']], end: { stop: 'EndTurn' } });
  t.match(decode(wire, [['error', '{"message":"Slow down","code":"rate_limit_exceeded"}']]).error, {
    class: 'rate_limited',
  });
});

t.test('ignores data that is not JSON, and accepts the end marker of other protocols', async (t) => {
  const decoded = decode(wire, [
    ['', 'ping'],
    ['', '"text"'],
    ['', ''],
    ['', JSON.stringify(text('Hi'))],
    ['', '{"type":"response.out'],
    ['', '[DONE]'],
    ['', JSON.stringify(text('more'))],
  ]);
  t.strictSame(decoded, { ...nothing, heard: [['text', 'Hi']], end: { stop: 'EndTurn', cutShort: true } });
});

const FOREIGN: [json: JsonObject, error: object][] = [
  [{ error: { message: 'Slow down', code: 429 } }, { class: 'rate_limited', message: /Slow down/ }],
  [{ detail: 'No such route' }, { message: /No such route/ }],
  [{ choices: null, error_message: 'maximum context length' }, { class: 'context_overflow' }],
  [
    { object: 'chat.completion.chunk', choices: [] },
    { message: /adapter 'openai'/, transient: false },
  ],
];
for (const [json, error] of FOREIGN) {
  t.test(`reports an event without a type: ${JSON.stringify(json)}`, async (t) => {
    t.match(decode(wire, unnamed([json])).error, error);
  });
}

t.test('ignores an event without a type that is not an error', async (t) => {
  const { heard, end } = decode(wire, unnamed([{ id: 'x' }, text('Hi'), completed()]));
  t.strictSame([heard, end], [[['text', 'Hi']], { stop: 'EndTurn' }]);
});

t.test('counts the usage of a failed response', async (t) => {
  const usages: unknown[] = [];
  const decoder = wire.decoder({
    ...SILENT,
    usage: (usage) => usages.push(usage),
    hasBegun: () => false,
  });
  const event = failed(
    { code: 'server_error', message: 'x' },
    { usage: { input_tokens: 3, output_tokens: 1 } },
  );
  t.throws(() => decoder.push('', JSON.stringify(event)));
  t.strictSame(usages, [{ prompt_tokens: 3, completion_tokens: 1 }]);
});

t.test('the completion is finished when the response is', async (t) => {
  const decoder = wire.decoder(SILENT);
  t.equal(decoder.push('', JSON.stringify(text('Hi'))), false);
  t.equal(decoder.isFinished(), false);
  t.equal(decoder.push('', JSON.stringify(completed())), true);
  t.equal(decoder.isFinished(), true);
  t.strictSame(decoder.end(), { reason: 'stop' });
});

const RESPONSE = {
  id: 'r',
  object: 'response',
  status: 'completed',
  error: null,
  output: [
    reasoning('Hm'),
    message('Hi', [CITATION]),
    { type: 'message', id: 'msg_1', content: [{ type: 'refusal', refusal: ' No.' }] },
    call('a', '{"n":1}'),
  ],
  usage: { input_tokens: 3, output_tokens: 1 },
};

const readWhole = (json: unknown): { isAnswer: boolean; decoded: Decoded } => {
  const decoded: Decoded = structuredClone(nothing);
  const answer = createAnswer(
    {
      ...recordingSink(decoded.heard),
      reasoningItem: ({ item }) => decoded.items.push(item),
      source: (source) => decoded.sources.push(source),
    },
    { provider: 'p', model: 'm', format: wire.format },
  );
  const decoder = wire.decoder(answer);
  const isAnswer = decoder.whole(json);
  if (isAnswer) decoded.end = answer.end(decoder.end());
  return { isAnswer, decoded };
};

t.test('reads a whole response in place of a stream', async (t) => {
  const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
  const { isAnswer, decoded } = readWhole(RESPONSE);
  t.equal(isAnswer, true);
  t.strictSame(decoded, {
    ...nothing,
    heard: [
      ['reasoning', 'Hm'],
      ['encrypted', 'ENC'],
      ['text', 'Hi'],
      ['text', ' No.'],
      ['start', 'a', 'search'],
      ['end', 'a', '{"n":1}'],
    ],
    items: [reasoning('Hm')],
    sources: [SOURCE],
    end: { stop: 'ToolUse', usage },
  });
  const cut = { ...RESPONSE, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  t.equal(readWhole(cut).decoded.end?.stop, 'MaxTokens');
});

const NO_ANSWERS: unknown[] = [
  null,
  [],
  'text',
  {},
  { error: { message: 'no' } },
  { ...RESPONSE, status: 'failed' },
  { ...RESPONSE, status: 'queued' },
  { ...RESPONSE, error: { code: 'server_error', message: 'no' } },
  { choices: [] },
];
for (const json of NO_ANSWERS) {
  t.test(`rejects JSON that is not a completion: ${JSON.stringify(json).slice(0, 60)}`, async (t) => {
    t.strictSame(readWhole(json), { isAnswer: false, decoded: nothing });
  });
}
