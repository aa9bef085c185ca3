import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import t from 'tap';
import type { InferenceEnd } from '../../src/models/model.ts';
import { createPartReceiver } from '../../src/models/stream-parts.ts';
import { type Heard, recordingSink } from './infer.ts';

const finish = (
  unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other',
  raw: string | null = unified,
): LanguageModelV3StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw: raw ?? undefined },
  usage: {
    inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: undefined, text: undefined, reasoning: undefined },
  },
});

const called = (id: string, input: string): LanguageModelV3StreamPart[] => [
  { type: 'tool-input-start', id, toolName: 'search' },
  { type: 'tool-call', toolCallId: id, toolName: 'search', input },
];

const receive = (parts: LanguageModelV3StreamPart[]) => {
  const heard: Heard[] = [];
  const receiver = createPartReceiver(recordingSink(heard));
  let end: InferenceEnd | undefined;
  let error: unknown;
  try {
    for (const part of parts) end = receiver(part);
  } catch (thrown) {
    error = thrown;
  }
  return { heard, end, error };
};

const stops: [name: string, part: LanguageModelV3StreamPart, stop: string][] = [
  ['stop', finish('stop'), 'EndTurn'],
  ['a reason we do not know', finish('other', 'whatever'), 'EndTurn'],
  ['an incomplete response', finish('length', 'max_output_tokens'), 'MaxTokens'],
  ['tool calls', finish('tool-calls'), 'ToolUse'],
  ['a stop sequence', finish('stop', 'stop_sequence'), 'StopSequence'],
  ['a refusal in words', finish('content-filter', 'stop'), 'EndTurn'],
];
for (const [name, part, stop] of stops) {
  t.test(`${name} ends with ${stop}`, async (t) => {
    t.same(receive([part]).end, { stop });
  });
}

t.test('a turn that ends with calls is tool use, whatever the provider calls it', async (t) => {
  t.same(receive([...called('a', '{"q":1}'), finish('stop')]).end, { stop: 'ToolUse' });
  t.same(receive([...called('a', '{"q":1}'), finish('length')]).end, { stop: 'MaxTokens' });
});

const failures: [name: string, parts: LanguageModelV3StreamPart[], error: object][] = [
  [
    'an end without a reason is an interruption',
    [finish('other', null)],
    { class: 'stream_interrupted', message: 'stream interrupted (connection reset)' },
  ],
  [
    'a content filter is said as such',
    [finish('content-filter', 'SAFETY')],
    { class: 'content_filtered', transient: false, message: 'content filtered: SAFETY' },
  ],
  [
    'an end by error is a provider error',
    [finish('error', 'failed')],
    { class: 'provider', message: 'provider error: the model stopped with failed' },
  ],
  [
    'an error before any output is what it says',
    [{ type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }],
    { class: 'overloaded', message: 'provider overloaded: Busy overloaded_error' },
  ],
  [
    'an error that passes, after output, is an interruption with its status',
    [
      { type: 'text-delta', id: '0', delta: 'Hi' },
      { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } },
    ],
    { class: 'stream_interrupted', status: 529, message: 'stream interrupted (provider 529 mid-stream)' },
  ],
  [
    'an error that stays, after output, is what it says',
    [
      { type: 'text-delta', id: '0', delta: 'Hi' },
      { type: 'error', error: { error: { code: 'context_length_exceeded', message: 'Too long' } } },
    ],
    { class: 'context_overflow', message: 'context overflow: Too long context_length_exceeded' },
  ],
];
for (const [name, parts, error] of failures) {
  t.test(name, async (t) => {
    t.match(receive(parts).error, error);
  });
}

t.test('a complete call is reported at once, a doubtful one when the provider has finished', async (t) => {
  const parts = [...called('a', '{"q":1}'), ...called('b', '{"q":'), ...called('c', '')];
  const kinds = (heard: Heard[]) => heard.filter(([kind]) => kind === 'end').map(([, id]) => id);
  t.same(kinds(receive(parts).heard), ['a']);
  t.same(kinds(receive([...parts, finish('length')]).heard), ['a', 'b', 'c']);
  t.same(kinds(receive([...parts, finish('other', null)]).heard), ['a']);
});

t.test('calls keep their order when one of them is doubtful', async (t) => {
  const { heard } = receive([...called('a', ''), ...called('b', '{"q":1}'), finish('tool-calls')]);
  t.same(
    heard.filter(([kind]) => kind === 'end').map(([, id]) => id),
    ['a', 'b'],
  );
});

t.test('a call whose start was not announced is started', async (t) => {
  t.same(receive([{ type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '{"q":1}' }]).heard, [
    ['start', 'a', 'search'],
    ['end', 'a', '{"q":1}'],
  ]);
});

t.test('what a provider wants back of its reasoning is passed on once', async (t) => {
  const signed = { anthropic: { signature: 'sig' } };
  t.same(
    receive([
      { type: 'reasoning-start', id: '0', providerMetadata: { anthropic: { redactedData: 'hidden' } } },
      { type: 'reasoning-delta', id: '0', delta: 'Hm' },
      { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: signed },
      { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: signed },
      {
        type: 'reasoning-end',
        id: '0',
        providerMetadata: { openai: { reasoningEncryptedContent: 'blob' } },
      },
    ]).heard,
    [
      ['encrypted', 'hidden'],
      ['reasoning', 'Hm'],
      ['encrypted', 'sig'],
      ['encrypted', 'blob'],
    ],
  );
});

t.test('usage has our names, a total, and details only where there are some', async (t) => {
  const { end } = receive([
    {
      type: 'finish',
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total: 10, noCache: 4, cacheRead: 6, cacheWrite: 0 },
        outputTokens: { total: 5, text: 2, reasoning: 3 },
      },
    },
  ]);
  t.same(end?.usage, {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    cache_read_tokens: 6,
    thinking_tokens: 3,
  });
});

t.test('an answer that ends without a reason fails with the usage that was reported before', async (t) => {
  const { error } = receive([
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'half' },
    {
      type: 'finish',
      finishReason: { unified: 'other', raw: undefined },
      usage: {
        inputTokens: { total: 10, noCache: 4, cacheRead: 6, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: undefined },
      },
    },
  ]);
  t.match(error, { class: 'stream_interrupted', usage: { prompt_tokens: 10, completion_tokens: 1 } });
});
