import t from 'tap';
import { agUiProtocol, createAgUiEncoder } from '../../../src/protocols/ag-ui/encoder.ts';
import type { RunEvent } from '../../../src/schema/run-event.ts';
import {
  activity,
  callDelta,
  callDone,
  callReady,
  callStart,
  inference,
  reasoning,
  runFinish,
  runStart,
  snapshot,
  stepEnd,
  stepStart,
  text,
} from '../ai-sdk/events.ts';
import { encodeAll, eventsOf, play, summary } from './client.ts';

/** chat-and-agui.md 12. */

t.test('emits a text-only completion as one message in one step', async (t) => {
  const result = { response: 'Hello "you"\n', status: 'done', status_reason: 'natural' };
  const frames = encodeAll([
    runStart(),
    stepStart(),
    text('Hel'),
    text(''),
    text('lo "you"\n'),
    inference,
    snapshot,
    stepEnd,
    snapshot,
    { event_type: 'run_finish', thread_id: 'T', run_id: 'R', result, termination: { type: 'natural_end' } },
  ]);
  t.strictSame(summary(frames), [
    'RUN_STARTED R',
    'STEP_STARTED step_1',
    'TEXT_MESSAGE_START m1',
    'TEXT_MESSAGE_CONTENT m1 Hel',
    'TEXT_MESSAGE_CONTENT m1 lo "you"\n',
    'STATE_SNAPSHOT',
    'TEXT_MESSAGE_END m1',
    'STEP_FINISHED step_1',
    'STATE_SNAPSHOT',
    'RUN_FINISHED',
  ]);
  t.strictSame(await play(frames), {
    messages: [{ id: 'm1', role: 'assistant', content: 'Hello "you"\n' }],
    state: { revision: 1, extensions: { key: 'value' } },
    result,
    interrupts: [],
    error: undefined,
  });
});

t.test('emits the same frames for short forms of deltas as for their events', async (t) => {
  const [long, short] = [createAgUiEncoder(), createAgUiEncoder()];
  for (const encoder of [long, short]) encodeAll([runStart(), stepStart(), callStart('c1')], encoder);
  for (const delta of ['a', '', ' "quoted"', '\u2028 line', '\ud83d', '\ude00']) {
    t.equal(short.reasoning(delta), long.event(reasoning(delta)));
    t.equal(short.reasoning(delta), long.event(reasoning(delta)));
    t.equal(short.text(delta), long.event(text(delta)));
    t.equal(short.text(delta), long.event(text(delta)));
    t.equal(short.toolDelta('c1', delta), long.event(callDelta('c1', delta)));
  }
});

t.test('closes the text before a tool call, and continues the same message after it', async (t) => {
  const frames = encodeAll([
    runStart(),
    stepStart('m1'),
    text('Let me look.'),
    callStart('c1'),
    callDelta('c1', '{"city":'),
    callDelta('c1', '"Oslo"}'),
    callReady('c1'),
    text(' So.'),
    inference,
    callDone('c1'),
    snapshot,
    stepEnd,
    stepStart('m2'),
    text('Seven.'),
    stepEnd,
    runFinish(),
  ]);
  t.strictSame(summary(frames).slice(1), [
    'STEP_STARTED step_1',
    'TEXT_MESSAGE_START m1',
    'TEXT_MESSAGE_CONTENT m1 Let me look.',
    'TEXT_MESSAGE_END m1',
    'TOOL_CALL_START c1',
    'TOOL_CALL_ARGS c1 {"city":',
    'TOOL_CALL_ARGS c1 "Oslo"}',
    'TOOL_CALL_END c1',
    'TEXT_MESSAGE_START m1',
    'TEXT_MESSAGE_CONTENT m1  So.',
    'TOOL_CALL_RESULT c1 {"temp":7}',
    'STATE_SNAPSHOT',
    'TEXT_MESSAGE_END m1',
    'STEP_FINISHED step_1',
    'STEP_STARTED step_2',
    'TEXT_MESSAGE_START m2',
    'TEXT_MESSAGE_CONTENT m2 Seven.',
    'TEXT_MESSAGE_END m2',
    'STEP_FINISHED step_2',
    'RUN_FINISHED',
  ]);
  const { messages, error } = await play(frames);
  t.equal(error, undefined);
  t.strictSame(messages, [
    {
      id: 'm1',
      role: 'assistant',
      content: 'Let me look. So.',
      toolCalls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"city":"Oslo"}' } }],
    },
    { id: 'result of c1', role: 'tool', toolCallId: 'c1', content: '{"temp":7}' },
    { id: 'm2', role: 'assistant', content: 'Seven.' },
  ]);
});

t.test('emits the complete arguments of a call that were not streamed', async (t) => {
  const calls = [callStart('c1'), callDelta('c1', ''), callReady('c1'), callReady('c2'), callReady('c2')];
  const frames = encodeAll([runStart(), stepStart(), text('a'), ...calls, stepEnd, runFinish()]);
  t.strictSame(summary(frames).slice(4, -2), [
    'TEXT_MESSAGE_END m1',
    'TOOL_CALL_START c1',
    'TOOL_CALL_ARGS c1 {"city":"Oslo"}',
    'TOOL_CALL_END c1',
    'TOOL_CALL_START c2',
    'TOOL_CALL_ARGS c2 {"city":"Oslo"}',
    'TOOL_CALL_END c2',
  ]);
  t.match((await play(frames)).messages, [{ id: 'm1', toolCalls: [{ id: 'c1' }, { id: 'c2' }] }]);
});

t.test('emits reasoning as a separate message, closed by the following text', async (t) => {
  const encrypted: RunEvent = { event_type: 'reasoning_encrypted_value', encrypted_value: 'x' };
  const frames = encodeAll([
    runStart(),
    stepStart('m1'),
    reasoning('Hm'),
    reasoning('m.'),
    encrypted,
    text('Well'),
    reasoning('More'),
    text(' then'),
    stepEnd,
    stepStart('m2'),
    encrypted,
    reasoning('Again'),
    callStart('c1'),
    callReady('c1'),
    stepEnd,
    runFinish(),
  ]);
  t.strictSame(summary(frames).slice(2, 15), [
    'REASONING_MESSAGE_START reasoning_m1',
    'REASONING_MESSAGE_CONTENT reasoning_m1 Hm',
    'REASONING_MESSAGE_CONTENT reasoning_m1 m.',
    'REASONING_ENCRYPTED_VALUE',
    'REASONING_MESSAGE_END reasoning_m1',
    'TEXT_MESSAGE_START m1',
    'TEXT_MESSAGE_CONTENT m1 Well',
    'REASONING_MESSAGE_START reasoning_m1',
    'REASONING_MESSAGE_CONTENT reasoning_m1 More',
    'REASONING_MESSAGE_END reasoning_m1',
    'TEXT_MESSAGE_CONTENT m1  then',
    'TEXT_MESSAGE_END m1',
    'STEP_FINISHED step_1',
  ]);
  const values = eventsOf(frames).filter(({ type }) => type === 'REASONING_ENCRYPTED_VALUE');
  t.match(values, [
    { subtype: 'message', entityId: 'reasoning_m1', encryptedValue: 'x' },
    { entityId: 'm2' },
  ]);
  t.match((await play(frames)).messages, [
    { id: 'reasoning_m1', role: 'reasoning', content: 'Hmm.More', encryptedValue: 'x' },
    { id: 'm1', role: 'assistant', content: 'Well then' },
    { id: 'reasoning_m2', content: 'Again' },
    { id: 'm2', toolCalls: [{ id: 'c1' }] },
  ]);
});

t.test('appends the output of a tool to an activity that is announced once', async (t) => {
  const grown = (delta: string) =>
    ({ event_type: 'tool_call_stream_delta', id: 'c1', name: 'look', delta }) as const;
  const begun = [runStart(), stepStart(), callStart('c1'), callReady('c1')];
  const frames = encodeAll([...begun, grown('a'), grown('b'), callDone('c1'), stepEnd, runFinish()]);
  t.match(
    eventsOf(frames).filter(({ type }) => type.startsWith('ACTIVITY')),
    [
      {
        type: 'ACTIVITY_SNAPSHOT',
        messageId: 'c1',
        activityType: 'tool-stream-output',
        content: { delta: '' },
        replace: true,
      },
      { type: 'ACTIVITY_DELTA', patch: [{ op: 'add', path: '/delta', value: 'a' }] },
      { type: 'ACTIVITY_DELTA', messageId: 'c1', patch: [{ value: 'b' }] },
    ],
  );
  const { messages } = await play(frames);
  t.match(
    messages.find(({ role }) => role === 'activity'),
    { id: 'c1', content: { delta: 'b' } },
  );
  const again = encodeAll([...begun, grown('a'), callDone('c1'), grown('c')]);
  t.match(
    eventsOf(again).filter(({ type }) => type.startsWith('ACTIVITY')),
    [
      { type: 'ACTIVITY_SNAPSHOT' },
      { patch: [{ value: 'a' }] },
      { type: 'ACTIVITY_SNAPSHOT', messageId: 'c1', content: { delta: '' } },
      { patch: [{ value: 'c' }] },
    ],
    'output after a result starts another activity',
  );
  const encoder = createAgUiEncoder();
  encodeAll([...begun, grown('a'), stepEnd, runFinish()], encoder);
  t.match(eventsOf(encodeAll([runStart(), grown('b')], encoder)), [
    { type: 'RUN_STARTED' },
    { type: 'ACTIVITY_SNAPSHOT', messageId: 'c1' },
    { type: 'ACTIVITY_DELTA' },
  ]);
});

t.test('emits results with metadata, failures and empty messages', async (t) => {
  const frames = encodeAll([
    runStart(),
    callDone('c1', { data: 'text', metadata: { took: 2 } }),
    callDone('c2', { data: 'text', metadata: {} }),
    callDone('c3', { status: 'error', data: null, message: 'no such city' }),
    callDone('c4', { status: 'error', data: null }),
  ]);
  t.strictSame(summary(frames).slice(1), [
    'TOOL_CALL_RESULT c1 {"data":"text","metadata":{"took":2}}',
    'TOOL_CALL_RESULT c2 "text"',
    'TOOL_CALL_RESULT c3 no such city',
    'TOOL_CALL_RESULT c4 tool error',
  ]);
  t.match(eventsOf(frames).at(-1), { messageId: 'result of c4', role: 'tool' });
});

t.test('closes an interrupted call', async (t) => {
  const begun = [runStart(), stepStart(), callStart('c1'), callDelta('c1', '{"ci')];
  const cancel: RunEvent = { event_type: 'tool_call_cancel', id: 'c1', name: 'look', reason: 'malformed' };
  const cancelled = encodeAll([...begun, cancel, cancel, stepEnd, runFinish()]);
  t.equal(summary(cancelled).filter((line) => line === 'TOOL_CALL_END c1').length, 1);
  const ended = encodeAll([...begun, reset, stepEnd, stepStart('m2'), stepEnd, runFinish()]);
  t.strictSame(summary(ended).slice(4, 6), ['TOOL_CALL_END c1', 'STEP_FINISHED step_1']);
  const stopped = encodeAll([...begun, runFinish({ type: 'cancelled' })]);
  t.strictSame(summary(stopped).slice(4), ['TOOL_CALL_END c1', 'STEP_FINISHED step_1', 'RUN_FINISHED']);
  for (const frames of [cancelled, ended, stopped]) t.equal((await play(frames)).error, undefined);
});

const reset: RunEvent = { event_type: 'stream_reset', reason: 'connection reset' };

t.test('retracts text, reasoning and calls of the step on a reset', async (t) => {
  const question = { id: 'u1', role: 'user' as const, content: 'hi' };
  const encoder = () => createAgUiEncoder({ known: () => [question] });
  const attempts: RunEvent[][] = [
    [text('The capital is Par')],
    [callStart('c1'), callDelta('c1', '{"ci')],
    [text('Hm'), callStart('c1'), callDelta('c1', '{}'), callReady('c1')],
    [reasoning('Hm'), text('The')],
  ];
  for (const attempt of attempts) {
    const events = [runStart(), stepStart(), ...attempt, reset, stepEnd, stepStart('m2'), text('Paris')];
    const frames = encodeAll([...events, stepEnd, runFinish()], encoder());
    const { messages, error } = await play(frames, [question]);
    t.equal(error, undefined);
    const shown = messages.filter(({ role, content }) => role !== 'reasoning' || content !== '');
    t.strictSame(shown, [question, { id: 'm2', role: 'assistant', content: 'Paris' }]);
  }
});

t.test('repeats everything under the same ids when a step continues after a reset', async (t) => {
  const attempt = [reasoning('Hm'), text('I look'), callStart('c1'), callDelta('c1', '{"of":"c1"}')];
  const events = [runStart(), stepStart(), ...attempt, reset, ...attempt, callReady('c1'), callDone('c1')];
  const frames = encodeAll([...events, stepEnd, runFinish()], createAgUiEncoder({ known: () => [] }));
  const { messages, error } = await play(frames);
  t.equal(error, undefined);
  t.match(messages, [
    { id: 'reasoning_m1', content: 'Hm' },
    { id: 'm1', content: 'I look', toolCalls: [{ id: 'c1', function: { arguments: '{"of":"c1"}' } }] },
    { role: 'tool', toolCallId: 'c1' },
  ]);
  t.equal(messages.length, 3);
});

t.test('emits nothing on a reset without output', async (t) => {
  const encoder = createAgUiEncoder({ known: () => [] });
  t.equal(encodeAll([reset], encoder), '');
  encodeAll([runStart(), stepStart()], encoder);
  t.equal(encodeAll([reset, reset], encoder), '');
  encodeAll([text('a')], encoder);
  t.strictSame(summary(encodeAll([reset, reset], encoder)), ['TEXT_MESSAGE_END m1', 'MESSAGES_SNAPSHOT']);
});

t.test('retracts a call after the step that is cancelled while its message continues', async (t) => {
  const cancel: RunEvent = { event_type: 'tool_call_cancel', id: 'c1', name: 'look', reason: 'broken' };
  const known = () => [{ id: 'm1', role: 'assistant' as const, content: 'so far' }];
  const begun = [runStart(), stepStart(), text('so '), callStart('c1'), cancel, text('far'), stepEnd];
  for (const rest of [[runFinish()], [stepStart('m2'), stepEnd, runFinish()]]) {
    const frames = encodeAll([...begun, ...rest], createAgUiEncoder({ known }));
    t.equal(summary(frames).filter((line) => line === 'MESSAGES_SNAPSHOT').length, 1);
    const { messages, error } = await play(frames);
    t.equal(error, undefined);
    t.strictSame(messages, known());
  }
});

t.test('emits the ending of a run', async (t) => {
  const end = (termination: Parameters<typeof runFinish>[0]) =>
    eventsOf(encodeAll([runStart(), runFinish(termination)])).slice(1);
  const finished = [{ type: 'RUN_FINISHED', threadId: 'T', runId: 'R' }];
  t.strictSame(end({ type: 'natural_end' }), finished);
  t.strictSame(end({ type: 'behavior_requested' }), finished);
  t.strictSame(end({ type: 'stopped', value: { code: 'max_rounds' } }), finished);
  t.strictSame(end({ type: 'cancelled' }), finished);
  t.strictSame(end({ type: 'blocked', value: 'no' }), finished);
  t.strictSame(end({ type: 'error', value: 'it broke' }), [{ type: 'RUN_ERROR', message: 'it broke' }]);
  const error: RunEvent = { event_type: 'error', message: 'it broke', code: 'x' };
  t.strictSame(eventsOf(encodeAll([runStart(), error])).slice(1), [
    { type: 'RUN_ERROR', message: 'it broke', code: 'x' },
  ]);
});

t.test('emits a single error for a run that fails before its start, and a run for a cancel', async (t) => {
  const failed = encodeAll([runFinish({ type: 'error', value: 'no agent' })]);
  t.strictSame(summary(failed), ['RUN_ERROR no agent']);
  t.equal((await play(failed)).error, undefined);
  const cancelled = encodeAll([runFinish({ type: 'cancelled' })]);
  t.strictSame(summary(cancelled), ['RUN_STARTED R', 'RUN_FINISHED']);
});

t.test('closes everything open before the end', async (t) => {
  const open = [runStart(), stepStart(), text('Well'), reasoning('Hm')];
  const closing = ['TEXT_MESSAGE_END m1', 'REASONING_MESSAGE_END reasoning_m1', 'STEP_FINISHED step_1'];
  const lines = summary(encodeAll([...open, runFinish()]));
  t.strictSame(lines.slice(-4), [...closing, 'RUN_FINISHED']);
  const failed = summary(encodeAll([...open, { event_type: 'error', message: 'broken' }]));
  t.strictSame(failed.slice(-4), [...closing, 'RUN_ERROR broken']);
});

t.test('continues a run for the client that the end of its process interrupted', async (t) => {
  const open = [runStart(), stepStart(), text('Well'), callStart('c1')];
  const frames = encodeAll([...open, runStart(), stepStart('m2'), text('Again'), stepEnd, runFinish()]);
  t.strictSame(summary(frames).slice(4), [
    'TEXT_MESSAGE_END m1',
    'TOOL_CALL_START c1',
    'TOOL_CALL_END c1',
    'STEP_FINISHED step_1',
    'STEP_STARTED step_2',
    'TEXT_MESSAGE_START m2',
    'TEXT_MESSAGE_CONTENT m2 Again',
    'TEXT_MESSAGE_END m2',
    'STEP_FINISHED step_2',
    'RUN_FINISHED',
  ]);
  t.equal((await play(frames)).error, undefined);
});

t.test('ignores events after the end until another start, which resets the step count', async (t) => {
  const encoder = createAgUiEncoder();
  t.equal(encodeAll([stepStart(), text('early')], encoder), '');
  encodeAll([runStart(), stepStart(), callStart('c1'), text('a'), stepEnd, runFinish()], encoder);
  t.equal(encodeAll([text('b'), stepEnd, runFinish({ type: 'cancelled' })], encoder), '');
  t.equal(encoder.text('b') + encoder.reasoning('c') + encoder.toolDelta('c1', 'd'), '');
  t.strictSame(summary(encodeAll([runStart(), stepStart(' '), text('b')], encoder)), [
    'RUN_STARTED R',
    'STEP_STARTED step_1',
    'TEXT_MESSAGE_START R',
    'TEXT_MESSAGE_CONTENT R b',
  ]);
});

t.test('names the parent run of a sub-agent', async (t) => {
  const event: RunEvent = { event_type: 'run_start', thread_id: 'T', run_id: 'R', parent_run_id: 'P' };
  t.match(eventsOf(encodeAll([event])), [{ parentRunId: 'P' }]);
});

t.test('passes on state and activities, which change the state of the client', async (t) => {
  const frames = encodeAll([
    runStart(),
    snapshot,
    { event_type: 'state_delta', delta: [{ op: 'replace', path: '/revision', value: 2 }] },
    activity('tool-call-progress', { status: 'running' }),
    {
      event_type: 'activity_delta',
      message_id: 'a1',
      activity_type: 'tool-call-progress',
      patch: [{ op: 'replace', path: '/status', value: 'done' }],
    },
    runFinish(),
  ]);
  t.match(await play(frames), {
    error: undefined,
    state: { revision: 2, extensions: { key: 'value' } },
    messages: [{ id: 'a1', role: 'activity', content: { status: 'done' } }],
  });
  for (const content of [null, 'text', [1]]) {
    t.match(eventsOf(encodeAll([runStart(), activity('x', content)])).at(-1), {
      content: { value: content },
    });
  }
  const about = { message_id: 'a1', activity_type: 'x', content: {} };
  const kept: RunEvent = { event_type: 'activity_snapshot', ...about, replace: false };
  t.match(eventsOf(encodeAll([runStart(), kept])).at(-1), { replace: false });
});

t.test('emits a message snapshot as official messages', async (t) => {
  const event: RunEvent = {
    event_type: 'messages_snapshot',
    messages: [
      { id: 'u1', role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { id: 's1', role: 'system', content: [{ type: 'text', text: 'secret' }], visibility: 'internal' },
    ],
  };
  const { messages } = await play(encodeAll([runStart(), event, runFinish()]));
  t.strictSame(messages, [{ id: 'u1', role: 'user', content: 'hi' }]);
});

t.test('does not share frames between requests with different results', async (t) => {
  t.equal(agUiProtocol().name, agUiProtocol({ answered: [] }).name);
  t.not(agUiProtocol().name, agUiProtocol({ answered: ['c1'] }).name);
  t.not(agUiProtocol({ answered: ['a', 'b'] }).name, agUiProtocol({ answered: ['a,b'] }).name);
});
