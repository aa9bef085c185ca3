import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import t from 'tap';
import { createPartReceiver, type StreamPart } from '../../src/ai-sdk/parts.ts';
import type { ModelError } from '../../src/models/errors.ts';
import { called, finish, type Received, recorded, said } from './fakes.ts';

const origin = { provider: 'p', model: 'up', format: 'ai-sdk' };

const receive = (parts: readonly StreamPart[]): Received => {
  const { received, sink } = recorded();
  const receiver = createPartReceiver(sink, origin);
  try {
    for (const part of parts) {
      const end = receiver(part);
      if (end) received.end = end;
    }
  } catch (thrown) {
    // The receiver throws no other errors.
    received.error = thrown as ModelError;
  }
  return received;
};

const itemsOf = (parts: readonly StreamPart[]) => receive(parts).items.map(({ item }) => item);

const stops: [name: string, parts: StreamPart[], end: object][] = [
  ['stop', [finish('stop')], { stop: 'EndTurn' }],
  ['an unknown reason', [finish('other', 'whatever')], { stop: 'EndTurn' }],
  ['an incomplete response', [finish('length', 'max_output_tokens')], { stop: 'MaxTokens' }],
  ['tool calls', [finish('tool-calls')], { stop: 'ToolUse' }],
  ['a stop sequence', [finish('stop', 'stop_sequence')], { stop: 'StopSequence' }],
  ['a refusal in words', [finish('content-filter', 'stop')], { stop: 'EndTurn' }],
  ['stop after a call', [...called('a', '{"q":1}'), finish('stop')], { stop: 'ToolUse' }],
  ['a limit after a call', [...called('a', '{"q":1}'), finish('length')], { stop: 'MaxTokens' }],
  ['text without a reason', [said('Hi'), finish('other', null)], { stop: 'EndTurn', cutShort: true }],
  [
    'text of an interrupted stream of version 4',
    [said('Hi'), { ...finish('stop'), finishReason: { unified: 'interrupted', raw: undefined } }],
    { stop: 'EndTurn', cutShort: true },
  ],
];
for (const [name, parts, end] of stops) {
  t.test(`ends with ${JSON.stringify(end)} for ${name}`, async (t) => {
    t.strictSame(receive(parts).end, end);
  });
}

const failures: [name: string, parts: StreamPart[], error: object][] = [
  [
    'an end without a reason and without an answer',
    [finish('other', null)],
    { class: 'stream_interrupted', message: 'stream interrupted (connection reset)' },
  ],
  [
    'an end without a reason after a call that may be truncated',
    [...called('a', '{"q":'), finish('other', null, { counted: true })],
    { class: 'stream_interrupted', usage: { prompt_tokens: 10, completion_tokens: 5 } },
  ],
  [
    'a content filter',
    [said('Hi'), finish('content-filter', 'SAFETY')],
    { class: 'content_filtered', transient: false, message: 'content filtered: SAFETY' },
  ],
  [
    'an end by error',
    [finish('error', 'failed')],
    { class: 'provider', message: 'provider error: the model stopped with failed' },
  ],
  [
    'an error before any output',
    [{ type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }],
    { class: 'overloaded', message: 'provider overloaded: Busy overloaded_error' },
  ],
  [
    'a transient error after output',
    [said('Hi'), { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }],
    { class: 'stream_interrupted', status: 529, message: 'stream interrupted (provider 529 mid-stream)' },
  ],
  [
    'a permanent error after output',
    [
      said('Hi'),
      { type: 'error', error: { error: { code: 'context_length_exceeded', message: 'Too long' } } },
    ],
    { class: 'context_overflow', message: 'context overflow: Too long context_length_exceeded' },
  ],
  [
    'a request for the approval of a tool of the provider',
    [{ type: 'tool-approval-request', approvalId: '1', toolCallId: 'a' }],
    { class: 'provider', transient: false },
  ],
];
for (const [name, parts, error] of failures) {
  t.test(`fails for ${name}`, async (t) => {
    t.match(receive(parts).error, error);
  });
}

const ended = ({ heard }: Received): string[] => heard.flatMap(([kind, id]) => (kind === 'end' ? id : []));

t.test('reports a complete call at once, and an incomplete one when the provider finishes', async (t) => {
  const parts = [...called('a', '{"q":1}'), ...called('b', '{"q":'), ...called('c', '')];
  t.strictSame(ended(receive(parts)), ['a']);
  t.strictSame(ended(receive([...parts, finish('length')])), ['a', 'b', 'c']);
  t.strictSame(ended(receive([...parts, finish('other', null)])), ['a']);
});

t.test('keeps the order of calls if one of them is incomplete', async (t) => {
  t.strictSame(ended(receive([...called('a', ''), ...called('b', '{"q":1}'), finish('tool-calls')])), [
    'a',
    'b',
  ]);
});

t.test('starts a call whose start was not announced', async (t) => {
  t.strictSame(
    receive([{ type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '{"q":1}' }]).heard,
    [
      ['start', 'a', 'search'],
      ['end', 'a', '{"q":1}'],
    ],
  );
});

t.test('ignores calls that the provider executes, and reports their sources', async (t) => {
  const parts: StreamPart[] = [
    { type: 'tool-input-start', id: 'w', toolName: 'web_search', providerExecuted: true },
    { type: 'tool-input-delta', id: 'w', delta: '{"query":' },
    {
      type: 'tool-call',
      toolCallId: 'w',
      toolName: 'web_search',
      input: '{"query":1}',
      providerExecuted: true,
    },
    { type: 'tool-call', toolCallId: 'x', toolName: 'code', input: '{}', providerExecuted: true },
    { type: 'tool-result', toolCallId: 'w', toolName: 'web_search', result: { found: 1 } },
    { type: 'source', sourceType: 'url', id: 's1', url: 'https://a.example', title: 'A' },
    said('Found.'),
    finish('tool-calls'),
  ];
  const { heard, sources, end } = receive(parts);
  t.strictSame(heard, [['text', 'Found.']]);
  t.strictSame(sources, [{ type: 'url', id: 's1', url: 'https://a.example', title: 'A' }]);
  t.strictSame(end, { stop: 'EndTurn' });
  const both = receive([...parts.slice(0, 3), ...called('a', '{"q":1}'), finish('tool-calls')]);
  t.strictSame(ended(both), ['a']);
  t.strictSame(both.end, { stop: 'ToolUse' });
});

t.test('shows the opaque text of a provider once, in any namespace', async (t) => {
  const signed = { bedrock: { signature: 'sig' } };
  const { heard } = receive([
    { type: 'reasoning-start', id: '0', providerMetadata: { anthropic: { redactedData: 'hidden' } } },
    { type: 'reasoning-delta', id: '0', delta: 'Hm' },
    { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: signed },
    { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: signed },
    { type: 'reasoning-end', id: '0', providerMetadata: { azure: { reasoningEncryptedContent: 'blob' } } },
  ]);
  t.strictSame(heard, [
    ['encrypted', 'hidden'],
    ['reasoning', 'Hm'],
    ['encrypted', 'sig'],
    ['encrypted', 'blob'],
  ]);
});

const signature = { bedrock: { signature: 'sig' } };

const items: [name: string, parts: StreamPart[], items: object[]][] = [
  [
    'reasoning with the last metadata of its block',
    [
      { type: 'reasoning-start', id: '0', providerMetadata: { bedrock: { signature: 'first' } } },
      { type: 'reasoning-delta', id: '0', delta: 'Let me ' },
      { type: 'reasoning-delta', id: '0', delta: 'see' },
      { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: signature },
      { type: 'reasoning-end', id: '0' },
      { type: 'reasoning-start', id: '1', providerMetadata: { bedrock: { redactedData: 'r' } } },
      { type: 'reasoning-end', id: '1' },
      { type: 'reasoning-start', id: '2' },
      { type: 'reasoning-end', id: '2' },
    ],
    [
      { type: 'reasoning', text: 'Let me see', metadata: signature },
      { type: 'reasoning', text: '', metadata: { bedrock: { redactedData: 'r' } } },
    ],
  ],
  [
    'reasoning without metadata, which some packages send back',
    [
      { type: 'reasoning-delta', id: '0', delta: 'Hm' },
      { type: 'reasoning-end', id: '0' },
    ],
    [{ type: 'reasoning', text: 'Hm' }],
  ],
  [
    'reasoning and text whose ends are not reported, before the next call',
    [
      { type: 'reasoning-delta', id: '0', delta: 'Hm' },
      { type: 'text-delta', id: '0', delta: 'Hi', providerMetadata: signature },
      ...called('a', '{"q":1}'),
    ],
    [
      { type: 'reasoning', text: 'Hm' },
      { type: 'text', length: 2, metadata: signature },
    ],
  ],
  [
    'the metadata of a text, and nothing of a text without any',
    [
      { type: 'text-start', id: '0' },
      said('Hello'),
      { type: 'text-end', id: '0', providerMetadata: { azure: { itemId: 'msg_1' } } },
      said('Bye', '1'),
      { type: 'text-end', id: '1' },
    ],
    [{ type: 'text', length: 5, metadata: { azure: { itemId: 'msg_1' } } }],
  ],
  [
    'the metadata of calls, from their end or their start',
    [
      { type: 'tool-input-start', id: 'a', toolName: 'search', providerMetadata: signature },
      { type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '{}' },
      {
        type: 'tool-call',
        toolCallId: 'b',
        toolName: 'search',
        input: '{}',
        providerMetadata: { azure: { itemId: 'fc_1', none: undefined } },
      },
    ],
    [
      { type: 'call', id: 'a', metadata: signature },
      { type: 'call', id: 'b', metadata: { azure: { itemId: 'fc_1' } } },
    ],
  ],
  [
    'content of version 4 that only its provider can read',
    [{ type: 'custom', kind: 'openai.compaction', providerMetadata: { openai: { id: 'c' } } }],
    [{ type: 'custom', kind: 'openai.compaction', metadata: { openai: { id: 'c' } } }],
  ],
];
for (const [name, parts, expected] of items) {
  t.test(`keeps ${name}`, async (t) => {
    t.strictSame(itemsOf([...parts, finish('stop')]), expected);
  });
}

t.test('reports each kept part with its model, at the end of its block', async (t) => {
  const { received, sink } = recorded();
  const order: string[] = [];
  const receiver = createPartReceiver(
    {
      ...sink,
      text: () => order.push('text'),
      toolStart: () => order.push('call'),
      reasoningItem: (item) => {
        order.push(String(item.item.type));
        received.items.push(item);
      },
    },
    origin,
  );
  const parts: StreamPart[] = [
    { type: 'reasoning-delta', id: '0', delta: 'Hm' },
    { type: 'reasoning-end', id: '0' },
    { type: 'text-delta', id: '1', delta: 'Hi', providerMetadata: signature },
    { type: 'text-end', id: '1' },
    ...called('a', '{"q":1}'),
  ];
  for (const part of parts) receiver(part);
  t.strictSame(order, ['reasoning', 'text', 'text', 'call']);
  t.strictSame(received.items[0], { ...origin, item: { type: 'reasoning', text: 'Hm' } });
});

t.test('keeps no metadata that cannot be stored, and no incomplete characters', async (t) => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  t.strictSame(
    itemsOf([
      // A JavaScript package may send any value.
      { type: 'reasoning-delta', id: '0', delta: 'a\ud83d', providerMetadata: { x: cycle } as never },
      { type: 'reasoning-end', id: '0' },
      { type: 'reasoning-delta', id: '1', delta: 'b', providerMetadata: { x: 'no object' } as never },
      { type: 'reasoning-end', id: '1' },
    ]),
    [
      { type: 'reasoning', text: 'a\ufffd' },
      { type: 'reasoning', text: 'b' },
    ],
  );
});

t.test('reports usage with a total, and details only if there are some', async (t) => {
  t.strictSame(receive([said('x'), finish('stop', 'stop', { counted: true })]).end?.usage, {
    prompt_tokens: 10,
    completion_tokens: 5,
    cache_read_tokens: 6,
    thinking_tokens: 3,
    total_tokens: 15,
  });
});

const png = { type: 'file', mediaType: 'image/png' } as const;

t.test('reports files of both versions, between the texts', async (t) => {
  const { received, sink } = recorded();
  const order: unknown[] = [];
  const receiver = createPartReceiver({ ...sink, text: (x) => order.push(x), part: (x) => order.push(x) });
  const parts: StreamPart[] = [
    said('one'),
    { ...png, data: 'AAAA' },
    { ...png, data: new Uint8Array([1]) },
    { ...png, data: { type: 'data', data: 'BBBB' } },
    { ...png, data: { type: 'data', data: new Uint8Array([2]) } },
    { ...png, data: { type: 'url', url: new URL('https://a.example/b.png') } },
    said('two'),
  ];
  for (const part of parts) receiver(part);
  t.strictSame(order, [
    'one',
    { file: 'AAAA', media_type: 'image/png' },
    { file: 'AQ==', media_type: 'image/png' },
    { file: 'BBBB', media_type: 'image/png' },
    { file: 'Ag==', media_type: 'image/png' },
    { url: 'https://a.example/b.png', media_type: 'image/png' },
    'two',
  ]);
  t.strictSame(received.error, undefined);
});

t.test('reports sources, and those of citations once', async (t) => {
  const source = { type: 'source', sourceType: 'url', id: 's1', url: 'https://a.example' } as const;
  const paper = {
    type: 'source',
    sourceType: 'document',
    id: 's2',
    mediaType: 'application/pdf',
    title: 'B',
    filename: 'b.pdf',
  } as const;
  t.strictSame(
    receive([
      source,
      paper,
      { type: 'text-end', id: '0', citations: [{ source }, { source: { ...source, id: 's3' } }] },
    ]).sources,
    [
      { type: 'url', id: 's1', url: 'https://a.example' },
      { type: 'document', id: 's2', media_type: 'application/pdf', title: 'B', filename: 'b.pdf' },
      { type: 'url', id: 's3', url: 'https://a.example' },
    ],
  );
});

const floods: [name: string, part: (n: number) => StreamPart, error: RegExp][] = [
  ['files', () => ({ ...png, data: 'AAAA' }), /more than 1024 files and sources/],
  ['text', () => said('x'.repeat(1 << 20)), /more than 8388608 characters/],
  ['calls', (n) => ({ type: 'tool-input-start', id: `${n}`, toolName: 'x' }), /more than 512 calls/],
  [
    'metadata',
    () => ({
      type: 'custom',
      kind: 'a.b',
      providerMetadata: { x: { y: 'x'.repeat(1 << 20) } },
    }),
    /more than 8388608 characters/,
  ],
];
for (const [name, part, error] of floods) {
  t.test(`ends an answer with too much of: ${name}`, async (t) => {
    const { error: failure } = receive(Array.from({ length: 1100 }, (_, n) => part(n)));
    t.match(failure, { class: 'provider', transient: false });
    t.match(failure?.message, error);
  });
}

t.test('ignores parts that accompany an answer, and unknown ones', async (t) => {
  const parts: LanguageModelV3StreamPart[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: 'x' },
    { type: 'raw', rawValue: 1 },
    // From a later version.
    { type: 'telepathy' } as never,
    { type: 'ping' } as never,
  ];
  const { heard, end, error } = receive([...parts, finish('stop')]);
  t.strictSame({ heard, end, error }, { heard: [], end: { stop: 'EndTurn' }, error: undefined });
});
