import type { AddressInfo } from 'node:net';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import { jsonSchema, stepCountIs, streamText, tool } from 'ai';
import t, { type Test } from 'tap';
import { PACE_MS } from '../../bench/upstream/answer.ts';
import { readDepartures } from '../../bench/upstream/departure.ts';
import { buildRequest, FORMATS, type FormatName } from '../../bench/upstream/request.ts';
import { createUpstream, type Upstream } from '../../bench/upstream/server.ts';
import { PARSE_TEXT } from '../../bench/upstream/text.ts';

/** The upstream of the benchmark `provider` speaks each wire format as its client package expects it. */

type Started = Upstream & { url: string };

const start = async (t: Test): Promise<Started> => {
  const upstream = createUpstream();
  const { server } = upstream;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  // It listens on TCP, so its address is an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return { ...upstream, url: `http://127.0.0.1:${port}` };
};

const CLIENTS: Record<FormatName, (url: string, model: string) => LanguageModelV3> = {
  'openai-chat': (url, model) =>
    createOpenAICompatible({
      name: 'upstream',
      baseURL: `${url}/v1`,
      apiKey: 'key',
      includeUsage: true,
    }).chatModel(model),
  'openai-responses': (url, model) => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'key' }).responses(model),
  anthropic: (url, model) => createAnthropic({ baseURL: `${url}/v1`, apiKey: 'key' }).languageModel(model),
  gemini: (url, model) =>
    createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: 'key' }).languageModel(model),
};

const answering = (id: string) =>
  tool({
    description: `The ${id} of two tools.`,
    inputSchema: jsonSchema({ type: 'object', properties: { round: { type: 'integer' } } }),
    execute: async (input) => input,
  });

const tools = { first: answering('first'), second: answering('second') };

for (const format of FORMATS) {
  t.test(`streams 200 tokens at once and one each tick in ${format}`, async (t) => {
    const upstream = await start(t);
    for (const model of ['burst', 'turns']) {
      const result = streamText({ model: CLIENTS[format](upstream.url, model), prompt: 'Go.' });
      t.match(await result.text, /^(@[0-9a-z]{10} ){200}$/, model);
      t.equal(await result.finishReason, 'stop');
      t.match(await result.usage, { inputTokens: 10, outputTokens: 200 });
    }
    t.match(upstream.counts(), { requests: 2, refusals: [] });
  });

  t.test(`streams reasoning and two parallel calls, then text, in ${format}`, async (t) => {
    const upstream = await start(t);
    const model = CLIENTS[format](upstream.url, 'calls');
    const result = streamText({ model, prompt: 'Go.', tools, stopWhen: stepCountIs(2) });
    const [calling, final, ...others] = await result.steps;
    t.equal(others.length, 0);
    t.match(calling?.reasoningText, /^(thought ){100}$/);
    t.strictSame(
      calling?.toolCalls.map(({ toolName, input }) => ({ toolName, input })),
      ['first', 'second'].map((toolName) => ({ toolName, input: { round: 123 } })),
    );
    t.equal(calling?.finishReason, 'tool-calls');
    t.match(final?.text, /^(@[0-9a-z]{10} ){100}$/);
    t.strictSame(upstream.counts().refusals, []);
  });

  t.test(`accepts the minimal request in ${format}, and its events have the text`, async (t) => {
    const upstream = await start(t);
    const { path, ...request } = buildRequest(format, 'burst-5');
    const response = await fetch(upstream.url + path, { method: 'POST', ...request });
    const events = (await response.text()).match(/(?<=^data: )\{.*\}/gm) ?? [];
    t.match(events.map(PARSE_TEXT[format]).join(''), /^(@[0-9a-z]{10} ){5}$/);
  });
}

t.test('paces a stream and stamps each token with its departure', async (t) => {
  const upstream = await start(t);
  const { path, ...request } = buildRequest('openai-chat', 'paced-6');
  const response = await fetch(upstream.url + path, { method: 'POST', ...request });
  // The reader expects the text where Troupe and the proxies put it.
  const body = Buffer.from((await response.text()).replaceAll('"content":"@', '"delta":"@'));
  const departures: number[] = [];
  readDepartures(body, 0, body.length, (micros) => departures.push(micros));
  t.equal(departures.length, 6);
  const [first = 0, last = 0] = [departures[0], departures.at(-1)];
  t.ok(last - first >= 4.9 * PACE_MS * 1000, `${last - first} µs`);
});

type Change = { headers?: Record<string, string>; body?: object; path?: string };

const REFUSED: readonly [string, FormatName, Change, number, RegExp][] = [
  ['a request without a model', 'openai-chat', { body: { model: undefined } }, 400, /model parameter/],
  ['an unknown model', 'openai-chat', { body: { model: 'other' } }, 404, /'other' does not exist/],
  ['a request without stream', 'openai-chat', { body: { stream: undefined } }, 400, /stream must be true/],
  ['a request without a key', 'openai-chat', { headers: { authorization: '' } }, 401, /API key/],
  ['a request without messages', 'openai-chat', { body: { messages: [] } }, 400, /^messages: /],
  ['a request without a model', 'openai-responses', { body: { model: undefined } }, 400, /model/],
  ['a call without its output', 'openai-responses', { body: { input: [call()] } }, 400, /No tool output/],
  ['a request without a version', 'anthropic', { headers: { 'anthropic-version': '' } }, 400, /version/],
  ['a request without max_tokens', 'anthropic', { body: { max_tokens: undefined } }, 400, /^max_tokens: /],
  [
    'a request without contents',
    'gemini',
    { body: { contents: undefined } },
    400,
    /contents is not specified/,
  ],
  [
    'a request without alt=sse',
    'gemini',
    { path: '/v1beta/models/burst:streamGenerateContent' },
    400,
    /alt=sse/,
  ],
];

function call(): object {
  return { type: 'function_call', call_id: 'call_1', name: 'first', arguments: '{}' };
}

for (const [name, format, change, status, message] of REFUSED) {
  t.test(`rejects ${name} in ${format}`, async (t) => {
    const upstream = await start(t);
    const request = buildRequest(format, 'burst');
    const response = await fetch(upstream.url + (change.path ?? request.path), {
      method: 'POST',
      headers: { ...request.headers, ...change.headers },
      body: JSON.stringify({ ...JSON.parse(request.body), ...change.body }),
    });
    t.equal(response.status, status);
    t.match(await response.json(), { error: { message } });
    t.equal(upstream.counts().refusals.length, 1);
  });
}
