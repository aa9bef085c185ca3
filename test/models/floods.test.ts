import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { BOUNDS, excerpt } from '../../src/models/bounds.ts';
import type { Model } from '../../src/models/model.ts';
import type { ProviderSpec } from '../../src/schema/model.ts';
import fc from '../random.ts';
import { createProvider } from './create-provider.ts';
import { infer, inferenceFailure, requestOf } from './infer.ts';
import { chatChunk, sendEvents, startSseServer } from './sse-server.ts';

/** Providers that send without end, or more than was requested. */

const MIB = 1024 * 1024;
const ADAPTERS = ['openai', 'openai_resp', 'anthropic', 'gemini'] as const;

const modelAt = (base_url: string, spec: Partial<ProviderSpec> = {}): Model =>
  createProvider({ id: 'p', adapter: 'openai', api_key: 'secret-key', base_url, ...spec }, {}).model({
    id: 'm',
    provider_id: 'p',
    upstream_model: 'up',
  });

/** Writes the same data repeatedly, as fast as it is read, until the reader disconnects. */
const pour = (response: ServerResponse, piece: string): Promise<number> => {
  const { socket } = response;
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', more);
  more();
  return new Promise((resolve) => response.once('close', () => resolve(socket?.bytesWritten ?? 0)));
};

/** A provider with an endless response. `sent`: bytes until the client disconnected. */
const flooded = async (
  t: Test,
  begin: (response: ServerResponse) => void,
  piece: string,
): Promise<{ url: string; sent: Promise<number> }> => {
  let tell = (_: number): void => {};
  const sent = new Promise<number>((resolve) => {
    tell = resolve;
  });
  const { url } = await startSseServer(t, (response) => {
    begin(response);
    pour(response, piece).then(tell);
  });
  return { url, sent };
};

const events = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
};

for (const adapter of ADAPTERS) {
  t.test(`${adapter}: aborts an endless line without a retry`, async (t) => {
    const begin = (response: ServerResponse): void => {
      events(response);
      response.write('data: {"x":"');
    };
    const { url, sent } = await flooded(t, begin, 'x'.repeat(MIB));
    const { error } = await inferenceFailure(modelAt(url, { adapter }), requestOf('x'));
    t.match(error, { class: 'provider', transient: false });
    t.equal(
      error.message,
      `provider error: an event of the response has more than ${BOUNDS.frameBytes} bytes`,
    );
    const bytes = await sent;
    t.ok(bytes < 3 * BOUNDS.frameBytes, `${bytes} bytes left the provider`);
  });

  t.test(`${adapter}: reads only the beginning of an endless error response`, async (t) => {
    const begin = (response: ServerResponse): void => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.write('{"error":{"message":"');
    };
    const { url, sent } = await flooded(t, begin, 'x'.repeat(MIB));
    const { error } = await inferenceFailure(modelAt(url, { adapter }), requestOf('x'));
    t.match(error, { class: 'unauthorized', status: 401 });
    t.ok(error.message.length < 2 * BOUNDS.messageLength);
    const bytes = await sent;
    t.ok(bytes < 16 * MIB, `${bytes} bytes left the provider`);
  });
}

t.test('counts decompressed bytes against the limit', async (t) => {
  const packed = gzipSync(Buffer.alloc(64 * MIB, 'x'));
  const { url } = await startSseServer(t, (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    response.end(packed);
  });
  const { error } = await inferenceFailure(modelAt(url), requestOf('x'));
  t.match(error.message, /an event of the response has more than/);
});

t.test('reports an endless header as a provider error', async (t) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\nx-long: ');
    const more = (): void => {
      while (!socket.destroyed && socket.write('x'.repeat(MIB)));
    };
    socket.on('drain', more);
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  // A server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  const { error } = await inferenceFailure(modelAt(`http://127.0.0.1:${port}`), requestOf('x'));
  t.equal(error.class, 'provider');
  t.ok(error.message.length < 500, error.message);
});

const say = (delta: object): string => `data: ${JSON.stringify(chatChunk(delta))}\n\n`;
const called = (call: object): string => say({ tool_calls: [{ index: 0, ...call }] });
const call = { id: 'c', type: 'function', function: { name: 'search', arguments: '' } };

const answers: [name: string, first: string, piece: string, why: RegExp][] = [
  ['text', '', say({ content: 'x'.repeat(100_000) }), /more than \d+ characters$/],
  ['reasoning', '', say({ reasoning_content: 'x'.repeat(100_000) }), /more than \d+ characters$/],
  [
    'arguments',
    called(call),
    called({ function: { arguments: 'x'.repeat(100_000) } }),
    /characters of arguments of one call$/,
  ],
  [
    'the name of a tool',
    '',
    called({ ...call, function: { name: 'x'.repeat(2000), arguments: '' } }),
    /the id or name of a call$/,
  ],
  ['the id of a call', '', called({ ...call, id: 'x'.repeat(2000) }), /the id or name of a call$/],
];
for (const [name, first, piece, why] of answers) {
  t.test(`aborts ${name} without end, without a retry`, async (t) => {
    const begin = (response: ServerResponse): void => {
      events(response);
      response.write(first);
    };
    const { url, sent } = await flooded(t, begin, piece);
    const { error, heard } = await inferenceFailure(modelAt(url), requestOf('x'));
    t.match(error, { class: 'provider', transient: false, message: why });
    const length = heard.reduce((all, [, ...texts]) => all + texts.join('').length, 0);
    t.ok(length < BOUNDS.answerLength + 200_000, `${length} characters were received`);
    await sent;
  });
}

t.test('limits the calls of a completion', async (t) => {
  const { url } = await startSseServer(t, (response) => {
    const calls = Array.from({ length: BOUNDS.calls + 1 }, (_, index) => ({
      index,
      ...call,
      id: `c${index}`,
    }));
    sendEvents(response, [chatChunk({ tool_calls: calls })]);
  });
  const { error, heard } = await inferenceFailure(modelAt(url), requestOf('x'));
  t.match(error, { class: 'provider', transient: false, message: /more than 512 calls$/ });
  t.equal(heard.filter(([kind]) => kind === 'start').length, BOUNDS.calls);
});

t.test('truncates the error message of a provider', async (t) => {
  const words = `Oops ${'x'.repeat(5 * MIB)}`;
  for (const begin of [
    (response: ServerResponse) => sendEvents(response, [{ error: { message: words } }]),
    (response: ServerResponse) => response.writeHead(200).end(`data: not json ${words}\n\n`),
    (response: ServerResponse) => response.writeHead(500).end(words.slice(0, 200_000)),
    (response: ServerResponse) =>
      response.writeHead(500).end(JSON.stringify({ error: { message: words.slice(0, 200_000) } })),
  ]) {
    const { url } = await startSseServer(t, begin);
    const { error } = await inferenceFailure(modelAt(url), requestOf('a secret prompt'));
    t.ok(error.message.length < 1.2 * BOUNDS.messageLength, `${error.message.length} characters`);
    const all = inspect(error, { depth: Number.POSITIVE_INFINITY, maxStringLength: null });
    t.ok(all.length < 20_000, `${all.length} characters with everything that it holds on to`);
    t.notMatch(all, /a secret prompt/);
  }
});

t.test('treats an event that arrives byte by byte as silence until it is complete', async (t) => {
  const { url } = await startSseServer(t, (response) => {
    events(response);
    const timer = setInterval(() => response.write('x'), 20);
    response.on('close', () => clearInterval(timer));
  });
  const { error } = await inferenceFailure(modelAt(url, { timeout_secs: 1 }), requestOf('x'));
  t.match(error, { class: 'timeout', message: 'timeout: stream idle timeout after 1s' });
});

t.test('times out when a provider stalls within an error response', async (t) => {
  const { url } = await startSseServer(t, (response) => response.writeHead(500).write('{'));
  const { error } = await inferenceFailure(modelAt(url, { timeout_secs: 1 }), requestOf('x'));
  t.match(error, { class: 'timeout', message: 'timeout: inference timeout after 1s' });
});

t.test('follows no redirect', async (t) => {
  const there = await startSseServer(t, (response) => response.end());
  const to = `${there.url}/elsewhere?key=hidden`;
  for (const status of [301, 302, 303, 307, 308]) {
    const here = await startSseServer(t, (response) => response.writeHead(status, { location: to }).end());
    for (const adapter of ADAPTERS) {
      const { error } = await inferenceFailure(modelAt(here.url, { adapter }), requestOf('x'));
      const message = `invalid request: the provider redirects to ${there.url}/elsewhere; base_url must lead there itself`;
      t.match(error, { class: 'invalid_request', status, message });
    }
  }
  t.equal(there.requests.length, 0);
});

t.test('ignores invalid token counts', async (t) => {
  for (const count of [-5, 1.5, 1e300]) {
    const { url } = await startSseServer(t, (response) => {
      const usage = { prompt_tokens: 3, completion_tokens: count, total_tokens: 3 };
      sendEvents(response, [chatChunk({ content: 'Hi' }), { ...chatChunk({}, 'stop'), usage }]);
      response.end();
    });
    const { end } = await infer(modelAt(url), requestOf('x'));
    t.same(end.usage, { prompt_tokens: 3 });
  }
});

t.test('an excerpt stays within its limit, reports the omitted length, and is idempotent', async () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      fc.integer({ min: 60, max: 200 }),
      (text, most) => {
        const short = excerpt(text, most);
        if (text.length <= most) return short === text;
        const [, missing] = /… \((\d+) more characters\)$/.exec(short) ?? [];
        const kept = text.length - Number(missing);
        return (
          short.length <= most && short.startsWith(text.slice(0, kept)) && short === excerpt(short, most)
        );
      },
    ),
  );
});

t.test('an excerpt never splits a surrogate pair', async (t) => {
  // Twenty characters fit before the note; the last one is the first or the second half of a pair.
  for (const pair of ['\u{10000}', '\u{10ffff}']) {
    const odd = `x${pair.repeat(50)}`;
    t.equal(excerpt(odd, 60), `x${pair.repeat(9)}… (82 more characters)`);
    t.equal(excerpt(pair.repeat(50), 60), `${pair.repeat(10)}… (80 more characters)`);
  }
  t.equal(excerpt('\ud7ff'.repeat(100), 60), `${'\ud7ff'.repeat(20)}… (80 more characters)`);
});
