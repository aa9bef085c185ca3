import t from 'tap';
import { chatProtocol, createChatEncoder } from '../../../src/protocols/ai-sdk/encoder.ts';
import type { RunEvent } from '../../../src/schema/run-event.ts';
import { chunksOf, encodeAll, play, summary } from './client.ts';
import {
  activity,
  callDelta,
  callDone,
  callReady,
  callStart,
  inference,
  isForClient,
  needsApproval,
  reasoning,
  resumed,
  runFinish,
  runStart,
  snapshot,
  stepEnd,
  stepStart,
  text,
} from './events.ts';

/** chat-and-agui.md 4, 5. */

t.test('emits a text-only completion as one block in one step', async (t) => {
  const frames = encodeAll([
    runStart(),
    stepStart(),
    text('Hel'),
    text('lo "you"\n'),
    inference,
    snapshot,
    stepEnd,
    snapshot,
    runFinish(),
  ]);
  t.strictSame(await summary(frames), [
    'start R',
    'data-run-info',
    'start-step',
    'text-start txt_0',
    'text-delta txt_0 Hel',
    'text-delta txt_0 lo "you"\n',
    'data-inference-complete',
    'data-state-snapshot',
    'text-end txt_0',
    'finish-step',
    'data-state-snapshot',
    'finish stop',
  ]);
  const { message, errors } = await play(frames);
  t.strictSame(errors, []);
  t.equal(message?.id, 'R');
  t.match(message?.parts, [
    { type: 'data-run-info', data: { runId: 'R', threadId: 'T' } },
    { type: 'step-start' },
    { type: 'text', text: 'Hello "you"\n', state: 'done' },
    { type: 'data-inference-complete', data: { model: 'm', usage: null, durationMs: 5 } },
  ]);
});

t.test('emits the same frames for short forms of deltas as for their events', async (t) => {
  const [long, short] = [createChatEncoder(), createChatEncoder()];
  for (const encoder of [long, short]) encodeAll([runStart(), stepStart(), callStart('c1')], encoder);
  for (const delta of ['a', '', ' "quoted"', '\u2028 line', '\ud83d', '\ude00']) {
    t.equal(short.reasoning(delta), long.event(reasoning(delta)));
    t.equal(short.text(delta), long.event(text(delta)));
    t.equal(short.text(delta), long.event(text(delta)));
    t.equal(short.toolDelta('c1', delta), long.event(callDelta('c1', delta)));
  }
});

t.test('closes the text before a tool call, and starts another block after it', async (t) => {
  const frames = encodeAll([
    runStart(),
    stepStart('m1'),
    text('Let me look.'),
    callStart('c1'),
    callDelta('c1', '{"city":'),
    callDelta('c1', '"Oslo"}'),
    callReady('c1'),
    inference,
    callDone('c1'),
    stepEnd,
    stepStart('m2'),
    text('Seven.'),
    stepEnd,
    runFinish(),
  ]);
  t.strictSame((await summary(frames)).slice(2), [
    'start-step',
    'text-start txt_0',
    'text-delta txt_0 Let me look.',
    'text-end txt_0',
    'tool-input-start c1',
    'tool-input-delta c1',
    'tool-input-delta c1',
    'tool-input-available c1',
    'data-inference-complete',
    'tool-output-available c1',
    'finish-step',
    'start-step',
    'text-start txt_1',
    'text-delta txt_1 Seven.',
    'text-end txt_1',
    'finish-step',
    'finish stop',
  ]);
  const { message } = await play(frames);
  t.match(
    message?.parts.find(({ type }) => type === 'tool-look'),
    { state: 'output-available', input: { city: 'Oslo' }, output: { temp: 7 }, providerExecuted: true },
  );
});

t.test('closes reasoning before text, and names it after the first step', async (t) => {
  const frames = encodeAll([
    runStart(),
    stepStart('m1'),
    reasoning('Hm'),
    reasoning('m.'),
    text('Well'),
    reasoning('More'),
    text(' then'),
    stepEnd,
    stepStart('m2'),
    reasoning('Again'),
    callStart('c1'),
    stepEnd,
    runFinish(),
  ]);
  t.strictSame((await summary(frames)).slice(3, -1), [
    'reasoning-start reasoning_m1',
    'reasoning-delta reasoning_m1 Hm',
    'reasoning-delta reasoning_m1 m.',
    'reasoning-end reasoning_m1',
    'text-start txt_0',
    'text-delta txt_0 Well',
    'reasoning-start reasoning_m1',
    'reasoning-delta reasoning_m1 More',
    'reasoning-end reasoning_m1',
    'text-delta txt_0  then',
    'text-end txt_0',
    'finish-step',
    'start-step',
    'reasoning-start reasoning_m1',
    'reasoning-delta reasoning_m1 Again',
    'reasoning-end reasoning_m1',
    'tool-input-start c1',
    'tool-input-error c1',
    'finish-step',
  ]);
  t.strictSame((await play(frames)).errors, []);
});

t.test('accumulates the output of a tool and replaces it with the result', async (t) => {
  const grown = (delta: string) =>
    ({ event_type: 'tool_call_stream_delta', id: 'c1', name: 'look', delta }) as const;
  const outputs = encodeAll([
    runStart(),
    stepStart(),
    callStart('c1'),
    callReady('c1'),
    grown('a'),
    grown('b'),
    callDone('c1', { data: 'abc' }),
    grown('z'),
  ]);
  const chunks = (await chunksOf(outputs)).filter(({ type }) => type === 'tool-output-available');
  t.strictSame(
    chunks.map((chunk) => 'output' in chunk && [chunk.output, chunk.preliminary]),
    [
      ['a', true],
      ['ab', true],
      ['abc', undefined],
      ['z', true],
    ],
  );
});

t.test('emits results with metadata, failures and empty messages', async (t) => {
  const frames = encodeAll([
    runStart(),
    stepStart(),
    ...['c1', 'c2', 'c3', 'c4'].flatMap((id) => [callStart(id), callReady(id)]),
    callDone('c1', { data: 1, metadata: { took: 2 } }),
    callDone('c2', { data: 1, metadata: {} }),
    callDone('c3', { status: 'error', data: null, message: 'no such city' }),
    callDone('c4', { status: 'error', data: null }),
  ]);
  t.match((await chunksOf(frames)).slice(-4), [
    { toolCallId: 'c1', output: { data: 1, metadata: { took: 2 } } },
    { toolCallId: 'c2', output: 1 },
    { type: 'tool-output-error', errorText: 'no such city', providerExecuted: true },
    { type: 'tool-output-error', errorText: 'tool execution error' },
  ]);
});

const waits = [runStart(), stepStart(), callStart('c1'), callReady('c1'), inference];

const suspends = [snapshot, stepEnd, snapshot, runFinish({ type: 'suspended' })];

t.test('requests an approval, and continues the message after the decision', async (t) => {
  const first = encodeAll([...waits, needsApproval('c1'), ...suspends]);
  t.strictSame((await summary(first)).slice(-5), [
    'tool-approval-request c1',
    'data-state-snapshot',
    'finish-step',
    'data-state-snapshot',
    'finish tool-calls',
  ]);
  const { message } = await play(first);
  t.match(message?.parts.at(-2), { type: 'data-state-snapshot' });
  const part = message?.parts.find(({ type }) => type === 'tool-look');
  t.match(part, { state: 'approval-requested', approval: { id: 'perm_c1' } });

  const rest = [stepStart('m2'), text('Done.'), stepEnd, snapshot, runFinish()];
  const approved = encodeAll([runStart(), resumed('c1', { temp: 7 }), ...rest]);
  t.strictSame((await summary(approved)).slice(0, 4), [
    'start R',
    'data-run-info',
    'tool-output-available c1',
    'start-step',
  ]);
  const after = await play(approved, message);
  t.strictSame(after.errors, []);
  t.equal(after.message?.id, 'R');
  const tool = after.message?.parts.find(({ type }) => type === 'tool-look');
  t.match(tool, { state: 'output-available', output: { temp: 7 } });

  const denied = await play(
    encodeAll([runStart(), resumed('c1', { approved: false }, 'cancel'), ...rest]),
    message,
  );
  t.match(
    denied.message?.parts.find(({ type }) => type === 'tool-look'),
    { state: 'output-denied' },
  );
  const failed = encodeAll([runStart(), resumed('c1', { error: 'gone' })]);
  t.match((await chunksOf(failed)).at(-1), { type: 'tool-output-error', errorText: 'gone' });
});

t.test('leaves a client tool call open', async (t) => {
  const frames = encodeAll([...waits, isForClient('c1'), ...suspends]);
  t.notOk((await summary(frames)).some((line) => line.startsWith('tool-approval-request')));
  const { message } = await play(frames);
  const part = message?.parts.find(({ type }) => type === 'tool-look');
  t.match(part, { state: 'input-available', input: { city: 'Oslo' } });
  t.notOk(part && 'providerExecuted' in part && part.providerExecuted, 'the client returns the result');
});

t.test('announces earlier calls to a new message of the client', async (t) => {
  const events = [
    runStart('N'),
    resumed('c1', { temp: 7 }),
    needsApproval('c2'),
    runFinish({ type: 'suspended' }),
  ];
  const earlier = (id: string) => ({ name: `tool of ${id}`, arguments: { id } });
  const frames = encodeAll(events, createChatEncoder({ earlier }));
  t.strictSame(await summary(frames), [
    'start N',
    'data-run-info',
    'tool-input-available c1',
    'tool-output-available c1',
    'tool-input-available c2',
    'tool-approval-request c2',
    'finish tool-calls',
  ]);
  const { message, errors } = await play(frames);
  t.strictSame(errors, []);
  t.match(message?.parts, [
    {},
    { type: 'tool-tool of c1', input: { id: 'c1' } },
    { type: 'tool-tool of c2' },
  ]);
});

t.test('announces a known call to a new message, but not to the same one', async (t) => {
  const first = [...waits, needsApproval('c1'), ...suspends];
  const told = async (turn_id?: string) => {
    const encoder = createChatEncoder();
    encodeAll(first, encoder);
    return (await summary(encodeAll([runStart(turn_id), resumed('c1', 7)], encoder))).slice(2);
  };
  t.strictSame(await told(), ['tool-output-available c1']);
  t.strictSame(await told('N'), ['tool-input-available c1', 'tool-output-available c1']);
});

t.test('keeps the id of the message that the client continues', async (t) => {
  const protocol = chatProtocol({ continues: 'stored-1' });
  const events = [runStart('N'), resumed('c1', 1), stepStart('m2'), reasoning('Hm'), stepEnd, runFinish()];
  const lines = await summary(encodeAll(events, protocol.createEncoder()));
  t.equal(lines[0], 'start stored-1');
  t.ok(lines.includes('reasoning-start reasoning_m2'));
  t.not(protocol.name, chatProtocol().name, 'readers with other options have separate frames');
});

t.test('emits the ending of a run', async (t) => {
  const end = async (termination: Parameters<typeof runFinish>[0]) =>
    (await summary(encodeAll([runStart(), runFinish(termination)]))).slice(2);
  t.strictSame(await end({ type: 'natural_end' }), ['finish stop']);
  t.strictSame(await end({ type: 'behavior_requested' }), ['finish stop']);
  t.strictSame(await end({ type: 'stopped', value: { code: 'max_rounds' } }), ['finish stop']);
  t.strictSame(await end({ type: 'cancelled' }), ['finish stop']);
  t.strictSame(await end({ type: 'blocked', value: 'no' }), ['finish content-filter']);
  t.strictSame(await end({ type: 'suspended' }), ['finish tool-calls']);
  t.strictSame(await end({ type: 'error', value: 'it broke' }), ['error it broke', 'finish error']);
});

t.test('emits an error for a run that fails before its start', async (t) => {
  const frames = encodeAll([runFinish({ type: 'error', value: 'no agent' })]);
  t.strictSame(await summary(frames), ['error no agent', 'finish error']);
  t.strictSame((await play(frames)).errors, ['no agent']);
});

t.test('closes everything open before the end', async (t) => {
  const open = [runStart(), stepStart(), reasoning('Hm'), text('Well'), reasoning('Hm')];
  const closing = ['text-end txt_0', 'reasoning-end reasoning_m1', 'finish-step'];
  const lines = await summary(encodeAll([...open, runFinish({ type: 'suspended' })]));
  t.strictSame(lines.slice(-4), [...closing, 'finish tool-calls']);
  const failed = await summary(encodeAll([...open, { event_type: 'error', message: 'broken' }]));
  t.strictSame(failed.slice(-4), [...closing, 'error broken']);
  const again = await summary(encodeAll([...open, runStart(), stepStart(), text('Well')]));
  t.strictSame(again.slice(-8), [
    ...closing,
    'start R',
    'data-run-info',
    'start-step',
    'text-start txt_0',
    'text-delta txt_0 Well',
  ]);
});

t.test('ignores events after the end until another start', async (t) => {
  const encoder = createChatEncoder();
  encodeAll([runStart(), stepStart(), callStart('c1'), text('a'), stepEnd, runFinish()], encoder);
  t.equal(encodeAll([text('b'), stepEnd, runFinish({ type: 'cancelled' })], encoder), '');
  t.equal(encoder.text('b') + encoder.reasoning('c') + encoder.toolDelta('c1', 'd'), '');
  t.strictSame(await summary(encodeAll([runStart(), stepStart('m2'), text('b')], encoder)), [
    'start R',
    'data-run-info',
    'start-step',
    'text-start txt_0',
    'text-delta txt_0 b',
  ]);
});

t.test('omits arguments of an unannounced call, which would break the client', async (t) => {
  t.equal(encodeAll([callDelta('c9', '{')]), '');
});

t.test('converts events without a frame type to data, or to nothing', async (t) => {
  const frames = encodeAll([
    runStart(),
    stepStart(),
    { event_type: 'reasoning_encrypted_value', encrypted_value: 'x' },
    { event_type: 'state_delta', delta: [{ op: 'remove', path: '/a' }] },
    { event_type: 'messages_snapshot', messages: [] },
    { event_type: 'activity_delta', message_id: 'a1', activity_type: 'x', patch: [] },
    { event_type: 'tool_call_cancel', id: 'c1', name: 'look', reason: 'malformed' },
    { event_type: 'stream_reset', reason: 'idle stall' },
  ]);
  t.strictSame((await chunksOf(frames)).slice(3), [
    {
      type: 'data-reasoning-encrypted',
      data: { encryptedValue: 'x' },
      id: 'reasoning_m1',
      transient: true,
    },
    { type: 'data-state-delta', data: [{ op: 'remove', path: '/a' }] },
    { type: 'data-messages-snapshot', data: [] },
    { type: 'data-activity-delta', data: { messageId: 'a1', activityType: 'x', patch: [] } },
  ]);
});

t.test('converts activities with a part type to that part, and fills missing fields', async (t) => {
  const of = async (type: string, content: Parameters<typeof activity>[1]) =>
    (await chunksOf(encodeAll([activity(type, content)]))).slice(0, -1);
  t.strictSame(await of('source-url', { url: 'https://a.b', title: 'A', sourceId: 's1' }), [
    { type: 'source-url', sourceId: 's1', url: 'https://a.b', title: 'A' },
  ]);
  t.strictSame(await of('source-url', {}), [{ type: 'source-url', sourceId: 'a1', url: '' }]);
  t.strictSame(await of('source-document', { filename: 'a.pdf', mediaType: 'application/pdf' }), [
    {
      type: 'source-document',
      sourceId: 'a1',
      mediaType: 'application/pdf',
      title: 'a.pdf',
      filename: 'a.pdf',
    },
  ]);
  t.strictSame(await of('source-document', {}), [
    { type: 'source-document', sourceId: 'a1', mediaType: 'application/octet-stream', title: 'a1' },
  ]);
  t.strictSame(await of('file', { url: 'data:,x' }), [
    { type: 'file', url: 'data:,x', mediaType: 'application/octet-stream' },
  ]);
  for (const content of [null, 'text', [1]]) t.strictSame(await of('file', content), []);
  t.strictSame(await of('constructor', {}), []);
  t.strictSame(await chunksOf(encodeAll([activity('tool-call-progress', { status: 'running' })])), [
    {
      type: 'data-activity-snapshot',
      data: {
        messageId: 'a1',
        activityType: 'tool-call-progress',
        content: { status: 'running' },
        replace: null,
      },
    },
  ]);
});

/** The final parts of the official client. */
const partsOf = async (frames: string) => (await play(frames)).message?.parts ?? [];

const attempt = (...texts: string[]): RunEvent[] => [
  { event_type: 'step_start', message_id: 'm1' },
  ...texts.map((delta): RunEvent => ({ event_type: 'text_delta', delta })),
];

/** A first attempt that fails within its text, and the next one. */
const twice = (text: string, ...again: string[]): string =>
  encodeAll([
    runStart(),
    ...attempt(text),
    { event_type: 'stream_reset', reason: 'resumed from checkpoint', text },
    { event_type: 'step_end' },
    ...attempt(...again),
    { event_type: 'step_end' },
    runFinish(),
  ]);

t.test('shows a text once that a second attempt repeats', async (t) => {
  for (const again of [
    ['The capital', ' is Paris.'],
    ['The capital is Par', 'is.'],
    ['The capital is Paris.'],
  ]) {
    const parts = await partsOf(twice('The capital is Par', ...again));
    const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []));
    t.strictSame(texts, ['The capital is Paris.']);
    t.equal(parts.filter(({ type }) => type === 'step-start').length, 1);
  }
});

t.test('reports a failed attempt and the number of the next one in one part', async (t) => {
  const reset = (attempt: number): RunEvent => ({
    event_type: 'stream_reset',
    reason: 'resumed from checkpoint',
    error: 'inference failed: rate limited',
    attempt,
    max_attempts: 5,
  });
  const failed = (attempt: number): RunEvent[] => [reset(attempt), { event_type: 'step_end' }];
  const events = [runStart(), ...attempt(''), ...failed(2), ...failed(3), ...attempt('Hi')];
  const parts = await partsOf(encodeAll([...events, { event_type: 'step_end' }, runFinish()]));
  t.match(
    parts.filter(({ type }) => type === 'data-retry'),
    [{ id: 'retry', data: { error: 'inference failed: rate limited', attempt: 3, maxAttempts: 5 } }],
  );
  t.equal(parts.filter(({ type }) => type === 'data-retry').length, 1);
});

t.test('marks a text as void that another one replaces', async (t) => {
  for (const again of ['Rome.', 'The', '']) {
    const parts = await partsOf(twice('The capital', again));
    const texts = parts.flatMap((part) =>
      part.type === 'text' && !part.providerMetadata?.troupe?.voided ? part.text : [],
    );
    t.strictSame(texts, again === '' ? [] : [again]);
  }
});

t.test('ends a call that a reset, a cancel or the end of the step cut off', async (t) => {
  const started: RunEvent = { event_type: 'tool_call_start', id: 'c1', name: 'note' };
  const events: RunEvent[] = [
    { event_type: 'stream_reset', reason: 'connection reset' },
    { event_type: 'tool_call_cancel', id: 'c1', name: 'note', reason: 'output limit' },
    { event_type: 'step_end' },
  ];
  for (const cut of events) {
    const parts = await partsOf(encodeAll([runStart(), ...attempt(), started, cut, runFinish()]));
    t.match(
      parts.filter((part) => 'toolCallId' in part),
      [{ type: 'tool-note', state: 'output-error', providerExecuted: true }],
    );
  }
});
