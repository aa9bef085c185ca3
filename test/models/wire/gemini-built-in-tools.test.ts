import t from 'tap';
import { geminiWire } from '../../../src/models/wire/gemini.ts';
import type { WireCall } from '../../../src/models/wire/wire.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import type { Message } from '../../../src/schema/message.ts';
import type { ProviderTool } from '../../../src/schema/provider-tool.ts';
import { requestOf } from '../infer.ts';
import { callOf } from './decode.ts';
import { answered, said } from './provider-tools.ts';
import { refusalOfGemini } from './strict-gemini.ts';

const wire = geminiWire({ platform: 'gemini' });

const WEB: ProviderTool[] = [{ type: 'web_search' }, { type: 'web_fetch' }, { type: 'code_execution' }];
const CLOCK = {
  id: 'clock',
  name: 'clock',
  description: 'The time',
  parameters: { type: 'object' },
  category: null,
};

const requestWith = (messages: readonly Message[], tools: readonly ProviderTool[] = WEB): WireCall =>
  callOf({ request: { ...requestOf(''), messages, provider_tools: tools } });

const chunk = (parts: JsonObject[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, ...more }],
});
const ended = (parts: JsonObject[], more: JsonObject = {}): JsonObject =>
  chunk(parts, { finishReason: 'STOP', ...more });

const partsAt = (call: WireCall, index: number): unknown =>
  (wire.encode(call).body.contents as JsonObject[])[index]?.parts;

const CODE = { executableCode: { language: 'PYTHON', code: 'print(1)' } };
const RESULT = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } };

t.test('offers the tools, and file search in a separate request', async (t) => {
  const request = wire.encode(requestWith([said('u', 'Hi')]));
  t.equal(refusalOfGemini(request, 'gemini'), undefined);
  t.strictSame(request.body.tools, [{ googleSearch: {} }, { urlContext: {} }, { codeExecution: {} }]);
  const files: ProviderTool = { type: 'file_search', store_ids: ['fileSearchStores/a'], max_results: 3 };
  const searching = wire.encode(requestWith([said('u', 'Hi')], [files]));
  t.equal(refusalOfGemini(searching, 'gemini'), undefined);
  t.strictSame(searching.body.tools, [
    { fileSearch: { fileSearchStoreNames: ['fileSearchStores/a'], topK: 3 } },
  ]);
});

t.test('requests provider calls in a request that also has functions', async (t) => {
  const call = requestWith([said('u', 'Hi')]);
  const mixed = wire.encode({
    ...call,
    upstream: 'gemini-3-pro',
    request: { ...call.request, tools: [CLOCK] },
  });
  t.equal(refusalOfGemini(mixed, 'gemini'), undefined);
  t.strictSame(mixed.body.toolConfig, { includeServerSideToolInvocations: true });
});

t.test('reports executed code with its output and files, and sends it back', async (t) => {
  const { calls, parts, message } = answered(wire, [
    chunk([{ text: 'I calculate. ' }, { ...CODE, thoughtSignature: 'SIG' }]),
    chunk([RESULT, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }]),
    ended([{ text: 'One.' }]),
  ]);
  t.match(calls, [
    { tool: 'code_execution', status: 'running', input: { code: 'print(1)', language: 'python' } },
    { id: calls[0]?.id, status: 'completed', output: { stdout: '1\n' } },
  ]);
  t.strictSame(parts, [{ file: 'AAAA', media_type: 'image/png' }]);
  const call = requestWith([said('u', '1?'), message, said('u2', 'Ok')]);
  t.equal(refusalOfGemini(wire.encode(call), 'gemini'), undefined);
  t.strictSame(partsAt(call, 1), [
    { text: 'I calculate. ' },
    { ...CODE, thoughtSignature: 'SIG' },
    RESULT,
    { text: 'One.' },
  ]);
  t.strictSame(partsAt({ ...call, upstream: 'another' }, 1), [{ text: 'I calculate. One.' }]);
});

t.test('reports failed code', async (t) => {
  const failed = { codeExecutionResult: { outcome: 'OUTCOME_FAILED', output: 'SyntaxError' } };
  const { calls } = answered(wire, [ended([CODE, failed, { text: 'No.' }])]);
  t.match(calls.at(-1), { status: 'failed', error: 'OUTCOME_FAILED', output: { stdout: 'SyntaxError' } });
});

t.test('reports a search and fetched pages from the metadata of the completion', async (t) => {
  const groundingMetadata = {
    webSearchQueries: ['weather'],
    groundingChunks: [{ web: { uri: 'https://example.com/a', title: 'A' } }],
  };
  const urlContextMetadata = {
    urlMetadata: [
      { retrievedUrl: 'https://example.com/p', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
    ],
  };
  const { calls, sources } = answered(wire, [
    chunk([{ text: 'Sunny.' }], { groundingMetadata }),
    ended([], { groundingMetadata, urlContextMetadata }),
  ]);
  t.match(calls, [
    {
      tool: 'web_fetch',
      status: 'completed',
      input: { urls: ['https://example.com/p'] },
      output: { pages: [{ url: 'https://example.com/p', status: 'URL_RETRIEVAL_STATUS_SUCCESS' }] },
    },
    {
      tool: 'web_search',
      status: 'completed',
      input: { queries: ['weather'] },
      output: { results: [{ url: 'https://example.com/a', title: 'A' }] },
    },
  ]);
  t.equal(calls.length, 2);
  t.equal(sources.length, 1);
});

t.test('reports a search from parts, and not again from the metadata', async (t) => {
  const search = {
    toolCall: { toolType: 'GOOGLE_SEARCH_WEB', id: 't1', args: { queries: ['weather'] } },
    thoughtSignature: 'SIG',
  };
  const response = { toolResponse: { toolType: 'GOOGLE_SEARCH_WEB', id: 't1', response: { found: 1 } } };
  const { calls, message } = answered(wire, [
    chunk([search, response]),
    ended([{ functionCall: { id: 'f1', name: 'clock', args: {} }, thoughtSignature: 'S2' }], {
      groundingMetadata: { webSearchQueries: ['weather'] },
    }),
  ]);
  t.match(calls, [
    { tool: 'web_search', status: 'running', input: { queries: ['weather'] } },
    { id: calls[0]?.id, status: 'completed', output: { found: 1 } },
  ]);
  t.equal(calls.length, 2);
  const toolResult: Message = {
    id: 'r',
    role: 'tool',
    tool_call_id: 'f1',
    content: [{ type: 'text', text: '12:00' }],
  };
  const given = requestWith([said('u', 'Hi'), message, toolResult]);
  const call = { ...given, request: { ...given.request, tools: [CLOCK] } };
  const { request } = call;
  t.equal(refusalOfGemini(wire.encode({ ...call, upstream: 'gemini-3-pro' }), 'gemini'), undefined);
  t.strictSame(partsAt({ ...call, request }, 1), [
    search,
    response,
    { functionCall: { id: 'f1', name: 'clock', args: {} }, thoughtSignature: 'S2' },
  ]);
});

t.test('omits a call without a result', async (t) => {
  const { message } = answered(wire, [
    chunk([{ text: 'Hm. ' }, RESULT, CODE]),
    chunk([], { finishReason: 'MAX_TOKENS' }),
  ]);
  const call = requestWith([said('u', 'Hi'), message, said('u2', 'Ok')]);
  t.equal(refusalOfGemini(wire.encode(call), 'gemini'), undefined);
  t.strictSame(partsAt(call, 1), [{ text: 'Hm. ' }]);
});
