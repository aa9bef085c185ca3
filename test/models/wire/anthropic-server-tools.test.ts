import t from 'tap';
import { anthropicWire } from '../../../src/models/wire/anthropic.ts';
import type { WireCall } from '../../../src/models/wire/wire.ts';
import type { Json, JsonObject } from '../../../src/schema/json.ts';
import type { Message } from '../../../src/schema/message.ts';
import type { ProviderTool } from '../../../src/schema/provider-tool.ts';
import { requestOf } from '../infer.ts';
import { callOf, SILENT } from './decode.ts';
import { answered, said } from './provider-tools.ts';
import { refusalsOf } from './strict-anthropic.ts';

const wire = anthropicWire();

const ALL: ProviderTool[] = [
  { type: 'web_search', allowed_domains: ['example.com'], max_uses: 3, user_location: { country: 'DE' } },
  { type: 'web_fetch', blocked_domains: ['example.org'], max_content_tokens: 1000 },
  { type: 'code_execution' },
];

const block = (index: number, content_block: JsonObject, ...deltas: JsonObject[]): JsonObject[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];

const text = (index: number, words: string): JsonObject[] =>
  block(index, { type: 'text', text: '' }, { type: 'text_delta', text: words });

const use = (index: number, id: string, name: string, input: JsonObject): JsonObject[] =>
  block(
    index,
    { type: 'server_tool_use', id, name, input: {} },
    { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  );

const result = (index: number, tool_use_id: string, name: string, content: Json): JsonObject[] =>
  block(index, { type: `${name}_tool_result`, tool_use_id, content });

const start: JsonObject = { type: 'message_start', message: { id: 'msg', content: [], usage: {} } };
const end = (stop_reason: string, more: JsonObject = {}): JsonObject[] => [
  { type: 'message_delta', delta: { stop_reason, ...more }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
];

const PAGE = {
  type: 'web_search_result',
  url: 'https://example.com/a',
  title: 'A',
  encrypted_content: 'ENC',
  page_age: null,
};

const requestWith = (messages: readonly Message[], tools: readonly ProviderTool[] = ALL): WireCall =>
  callOf({ request: { ...requestOf(''), messages, provider_tools: tools } });

const blocksOf = (call: WireCall): JsonObject[][] =>
  (wire.encode(call).body.messages as JsonObject[]).map(({ content }) => content as JsonObject[]);

t.test('offers the tools in the documented versions and with the documented betas', async (t) => {
  const request = wire.encode(requestWith([said('u', 'Hi')]));
  t.strictSame(refusalsOf(request), []);
  t.strictSame(request.body.tools, [
    {
      type: 'web_search_20250305',
      name: 'web_search',
      allowed_domains: ['example.com'],
      max_uses: 3,
      user_location: { type: 'approximate', country: 'DE' },
    },
    {
      type: 'web_fetch_20250910',
      name: 'web_fetch',
      blocked_domains: ['example.org'],
      citations: { enabled: true },
      max_content_tokens: 1000,
    },
    { type: 'code_execution_20250825', name: 'code_execution' },
  ]);
  t.equal(request.headers['anthropic-beta'], 'web-fetch-2025-09-10,code-execution-2025-08-25');
});

t.test('reports a search with its results, and sends it back to the same model', async (t) => {
  const { calls, sources, message } = answered(wire, [
    start,
    ...text(0, 'I will search. '),
    ...use(1, 'srvtoolu_1', 'web_search', { query: 'weather' }),
    ...result(2, 'srvtoolu_1', 'web_search', [PAGE]),
    ...text(3, 'Sunny.'),
    ...end('end_turn'),
  ]);
  t.strictSame(calls, [
    { id: 'srvtoolu_1', tool: 'web_search', status: 'running' },
    { id: 'srvtoolu_1', tool: 'web_search', status: 'running', input: { queries: ['weather'] } },
    {
      id: 'srvtoolu_1',
      tool: 'web_search',
      status: 'completed',
      output: { results: [{ url: 'https://example.com/a', title: 'A' }] },
    },
  ]);
  t.strictSame(sources, [
    { type: 'url', id: 'https://example.com/a', url: 'https://example.com/a', title: 'A' },
  ]);
  t.notMatch(JSON.stringify(calls), /ENC/);

  const call = requestWith([said('u', 'Weather?'), message, said('u2', 'And tomorrow?')]);
  t.strictSame(refusalsOf(wire.encode(call)), []);
  t.strictSame(blocksOf(call)[1], [
    { type: 'text', text: 'I will search. ' },
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [PAGE] },
    { type: 'text', text: 'Sunny.' },
  ]);
  t.strictSame(
    blocksOf({ ...call, upstream: 'another' })[1]?.map(({ type }) => type),
    ['text'],
    'another model receives the text alone',
  );
  t.strictSame(
    blocksOf(requestWith(call.request.messages, []))[1]?.map(({ type }) => type),
    ['text'],
    'the same model without the tool receives only the text',
  );
});

t.test('reports executed code with its output, and files by their ids', async (t) => {
  const { calls } = answered(wire, [
    start,
    ...use(0, 's1', 'bash_code_execution', { command: 'ls' }),
    ...result(1, 's1', 'bash_code_execution', {
      type: 'bash_code_execution_result',
      stdout: 'a.txt',
      stderr: '',
      return_code: 0,
      content: [{ type: 'bash_code_execution_output', file_id: 'file_1' }],
    }),
    ...use(2, 's2', 'text_editor_code_execution', { command: 'view', path: 'a.txt' }),
    ...result(3, 's2', 'text_editor_code_execution', {
      type: 'text_editor_code_execution_tool_result_error',
      error_code: 'file_not_found',
    }),
    ...end('end_turn'),
  ]);
  t.strictSame(
    calls.filter(({ status, input }) => input !== undefined || status !== 'running'),
    [
      {
        id: 's1',
        tool: 'code_execution',
        status: 'running',
        input: { code: 'ls', language: 'bash' },
      },
      {
        id: 's1',
        tool: 'code_execution',
        status: 'completed',
        output: { stdout: 'a.txt', stderr: '', return_code: 0, files: [{ file_id: 'file_1' }] },
      },
      {
        id: 's2',
        tool: 'code_execution',
        status: 'running',
        input: { command: 'view', path: 'a.txt' },
      },
      { id: 's2', tool: 'code_execution', status: 'failed', error: 'file_not_found' },
    ],
  );
});

t.test('reports a fetched page as a source', async (t) => {
  const { calls, sources } = answered(wire, [
    start,
    ...use(0, 's1', 'web_fetch', { url: 'https://example.com/p' }),
    ...result(1, 's1', 'web_fetch', {
      type: 'web_fetch_result',
      url: 'https://example.com/p',
      retrieved_at: '2026-01-01T00:00:00Z',
      content: {
        type: 'document',
        title: 'P',
        source: { type: 'text', media_type: 'text/plain', data: 'x' },
      },
    }),
    ...end('end_turn'),
  ]);
  t.match(calls.at(-1), {
    status: 'completed',
    output: { pages: [{ url: 'https://example.com/p', title: 'P', retrieved_at: '2026-01-01T00:00:00Z' }] },
  });
  t.match(sources, [{ url: 'https://example.com/p', title: 'P' }]);
});

t.test('joins a call with its result after a pause, and continues in the same container', async (t) => {
  const paused = [
    start,
    ...use(0, 's1', 'bash_code_execution', { command: 'sleep' }),
    ...end('pause_turn', { container: { id: 'container_1', expires_at: 'later' } }),
  ];
  const after = [
    start,
    ...result(0, 's1', 'bash_code_execution', { type: 'bash_code_execution_result', stdout: 'done' }),
    ...text(1, 'Done.'),
    ...end('end_turn'),
  ];
  const decoder = wire.decoder(SILENT);
  for (const event of paused) decoder.push('', JSON.stringify(event));
  const { pause = {} } = decoder.end();
  const continued = wire.encode({ ...requestWith([said('u', 'Run it')]), pauses: [pause] });
  t.equal(continued.body.container, 'container_1');

  const { calls, message } = answered(wire, paused, after);
  t.match(calls.at(-1), { id: 's1', status: 'completed', output: { stdout: 'done' } });
  const call = requestWith([said('u', 'Run it'), message, said('u2', 'Thanks')]);
  t.strictSame(refusalsOf(wire.encode(call)), []);
  t.match(
    blocksOf(call)[1]?.map(({ type }) => type),
    ['server_tool_use', 'bash_code_execution_tool_result', 'text'],
  );
});

t.test('omits calls without a result, and results without a call', async (t) => {
  const cut = answered(wire, [
    start,
    ...text(0, 'Searching'),
    ...use(1, 's1', 'web_search', { query: 'a' }),
    ...result(2, 'unknown', 'web_search', [PAGE]),
    {
      type: 'content_block_start',
      index: 3,
      content_block: { type: 'server_tool_use', id: 's2', name: 'web_search' },
    },
    { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '{"que' } },
    ...end('max_tokens'),
  ]);
  const call = requestWith([said('u', 'Hi'), cut.message, said('u2', 'Go on')]);
  t.strictSame(refusalsOf(wire.encode(call)), []);
  t.strictSame(blocksOf(call)[1], [{ type: 'text', text: 'Searching' }]);

  const alone = answered(wire, [start, ...use(0, 's1', 'web_search', { query: 'a' }), ...end('max_tokens')]);
  const merged = requestWith([said('u', 'Hi'), alone.message, said('u2', 'Go on')]);
  t.strictSame(refusalsOf(wire.encode(merged)), []);
  t.equal(blocksOf(merged).length, 1, 'messages that become neighbors are joined');
});

t.test('keeps a call that the service executes when it receives the results of other tools', async (t) => {
  const first = answered(wire, [
    start,
    ...use(0, 's1', 'web_search', { query: 'a' }),
    ...block(1, { type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} }),
    ...end('tool_use'),
  ]);
  const toolResult: Message = {
    id: 'r',
    role: 'tool',
    tool_call_id: 'toolu_1',
    content: [{ type: 'text', text: '12:00' }],
  };
  const waiting = requestWith([said('u', 'Hi'), first.message, toolResult]);
  t.strictSame(refusalsOf(wire.encode(waiting)), []);
  t.match(
    blocksOf(waiting)[1]?.map(({ type }) => type),
    ['server_tool_use', 'tool_use'],
  );

  const second = answered(wire, [
    start,
    ...result(0, 's1', 'web_search', [PAGE]),
    ...text(1, 'Noon.'),
    ...end('end_turn'),
  ]);
  const later = requestWith([said('u', 'Hi'), first.message, toolResult, second.message, said('u2', 'Ok')]);
  t.strictSame(refusalsOf(wire.encode(later)), []);
  t.match(
    blocksOf(later)[3]?.map(({ type }) => type),
    ['web_search_tool_result', 'text'],
  );

  const lost = requestWith([
    said('u', 'Hi'),
    first.message,
    toolResult,
    { ...second.message, metadata: {} },
    said('u2', 'Ok'),
  ]);
  t.strictSame(refusalsOf(wire.encode(lost)), [], 'without its result, the call is left out');
});

t.test('marks no block of the history for the cache', async (t) => {
  const { message } = answered(wire, [
    start,
    ...text(0, 'Searching'),
    ...use(1, 's1', 'web_search', { query: 'a' }),
    ...result(2, 's1', 'web_search', [PAGE]),
    ...end('end_turn'),
  ]);
  const before = JSON.stringify(message);
  const call = requestWith([said('u', 'Hi'), message, said('u2', 'Ok')]);
  const marked = { ...call, request: { ...call.request, cache: { stable_messages: 2 } } };
  t.strictSame(refusalsOf(wire.encode(marked)), []);
  t.match(blocksOf(marked)[1]?.[0], { type: 'text', cache_control: { type: 'ephemeral' } });
  t.equal(JSON.stringify(message), before);
});

t.test('rejects output beyond the limits of a completion', async (t) => {
  const stdout = 'x'.repeat(5 * 1024 * 1024);
  const run = (index: number): JsonObject[] => [
    ...use(index, `s${index}`, 'bash_code_execution', { command: 'yes' }),
    ...result(index + 1, `s${index}`, 'bash_code_execution', { type: 'bash_code_execution_result', stdout }),
  ];
  t.throws(() => answered(wire, [start, ...run(0), ...run(2), ...end('end_turn')]), {
    class: 'provider',
    message: /the completion has more than 8388608 characters/,
  });
});

t.test('rejects more calls than a completion may have', async (t) => {
  const many = Array.from({ length: 600 }, (_, index) =>
    use(index, `s${index}`, 'web_search', { query: 'a' }),
  );
  t.throws(() => answered(wire, [start, ...many.flat(), ...end('end_turn')]), {
    message: /the completion has more than 512 calls/,
  });
});
