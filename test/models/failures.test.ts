import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import type { ProviderSpec } from '../../src/schema/model.ts';
import { createProvider } from './create-provider.ts';
import { type Heard, infer, inferenceFailure, joined, recordingSink, requestOf } from './infer.ts';
import { ANTHROPIC_ANSWER, chatChunk, sendEvents, startSseServer } from './sse-server.ts';

/** Connection failures that a well-behaved mock provider does not produce. */

const modelAt = (base_url: string, spec: Partial<ProviderSpec> = {}) =>
  createProvider({ id: 'p', adapter: 'groq', api_key: 'key', base_url, ...spec }, {}).model({
    id: 'm',
    provider_id: 'p',
    upstream_model: 'up',
  });

t.test('reports a provider that never responds as an inference timeout', async (t) => {
  const { url } = await startSseServer(t, () => {});
  const { error } = await inferenceFailure(modelAt(url, { timeout_secs: 0 }), requestOf('x'));
  t.match(error, { class: 'timeout', transient: true, message: 'timeout: inference timeout after 1s' });
});

t.test('reports a stream that falls silent as a stream idle timeout', async (t) => {
  const { url } = await startSseServer(t, (response) =>
    sendEvents(response, [chatChunk({ content: 'Hel' })]),
  );
  const { heard, error } = await inferenceFailure(modelAt(url, { timeout_secs: 1 }), requestOf('x'));
  t.match(error, { class: 'timeout', message: 'timeout: stream idle timeout after 1s' });
  t.same(heard, [['text', 'Hel']]);
});

t.test('reports a connection that breaks mid-stream as an interrupted stream', async (t) => {
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
  t.test(`${adapter}: keeps only complete calls of a stream without a finish reason`, async (t) => {
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

t.test('reports an error event after output as an interrupted stream with its status', async (t) => {
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

t.test('anthropic: reports an overload in the first event as overloaded', async (t) => {
  const { url } = await startSseServer(t, (response) => {
    sendEvents(response, [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]);
    response.end();
  });
  const { error } = await inferenceFailure(modelAt(url, { adapter: 'anthropic' }), requestOf('x'));
  t.match(error, { class: 'overloaded', transient: true, message: 'provider overloaded: Overloaded' });
});

t.test('reports a closed port as a provider error', async (t) => {
  const { error } = await inferenceFailure(modelAt('http://127.0.0.1:1/v1'), requestOf('x'));
  t.match(error, { class: 'provider', transient: true, message: /^provider error: Cannot connect to API/ });
});

t.test('reports a prompt that is too long as a context overflow', async (t) => {
  const { url } = await startSseServer(t, (response) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"Too big","code":"context_length_exceeded"}}');
  });
  const { error } = await inferenceFailure(modelAt(url, { adapter: 'openai' }), requestOf('x'));
  t.match(error, { class: 'context_overflow', transient: false, message: 'context overflow: Too big' });
});

t.test('fails the inference with the error that the sink throws', async (t) => {
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

t.test('sends no request for a run that is already cancelled', async (t) => {
  const { url, requests } = await startSseServer(t, () => {});
  const { error } = await inferenceFailure(modelAt(url), requestOf('x'), AbortSignal.abort());
  t.equal(error.class, 'cancelled');
  t.equal(requests.length, 0);
});

t.test('reuses a connection when the response ends after its last event', async (t) => {
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
