import type { ServerResponse } from 'node:http';
import * as compatible3 from '@ai-sdk/openai-compatible';
import * as compatible4 from 'ai-sdk-openai-compatible-4';
import t, { type Test } from 'tap';
import type { InferenceRequest } from '../../src/models/model.ts';
import type { JsonObject } from '../../src/schema/json.ts';
import type { Message } from '../../src/schema/message.ts';
import { requestOf, userMessage } from '../models/infer.ts';
import { chatChunk, type SeenRequest, sendEvents, startSseServer } from '../models/sse-server.ts';
import { inferFrom, modelOf } from './fakes.ts';

/** Packages of both versions, over real connections to a service that validates requests strictly. */

const VERSIONS = { v3: compatible3, v4: compatible4 };

type SentMessage = {
  role: string;
  content?: string | object[];
  tool_calls?: { id: string; function: { arguments: string } }[];
  tool_call_id?: string;
};

/** The reason for which a service of the chat completions protocol rejects these messages, or undefined. */
const problemIn = (messages: readonly SentMessage[]): string | undefined => {
  const called: string[] = [];
  for (const { role, content, tool_calls = [], tool_call_id = '' } of messages) {
    if (role === 'tool' && !called.includes(tool_call_id)) return `no call has the id '${tool_call_id}'`;
    if (role !== 'tool' && tool_calls.length === 0 && (!content || content.length === 0))
      return `a message of ${role} is empty`;
    if (role !== 'user' && Array.isArray(content)) return 'content is no text';
    for (const { id, function: called_ } of tool_calls) {
      if (!/^[\w-]{1,64}$/.test(id)) return `'${id}' is no id`;
      if (Object.prototype.toString.call(JSON.parse(called_.arguments)) !== '[object Object]')
        return 'arguments are no object';
      called.push(id);
    }
  }
  return undefined;
};

const serve = async (t: Test, answer: (response: ServerResponse) => void) => {
  const { url, requests } = await startSseServer(t, (response, { body }: SeenRequest) => {
    const { messages } = JSON.parse(body);
    const problem = problemIn(messages);
    if (problem === undefined) answer(response);
    else response.writeHead(400).end(JSON.stringify({ error: { message: problem } }));
  });
  return { url, bodies: () => requests.map(({ body }) => JSON.parse(body)) };
};

const send =
  (events: readonly object[], end: (response: ServerResponse) => void = (response) => response.end()) =>
  (response: ServerResponse): void => {
    sendEvents(response, events);
    end(response);
  };

const done = (response: ServerResponse): void => void response.end('data: [DONE]\n\n');

const call = (index: number, id: string, args: string) => ({
  index,
  id,
  type: 'function',
  function: { name: 'search', arguments: args },
});

const usage = {
  ...chatChunk({}),
  choices: [],
  usage: {
    prompt_tokens: 10,
    completion_tokens: 5,
    prompt_tokens_details: { cached_tokens: 6 },
    completion_tokens_details: { reasoning_tokens: 3 },
  },
};

const answer = [
  chatChunk({ reasoning_content: 'Hm' }),
  chatChunk({ content: 'Hello ' }),
  chatChunk({ content: 'you' }),
  chatChunk({ tool_calls: [call(0, 'c1', '{"q"')] }),
  chatChunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }, call(1, 'c2', '{"q":2}')] }),
  chatChunk({}, 'tool_calls'),
  usage,
];

const picture: Message['content'][number] = {
  type: 'image',
  source: { type: 'url', url: 'https://a.example/b.png' },
};

const history = (items: readonly { item: JsonObject; provider: string; model: string; format: string }[]) => {
  const places = [
    { text: 0, calls: 0 },
    { text: 9, calls: 0 },
  ];
  const messages: Message[] = [
    { ...userMessage('hi'), content: [{ type: 'text', text: ' ' }, picture] },
    {
      id: 'a',
      role: 'assistant',
      content: [{ type: 'text', text: 'Hello you' }],
      tool_calls: [
        { id: 'c1', name: 'search', arguments: 'broken' },
        { id: 'call (2)', name: 'search', arguments: { q: 2 } },
      ],
      metadata: {
        reasoning_items: items.map((item, n) => ({ ...item, after: places[n] ?? { text: 9, calls: 2 } })),
      },
    },
    { id: 'r1', role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'one' }] },
    { id: 'r2', role: 'tool', tool_call_id: 'call (2)', content: [{ type: 'text', text: 'two' }] },
    { id: 's', role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    userMessage(''),
  ];
  return requestOf('', { system: ['One.', ''], messages });
};

for (const [version, { createOpenAICompatible }] of Object.entries(VERSIONS)) {
  const ask = (url: string, request: InferenceRequest, signal?: AbortSignal) => {
    const provider = createOpenAICompatible({ name: 'x', baseURL: url, apiKey: 'key', includeUsage: true });
    return inferFrom(modelOf(provider), request, signal);
  };

  t.test(`${version}: receives the reasoning, text, calls and usage of an answer`, async (t) => {
    const { url } = await serve(t, send(answer, done));
    const { heard, items, end } = await ask(url, requestOf('x'));
    const of = (kind: string) => heard.flatMap(([each, ...rest]) => (each === kind ? [rest] : []));
    t.strictSame(of('reasoning'), [['Hm']]);
    t.strictSame(of('text'), [['Hello '], ['you']]);
    t.strictSame(
      of('start').map(([id]) => id),
      ['c1', 'c2'],
    );
    t.strictSame(of('end'), [
      ['c1', '{"q":1}'],
      ['c2', '{"q":2}'],
    ]);
    t.match(items, [
      { provider: 'p', model: 'up', format: 'ai-sdk', item: { type: 'reasoning', text: 'Hm' } },
    ]);
    t.strictSame(end, {
      stop: 'ToolUse',
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        cache_read_tokens: 6,
        thinking_tokens: 3,
        total_tokens: 15,
      },
    });
  });

  t.test(`${version}: a strict service accepts a history with the kept reasoning`, async (t) => {
    const { url, bodies } = await serve(t, send(answer, done));
    const { items } = await ask(url, requestOf('x'));
    const { error } = await ask(url, history(items));
    t.equal(error, undefined);
    t.match(bodies()[1].messages, [
      { role: 'system', content: 'One.' },
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }] },
      {
        role: 'assistant',
        content: 'Hello you',
        reasoning_content: 'Hm',
        tool_calls: [{ id: 'c1', function: { arguments: '{}' } }, { function: { arguments: '{"q":2}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', content: 'two' },
      { role: 'user', content: '(empty message)' },
    ]);
  });

  const refusals: [
    name: string,
    status: number,
    headers: Record<string, string>,
    body: string,
    error: object,
  ][] = [
    [
      'a rate limit',
      429,
      { 'retry-after': '7' },
      '{"error":{"message":"slow down"}}',
      { class: 'rate_limited', status: 429, retryAfterSeconds: 7, message: 'rate limited: slow down' },
    ],
    [
      'an unknown body',
      503,
      {},
      '{"detail":"busy"}',
      { class: 'overloaded', message: 'provider overloaded: busy' },
    ],
    ['a wrong key', 401, {}, 'no', { class: 'unauthorized', transient: false, message: 'unauthorized: no' }],
  ];
  for (const [name, status, headers, body, error] of refusals) {
    t.test(`${version}: ${name} is classified`, async (t) => {
      const { url } = await serve(t, (response) => response.writeHead(status, headers).end(body));
      t.match((await ask(url, requestOf('x'))).error, error);
    });
  }

  t.test(`${version}: an unreachable service is a transient error`, async (t) => {
    const { url } = await serve(t, (response) => response.destroy());
    const { error } = await ask(url, requestOf('x'));
    t.equal(error?.transient, true);
  });

  const broken: [name: string, send: (response: ServerResponse) => void, error: object][] = [
    [
      'a connection that breaks after text',
      send([chatChunk({ content: 'Hi' })], (response) => setImmediate(() => response.destroy())),
      { class: 'stream_interrupted', message: 'stream interrupted (connection reset)' },
    ],
    [
      'a call that is cut off by the end of the body',
      send([chatChunk({ tool_calls: [call(0, 'c1', '{"q"')] })]),
      { class: 'stream_interrupted' },
    ],
    [
      'text without a finish reason, which these packages report as an error',
      send([chatChunk({ content: 'Hi' })]),
      { class: 'stream_interrupted', message: 'stream interrupted (connection reset)' },
    ],
    ['a body without an event', send([]), { class: 'stream_interrupted' }],
    [
      'an error in the stream after text',
      send([chatChunk({ content: 'Hi' }), { error: { message: 'overloaded', code: 529 } }], done),
      { class: 'stream_interrupted', status: 529 },
    ],
    [
      'an error in the stream before text',
      send([{ error: { message: 'overloaded' } }], done),
      { class: 'overloaded', message: 'provider overloaded: overloaded' },
    ],
  ];
  for (const [name, answer, error] of broken) {
    t.test(`${version}: fails for ${name}`, async (t) => {
      const { url } = await serve(t, answer);
      t.match((await ask(url, requestOf('x'))).error, error);
    });
  }

  t.test(`${version}: a cancel closes the connection`, async (t) => {
    const abort = new AbortController();
    let whenClosed = (): void => {};
    const isClosed = new Promise<void>((resolve) => {
      whenClosed = resolve;
    });
    const { url } = await serve(t, (response) => {
      response.on('close', whenClosed);
      sendEvents(response, [chatChunk({ content: 'Hi' })]);
      abort.abort();
    });
    t.match((await ask(url, requestOf('x'), abort.signal)).error, { class: 'cancelled' });
    await isClosed;
  });

  t.test(`${version}: a service that becomes silent is an idle stall`, async (t) => {
    const { url } = await serve(
      t,
      send([chatChunk({ content: 'Hi' })], () => {}),
    );
    const { heard, error } = await ask(url, requestOf('x', { stream_idle_timeout_secs: 2 }));
    t.strictSame(heard, [['text', 'Hi']]);
    t.match(error, { class: 'stream_interrupted', message: 'stream interrupted (idle stall)' });
  });
}
