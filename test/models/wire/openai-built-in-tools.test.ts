import t from 'tap';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import type { WireCall } from '../../../src/models/wire/wire.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import type { Message } from '../../../src/schema/message.ts';
import type { ProviderTool } from '../../../src/schema/provider-tool.ts';
import { requestOf } from '../infer.ts';
import { callOf } from './decode.ts';
import { answered, said } from './provider-tools.ts';
import { rejectionOf } from './strict-openai-responses.ts';

const wire = openaiResponsesWire();

const ALL: ProviderTool[] = [
  {
    type: 'web_search',
    allowed_domains: ['example.com'],
    user_location: { city: 'Bonn', country: 'DE' },
    context_size: 'low',
  },
  { type: 'code_execution', file_ids: ['file-1'] },
  { type: 'file_search', store_ids: ['vs_1'], max_results: 5 },
];

const requestWith = (messages: readonly Message[], tools: readonly ProviderTool[] = ALL): WireCall =>
  callOf({ upstream: 'm', request: { ...requestOf(''), messages, provider_tools: tools } });

const added = (output_index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.added',
  output_index,
  item,
});
const done = (output_index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
const text = (output_index: number, delta: string): JsonObject => ({
  type: 'response.output_text.delta',
  item_id: `msg_${output_index}`,
  output_index,
  delta,
});
const completed = (output: JsonObject[] = []): JsonObject => ({
  type: 'response.completed',
  response: { status: 'completed', output },
});

const SEARCH = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
const ACTION = { type: 'search', query: 'weather', sources: [{ type: 'url', url: 'https://example.com/a' }] };

t.test('offers the tools with their options, and requests their results', async (t) => {
  const { body } = wire.encode(requestWith([said('u', 'Hi')]));
  t.equal(rejectionOf(body), undefined);
  t.strictSame(body.tools, [
    {
      type: 'web_search',
      filters: { allowed_domains: ['example.com'] },
      user_location: { type: 'approximate', city: 'Bonn', country: 'DE' },
      search_context_size: 'low',
    },
    { type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } },
    { type: 'file_search', vector_store_ids: ['vs_1'], max_num_results: 5 },
  ]);
  t.strictSame(body.include, [
    'web_search_call.action.sources',
    'code_interpreter_call.outputs',
    'file_search_call.results',
  ]);
  const limited = wire.encode(requestWith([said('u', 'Hi')], [{ type: 'web_search', max_uses: 2 }])).body;
  t.equal(rejectionOf(limited), undefined);
  t.equal(limited.max_tool_calls, 2);
});

t.test('requests the reasoning of a reasoning model as well', async (t) => {
  const { body } = wire.encode({ ...requestWith([said('u', 'Hi')]), upstream: 'gpt-5' });
  t.equal(rejectionOf(body), undefined);
  t.match(body.include, ['reasoning.encrypted_content', 'web_search_call.action.sources']);
});

t.test('reports each call once, and sends its item back without an id', async (t) => {
  const reasoning = { type: 'reasoning', id: 'rs_0', summary: [], encrypted_content: 'E' };
  const { calls, sources, message } = answered(wire, [
    done(0, reasoning),
    added(1, { ...SEARCH, status: 'in_progress' }),
    { type: 'response.web_search_call.searching', item_id: 'ws_1', output_index: 1 },
    done(1, { ...SEARCH, action: ACTION }),
    done(1, { ...SEARCH, action: ACTION }),
    text(2, 'Sunny.'),
    completed([reasoning, { ...SEARCH, action: ACTION }, { type: 'message', id: 'msg_2', content: [] }]),
  ]);
  t.strictSame(calls, [
    { id: 'ws_1', tool: 'web_search', status: 'running' },
    {
      id: 'ws_1',
      tool: 'web_search',
      status: 'completed',
      input: { queries: ['weather'] },
      output: { results: [{ url: 'https://example.com/a' }] },
    },
  ]);
  t.equal(sources.length, 1);

  const call = requestWith([said('u', 'Weather?'), message, said('u2', 'And tomorrow?')]);
  const { body } = wire.encode(call);
  t.equal(rejectionOf(body), undefined);
  t.strictSame((body.input as JsonObject[]).slice(1, 4), [
    { type: 'reasoning', id: 'rs_0', summary: [], encrypted_content: 'E' },
    { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'weather' } },
    { role: 'assistant', content: [{ type: 'output_text', text: 'Sunny.' }] },
  ]);
  const without = wire.encode(requestWith(call.request.messages, [])).body;
  t.equal(rejectionOf(without), undefined);
  t.notMatch(JSON.stringify(without.input), /web_search_call/);
});

t.test('reports code before it is executed, its output, and pictures as files', async (t) => {
  const item = { type: 'code_interpreter_call', id: 'ci_1', container_id: 'c_1' };
  const { calls, parts, sources, message } = answered(wire, [
    added(0, { ...item, status: 'in_progress', code: '', outputs: null }),
    { type: 'response.code_interpreter_call_code.delta', item_id: 'ci_1', output_index: 0, delta: 'pri' },
    { type: 'response.code_interpreter_call_code.done', item_id: 'ci_1', output_index: 0, code: 'print(1)' },
    done(0, {
      ...item,
      status: 'completed',
      code: 'print(1)',
      outputs: [
        { type: 'logs', logs: '1' },
        { type: 'image', url: 'data:image/png;base64,AAAA' },
        { type: 'image', url: 'https://example.com/plot.png' },
      ],
    }),
    text(1, 'See plot.csv'),
    {
      type: 'response.output_text.annotation.added',
      item_id: 'msg_1',
      output_index: 1,
      annotation: {
        type: 'container_file_citation',
        container_id: 'c_1',
        file_id: 'cfile_1',
        filename: 'plot.csv',
      },
    },
    completed(),
  ]);
  const input = { code: 'print(1)', language: 'python' };
  t.strictSame(calls, [
    { id: 'ci_1', tool: 'code_execution', status: 'running' },
    { id: 'ci_1', tool: 'code_execution', status: 'running', input },
    {
      id: 'ci_1',
      tool: 'code_execution',
      status: 'completed',
      output: { stdout: '1', container_id: 'c_1' },
      input,
    },
  ]);
  t.strictSame(parts, [
    { file: 'AAAA', media_type: 'image/png' },
    { url: 'https://example.com/plot.png', media_type: 'image/png' },
  ]);
  t.match(sources, [{ type: 'document', id: 'c_1/cfile_1', filename: 'plot.csv' }]);
  const { body } = wire.encode(requestWith([said('u', 'Plot'), message, said('u2', 'Thanks')]));
  t.equal(rejectionOf(body), undefined);
});

t.test('reports passages of a file search, and does not send a failed call back', async (t) => {
  const passage = { file_id: 'f', filename: 'a.txt', score: 0.9, text: 'Hello' };
  const { calls, sources, message } = answered(wire, [
    done(0, {
      type: 'file_search_call',
      id: 'fs_1',
      status: 'completed',
      queries: ['hello'],
      results: [passage],
    }),
    done(1, { ...SEARCH, status: 'failed' }),
    text(2, 'Hi'),
    completed(),
  ]);
  t.strictSame(calls, [
    {
      id: 'fs_1',
      tool: 'file_search',
      status: 'completed',
      output: { results: [passage] },
      input: { queries: ['hello'] },
    },
    { id: 'ws_1', tool: 'web_search', status: 'failed', error: 'the call is failed' },
  ]);
  t.equal(sources.length, 1);
  const { body } = wire.encode(requestWith([said('u', 'Hi'), message, said('u2', 'Ok')]));
  t.equal(rejectionOf(body), undefined);
  t.strictSame(
    (body.input as JsonObject[]).map(({ type, role }) => type ?? role),
    ['user', 'file_search_call', 'assistant', 'user'],
  );
});

t.test('reads calls from the final response if nothing arrived before', async (t) => {
  const { calls, text: words } = answered(wire, [
    completed([
      { ...SEARCH, action: ACTION },
      { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'Sunny.' }] },
    ]),
  ]);
  t.match(calls, [{ id: 'ws_1', status: 'completed' }]);
  t.equal(words, 'Sunny.');
});
