import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import type { ProviderSpec } from '../../src/schema/model.ts';
import { createProvider } from './create-provider.ts';
import { type Heard, infer, inferenceFailure, joined, recordingSink, requestOf } from './infer.ts';
import { ANTHROPIC_ANSWER, chatChunk, sendEvents, startSseServer } from './sse-server.ts';

/** Connections that go wrong in ways a well-behaved stand-in does not. */

const modelAt = (base_url: string, spec: Partial<ProviderSpec> = {}) =>
  createProvider({ id: 'p', adapter: 'groq', api_key: 'key', base_url, ...spec }, {}).model({
    id: 'm',
    provider_id: 'p',
    upstream_model: 'up',
  });

t.test('a provider that does not answer is an inference timeout', async (t) => {
  const { url } = await startSseServer(t, () => {});
  const { error } = await inferenceFailure(modelAt(url, { timeout_secs: 0 }), requestOf('x'));
  t.match(error, { class: 'timeout', transient: true, message: 'timeout: inference timeout after 1s' });
});

t.test('a provider that falls silent is a stream idle timeout', async (t) => {
  const { url } = await startSseServer(t, (response) =>
    sendEvents(response, [chatChunk({ content: 'Hel' })]),
  );
  const { heard, error } = await inferenceFailure(modelAt(url, { timeout_secs: 1 }), requestOf('x'));
  t.match(error, { class: 'timeout', message: 'timeout: stream idle timeout after 1s' });
  t.same(heard, [['text', 'Hel']]);
});

t.test('a connection that dies in the middle is an interrupted stream', async (t) => {
  let open: ServerResponse | undefined;
  const { url } = await startSseServer(t, (response) => {
    open = response;
    sendEvents(response, [chatChunk({ content: 'Hel' })]);
  });
  const heard: Heard[] = [];
  const sink = recordingSink(heard);
  const ended = modelAt(url).stream(
    requestOf('x'),
    {
      ...sink,
      text: (delta) => {
        sink.text(delta);
        open?.destroy();
      },
    },
    new AbortController().signal,
  );
  await t.rejects(ended, { class: 'stream_interrupted', message: 'stream interrupted (connection reset)' });
  t.same(heard, [['text', 'Hel']]);
});

const call = (index: number, id: string, args: string) =>
  chatChunk({ tool_calls: [{ index, id, type: 'function', function: { name: 'search', arguments: args } }] });

for (const adapter of ['openai', 'groq']) {
  t.test(`${adapter}: a stream that ends without a finish reason keeps only complete calls`, async (t) => {
    const { url } = await startSseServer(t, (response) => {
      sendEvents(response, [call(0, 'a', '{"q":1}'), call(1, 'b', '{"q":')]);
      response.end();
    });
    const { heard, error } = await inferenceFailure(modelAt(url, { adapter }), requestOf('x'));
    t.match(error, { class: 'stream_interrupted', message: 'stream interrupted (connection reset)' });
    t.same(
      heard.filter(([kind]) => kind === 'end'),
      [['end', 'a', '{"q":1}']],
    );
  });
}

t.test('an error event after output is an interrupted stream with its status', async (t) => {
  const { url } = await startSseServer(t, (response) => {
    sendEvents(response, [
      chatChunk({ content: 'Hel' }),
      { error: { message: 'Service overloaded', type: 'server_error' } },
    ]);
    response.end();
  });
  const { heard, error } = await inferenceFailure(modelAt(url), requestOf('x'));
  t.match(error, { class: 'stream_interrupted', message: 'stream interrupted (provider 529 mid-stream)' });
  t.equal(joined(heard, 'text'), 'Hel');
});

t.test('anthropic: an overload reported as the first event is overloaded', async (t) => {
  const { url } = await startSseServer(t, (response) => {
    sendEvents(response, [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]);
    response.end();
  });
  const { error } = await inferenceFailure(modelAt(url, { adapter: 'anthropic' }), requestOf('x'));
  t.match(error, { class: 'overloaded', transient: true, message: 'provider overloaded: Overloaded' });
});

t.test('a port where nobody listens is a provider error', async (t) => {
  const { error } = await inferenceFailure(modelAt('http://127.0.0.1:1/v1'), requestOf('x'));
  t.match(error, { class: 'provider', transient: true, message: /^provider error: Cannot connect to API/ });
});

t.test('a prompt that is too long is a context overflow', async (t) => {
  const { url } = await startSseServer(t, (response) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"Too big","code":"context_length_exceeded"}}');
  });
  const { error } = await inferenceFailure(modelAt(url, { adapter: 'openai' }), requestOf('x'));
  t.match(error, { class: 'context_overflow', transient: false, message: 'context overflow: Too big' });
});

t.test('a sink that throws fails the inference with its own error', async (t) => {
  const { url } = await startSseServer(t, (response) =>
    sendEvents(response, [chatChunk({ content: 'Hel' })]),
  );
  const failing = modelAt(url).stream(
    requestOf('x'),
    {
      ...recordingSink([]),
      text: () => {
        throw new TypeError('full');
      },
    },
    new AbortController().signal,
  );
  await t.rejects(failing, new TypeError('full'));
});

t.test('a run that is already cancelled asks nothing of the provider', async (t) => {
  const { url, requests } = await startSseServer(t, () => {});
  const { error } = await inferenceFailure(modelAt(url), requestOf('x'), AbortSignal.abort());
  t.equal(error.class, 'cancelled');
  t.equal(requests.length, 0);
});

t.test('connections are used again when a response ends after its last event', async (t) => {
  const ports = new Set<number | undefined>();
  let open: ServerResponse | undefined;
  const { url } = await startSseServer(t, (response) => {
    ports.add(response.socket?.remotePort);
    open = response;
    sendEvents(response, ANTHROPIC_ANSWER);
  });
  const model = modelAt(url, { adapter: 'anthropic' });
  for (const text of ['one', 'two', 'three', 'four', 'five']) {
    await infer(model, requestOf(text));
    await pause();
    open?.end();
  }
  t.ok(ports.size < 5, `${ports.size} connections for 5 inferences`);
});
