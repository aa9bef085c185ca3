import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { listOf, objectOf } from '../../src/models/wire/read.ts';
import { isObject } from '../../src/schema/endpoint.ts';
import type { JsonObject } from '../../src/schema/json.ts';
import { entriesFrom } from '../../src/settings/index.ts';
import { type SeenRequest, sendEvents, startSseServer } from '../models/sse-server.ts';
import { refusalsOf } from '../models/wire/strict-anthropic.ts';
import { endOf, only, say } from './agent-loop/agents.ts';
import { type RunEventLike, startTroupe, type Troupe } from './troupe.ts';

/**
 * Provider tools over real sockets, with a service that rejects the requests that Anthropic is documented to reject.
 */

type Answer = (response: ServerResponse) => void;

const start = { type: 'message_start', message: { id: 'msg', content: [], usage: { input_tokens: 3 } } };
const use = (id: string): object[] => [
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'server_tool_use', id, name: 'web_search', input: {} },
  },
  {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json: '{"query":"weather"}' },
  },
  { type: 'content_block_stop', index: 0 },
];
const found = (id: string): object[] => [
  {
    type: 'content_block_start',
    index: 1,
    content_block: {
      type: 'web_search_tool_result',
      tool_use_id: id,
      content: [
        { type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: 'ENC' },
      ],
    },
  },
  { type: 'content_block_stop', index: 1 },
];
const words = (text: string): object[] => [
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text } },
  { type: 'content_block_stop', index: 2 },
];
const end: object[] = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
];

const whole =
  (...events: object[]): Answer =>
  (response) => {
    sendEvents(response, events);
    response.end();
  };

const SEARCHED = whole(start, ...use('srvtoolu_1'), ...found('srvtoolu_1'), ...words('Sunny.'), ...end);

type Upstream = { troupe: Troupe; bodies(): JsonObject[]; requests: SeenRequest[]; refused: string[] };

const startUpstream = async (t: Test, answers: readonly Answer[], more: object = {}): Promise<Upstream> => {
  const refused: string[] = [];
  const left = [...answers];
  const { url, requests } = await startSseServer(t, (response, { headers, body }) => {
    const given: unknown = JSON.parse(body);
    const sent: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') sent[name] = value;
    const problems = isObject(given)
      ? refusalsOf({ path: 'messages', headers: sent, body: given as JsonObject })
      : ['no object'];
    refused.push(...problems);
    const next = left.shift();
    if (problems.length > 0 || !next) response.writeHead(400).end(JSON.stringify({ error: problems }));
    else next(response);
  });
  const troupe = await startTroupe(t, {
    app: {
      records: entriesFrom({
        providers: [
          {
            id: 'a',
            adapter: 'anthropic',
            api_key: 'k',
            base_url: `${url}/v1`,
            adapter_options: { headers: { 'anthropic-beta': 'my-beta' } },
          },
        ],
        models: [{ id: 'a', provider_id: 'a', upstream_model: 'claude-sonnet-4-5' }],
        agents: [
          {
            id: 'own',
            model_id: 'a',
            allowed_tools: [],
            provider_tools: [{ type: 'web_search' }, { type: 'code_execution' }],
            ...more,
          },
        ],
      }),
    },
  });
  return { troupe, requests, refused, bodies: () => requests.map(({ body }) => JSON.parse(body)) };
};

const lastCalls = (events: readonly RunEventLike[]): unknown[] => [
  ...new Map(
    only(events, 'activity_snapshot')
      .filter(({ activity_type }) => activity_type === 'provider-call')
      .map(({ message_id, content }) => [message_id, content]),
  ).values(),
];

t.test('sends calls and encrypted results back in the next turn, even after a restart', async (t) => {
  const { troupe, bodies, requests, refused } = await startUpstream(t, [
    SEARCHED,
    whole(start, ...words('Rain.'), ...end),
  ]);
  const events = await troupe.runToEnd(say('own', 'Weather?', 'T'));
  t.match(endOf(events), { result: { response: 'Sunny.' } });
  t.match(lastCalls(events), [{ tool: 'web_search', status: 'completed', input: { queries: ['weather'] } }]);
  t.notMatch(JSON.stringify(events.filter(({ event_type }) => event_type === 'activity_snapshot')), /ENC/);
  t.equal(requests[0]?.headers['anthropic-beta'], 'code-execution-2025-08-25,my-beta');
  await troupe.restart();
  t.match(endOf(await troupe.runToEnd(say('own', 'Tomorrow?', 'T'))), { result: { response: 'Rain.' } });
  t.strictSame(refused, []);
  const [, answer] = listOf(bodies()[1]?.messages).map(objectOf);
  t.match(answer?.content, [
    { type: 'server_tool_use', id: 'srvtoolu_1', input: { query: 'weather' } },
    { type: 'web_search_tool_result', content: [{ encrypted_content: 'ENC' }] },
    { type: 'text', text: 'Sunny.' },
  ]);
});

t.test(
  'retries a completion whose stream broke in the middle of a call, and retracts the call',
  async (t) => {
    const broken: Answer = (response) => {
      sendEvents(response, [start, ...use('srvtoolu_0')]);
      response.write('data: {"type":"content_block_start","index":1,"content_block":{"type":"web_sea', () =>
        response.destroy(),
      );
    };
    const { troupe, refused } = await startUpstream(t, [broken, SEARCHED], {
      sections: { retry: { max_retries: 0, max_stream_retries: 1, backoff_base_ms: 1 } },
    });
    const events = await troupe.runToEnd(say('own', 'Weather?', 'T'));
    t.match(endOf(events), { result: { response: 'Sunny.' } });
    t.equal(only(events, 'stream_reset').length, 1);
    t.match(lastCalls(events), [{ status: 'failed' }, { status: 'completed' }]);
    t.strictSame(refused, []);
    const { body } = await troupe.call('GET', '/v1/threads/T/messages');
    const [, answer] = body.messages as { content: { type: string }[] }[];
    t.strictSame(
      answer?.content.map(({ type }) => type),
      ['provider_call', 'text', 'source_url'],
    );
  },
);

t.test('cancels a run whose provider never finishes a call', async (t) => {
  let closed = (): void => {};
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const { troupe } = await startUpstream(t, [
    (response) => {
      response.on('close', closed);
      sendEvents(response, [start, ...use('srvtoolu_1')]);
    },
  ]);
  const stream = await troupe.run(say('own', 'Weather?', 'T'));
  await stream.until('activity_snapshot');
  await troupe.post('/v1/threads/T/cancel');
  const rest = await stream.rest();
  t.match(rest.at(-1), { termination: { type: 'cancelled' } });
  t.match(lastCalls(rest), [{ status: 'failed', error: 'the completion was cut off' }]);
  await isClosed;
});

t.test('rejects a flood of results', async (t) => {
  const pages = Array.from({ length: 3000 }, (_, index) => ({
    type: 'web_search_result',
    url: `https://a.example/${index}`,
    title: 'A',
    encrypted_content: 'ENC',
  }));
  const flood: Answer = (response) => {
    const content_block = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: pages };
    sendEvents(response, [
      start,
      ...use('srvtoolu_1'),
      { type: 'content_block_start', index: 1, content_block },
    ]);
    response.end();
  };
  const { troupe } = await startUpstream(t, [flood]);
  const events = await troupe.runToEnd(say('own', 'Weather?', 'T'));
  t.match(endOf(events), {
    termination: { type: 'error', value: /the completion has more than 1024 files and sources/ },
  });
  t.match((await troupe.call('GET', '/health')).status, 200);
});
