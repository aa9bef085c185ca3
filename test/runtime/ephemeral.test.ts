import t, { type Test } from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import type { InferenceRequest, Provider } from '../../src/models/model.ts';
import { nativeProtocol } from '../../src/protocols/native/encoder.ts';
import type { EphemeralInput, WaitingCall } from '../../src/runtime/index.ts';
import { type Message, textOf } from '../../src/schema/message.ts';
import type { RunEvent } from '../../src/schema/run-event.ts';
import { asks, hangs, type Inference } from '../service/models.ts';
import { createTestTools } from '../service/tools.ts';
import { startRuntime } from './runtime.ts';

const says =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn' };
  };

const user = (text: string): Message => ({ id: text, role: 'user', content: [{ type: 'text', text }] });

const askedFor = (id: string, name: string): Message => ({
  id: `message of ${id}`,
  role: 'assistant',
  content: [],
  tool_calls: [{ id, name, arguments: {} }],
});

const waits = (id: string, name: string, decision?: WaitingCall['decision']): WaitingCall => ({
  call: { id, name, arguments: {} },
  ticket_id: `perm_${id}`,
  resume_mode: 'replay_tool_call',
  ...(decision && { decision }),
});

const start = async (t: Test, ...steps: Inference[]) => {
  const requests: InferenceRequest[] = [];
  const provider: Provider = {
    id: 'test',
    model: (spec) => ({
      id: spec.id,
      provider: 'test',
      upstream: 'm',
      async stream(request, sink, signal) {
        requests.push(request);
        return (steps.shift() ?? says('nothing more'))(sink, request, signal);
      },
    }),
  };
  const tools = createTestTools();
  const service = await startRuntime(t, {
    provider,
    tools: tools.tools,
    settings: { mailbox: { retry_base_ms: 1, max_attempts: 2 } },
  });
  const { agent } = service.input('');
  const run = (input: Partial<EphemeralInput> = {}) => {
    let frames = '';
    const started = service.runtime.ephemeral({
      scope: 'default',
      thread_id: 'T',
      agent,
      adapter: 'internal',
      messages: [user('hi')],
      waiting: [],
      spender: undefined,
      signal: new AbortController().signal,
      failed: (reason) => `it failed: ${reason}`,
      attach: (channel) => {
        channel.attach(nativeProtocol, {
          write: (more) => {
            frames += more;
          },
          end: () => {},
        });
      },
      ...input,
    });
    const events = (): RunEvent[] =>
      frames
        .split('\n\n')
        .filter((frame) => frame !== '')
        .map((frame) => JSON.parse(frame.slice('data: '.length)));
    return { ...started, events };
  };
  /** The history in the prompt of the last inference. */
  const heard = (): string[] =>
    (requests.at(-1)?.messages ?? []).map(({ role, content }) => `${role}: ${textOf(content)}`);
  return { ...service, run, tools, requests, heard };
};

const typesOf = (events: readonly RunEvent[]): string[] => events.map(({ event_type }) => event_type);

t.test('streams a run without reading or writing the store', async (t) => {
  const { run, store, allow, requests } = await start(t, says('hello'));
  allow(0);
  const reads = store.reads;
  const { run_id, done, events } = run();
  t.equal(await done, 'ended');
  t.strictSame(typesOf(events()), [
    'run_start',
    'step_start',
    'text_delta',
    'inference_complete',
    'state_snapshot',
    'step_end',
    'state_snapshot',
    'run_finish',
  ]);
  t.match(events()[0], { run_id, thread_id: 'T', identity: { agent_id: 'a' } });
  t.match(events().at(-1), {
    run_id,
    termination: { type: 'natural_end' },
    result: { response: 'hello', status: 'done' },
  });
  t.equal(store.reads, reads);
  t.equal(store.runs.get('default', run_id), undefined);
  t.equal(store.threads.get('default', 'T'), undefined);
  t.equal(requests.length, 1);
});

t.test('executes tools and passes their results to the next step', async (t) => {
  const { run, tools, heard } = await start(t, asks(['c1', 'note']), says('noted'));
  const { done, events } = run();
  t.equal(await done, 'ended');
  t.strictSame(tools.executed, ['c1']);
  t.strictSame(heard(), ['user: hi', 'assistant: ', 'tool: "did c1"']);
  t.match(events().at(-1), { result: { response: 'noted' } });
});

t.test('ends the stream at a call that needs approval without executing the tool', async (t) => {
  const { run, tools } = await start(t, asks(['c1', 'risky']));
  const { done, events } = run();
  t.equal(await done, 'suspended');
  t.match(
    events().find(({ event_type }) => event_type === 'tool_call_done'),
    { outcome: 'suspended', result: { suspension: { suspension: { id: 'perm_c1' } } } },
  );
  t.strictSame(typesOf(events()).slice(-3), ['step_end', 'state_snapshot', 'run_finish']);
  t.match(events().at(-1), { termination: { type: 'suspended' } });
  t.equal(typesOf(events()).filter((type) => type === 'run_finish').length, 1);
  t.strictSame(tools.executed, []);
});

t.test('executes an approved call before the first step', async (t) => {
  const { run, tools, heard } = await start(t, says('done'));
  const { done, events } = run({
    messages: [user('hi'), askedFor('c1', 'risky')],
    waiting: [waits('c1', 'risky', { action: 'resume', payload: { approved: true } })],
  });
  t.equal(await done, 'ended');
  t.strictSame(tools.executed, ['c1']);
  t.strictSame(typesOf(events()).slice(0, 4), [
    'run_start',
    'tool_call_executing',
    'tool_call_resumed',
    'step_start',
  ]);
  t.match(events()[2], { target_id: 'c1', action: 'resume', result: 'did c1' });
  t.strictSame(heard(), ['user: hi', 'assistant: ', 'tool: "did c1"']);
});

t.test('does not execute a denied call, and reports the denial to the model', async (t) => {
  const { run, tools, heard } = await start(t, says('as you wish'));
  const { done, events } = run({
    messages: [user('hi'), askedFor('c1', 'risky')],
    waiting: [waits('c1', 'risky', { action: 'cancel', payload: { approved: false }, reason: 'not today' })],
  });
  t.equal(await done, 'ended');
  t.strictSame(tools.executed, []);
  t.match(events()[1], { event_type: 'tool_call_resumed', target_id: 'c1', action: 'cancel' });
  t.strictSame(heard(), [
    'user: hi',
    'assistant: ',
    'tool: Denied: this call was refused, and nothing was done (not today)',
  ]);
});

t.test('keeps a call suspended when another one is decided', async (t) => {
  const { run, tools, requests } = await start(t);
  const { done, events } = run({
    messages: [
      user('hi'),
      {
        id: 'asked',
        role: 'assistant',
        content: [],
        tool_calls: ['c1', 'c2'].map((id) => ({ id, name: 'risky', arguments: {} })),
      },
    ],
    waiting: [waits('c1', 'risky', { action: 'resume', payload: { approved: true } }), waits('c2', 'risky')],
  });
  t.equal(await done, 'suspended');
  t.strictSame(tools.executed, ['c1']);
  t.equal(requests.length, 0);
  t.strictSame(typesOf(events()), [
    'run_start',
    'tool_call_executing',
    'tool_call_resumed',
    'state_snapshot',
    'run_finish',
  ]);
});

t.test('cancels the run by a signal in the middle of an inference', async (t) => {
  const gone = new AbortController();
  let aborted = false;
  const { run, requests } = await start(t, (sink, request, signal) => {
    signal.addEventListener('abort', () => {
      aborted = true;
    });
    return hangs('partial')(sink, request, signal);
  });
  const { done, events } = run({ signal: gone.signal });
  while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  gone.abort();
  t.equal(await done, 'ended');
  t.equal(aborted, true);
  t.match(events().at(-1), { termination: { type: 'cancelled' } });
});

t.test('calls no model if the signal was aborted before', async (t) => {
  const { run, requests } = await start(t);
  const { done, events } = run({ signal: AbortSignal.abort() });
  t.equal(await done, 'ended');
  t.match(events().at(-1), { termination: { type: 'cancelled' } });
  t.equal(requests.length, 0);
});

t.test('retries a transient failure and keeps the completed steps', async (t) => {
  const { run, tools, heard } = await start(
    t,
    asks(['c1', 'note']),
    (sink) => {
      sink.text('half');
      throw new ModelError('overloaded', 'busy');
    },
    says('whole'),
  );
  const { done, events } = run();
  t.equal(await done, 'ended');
  t.strictSame(tools.executed, ['c1']);
  t.strictSame(heard(), ['user: hi', 'assistant: ', 'tool: "did c1"']);
  t.ok(typesOf(events()).includes('stream_reset'));
  t.match(events().at(-1), { result: { response: 'whole' } });
});

t.test('describes a failure with the text of the caller', async (t) => {
  const { run } = await start(t, () => {
    throw new ModelError('unauthorized', 'bad key');
  });
  const { done, events } = run();
  t.equal(await done, 'ended');
  t.match(events().at(-1), {
    termination: { type: 'error', value: /^it failed: inference failed: .*bad key/ },
  });
});

t.test('releases a run when the service stops, and rejects new ones', async (t) => {
  const { run, runtime, requests } = await start(t, hangs('partial'));
  const { done, events } = run();
  while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await runtime.stop(0);
  t.equal(await done, 'released');
  t.match(events().at(-1), { termination: { type: 'error', value: 'it failed: service is shutting down' } });
  t.throws(() => run(), { message: 'service is shutting down' });
});
