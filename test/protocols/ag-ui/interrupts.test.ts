import t from 'tap';
import { createAgUiEncoder } from '../../../src/protocols/ag-ui/encoder.ts';
import { noteTickets, type OpenTickets } from '../../../src/protocols/ag-ui/interrupts.ts';
import type { RunEvent } from '../../../src/schema/run-event.ts';
import {
  callDone,
  callReady,
  callStart,
  inference,
  isForClient,
  needsApproval,
  resumed,
  runFinish,
  runStart,
  snapshot,
  stepEnd,
  stepStart,
  text,
} from '../ai-sdk/events.ts';
import { createClient, encodeAll, eventsOf, play, summary, VERSIONS } from './client.ts';

/** chat-and-agui.md 13. */

const asked = (...ids: string[]): RunEvent[] => [
  runStart(),
  stepStart(),
  ...ids.flatMap((id) => [callStart(id), callReady(id)]),
  inference,
];

const suspends = [snapshot, stepEnd, snapshot, runFinish({ type: 'suspended' })];

const goesOn = [stepStart('m2'), text('Done.'), inference, stepEnd, snapshot, runFinish()];

const endOf = (events: readonly RunEvent[], options?: Parameters<typeof createAgUiEncoder>[0]) =>
  eventsOf(encodeAll(events, createAgUiEncoder(options))).at(-1);

t.test('interrupts the run with one entry for each call that needs a person', async (t) => {
  const events = [...asked('c1', 'c2'), needsApproval('c1'), needsApproval('c2'), ...suspends];
  const entry = (id: string) => ({
    id: `perm_${id}`,
    reason: 'tool_call',
    toolCallId: id,
    message: "Permission required for tool 'look'",
    metadata: { action: 'tool:PermissionConfirm' },
  });
  t.strictSame(endOf(events), {
    type: 'RUN_FINISHED',
    threadId: 'T',
    runId: 'R',
    outcome: { type: 'interrupt', interrupts: [entry('c1'), entry('c2')] },
    interrupt: { id: 'perm_c2', reason: 'tool:PermissionConfirm' },
  });
  const { interrupts } = await play(encodeAll(events));
  t.strictSame(interrupts, [entry('c1'), entry('c2')]);
});

for (const Version of VERSIONS) {
  t.test('continues the same messages once the client has answered every interrupt', async (t) => {
    const client = createClient(Version);
    const first = await client.play(encodeAll([...asked('c1'), needsApproval('c1'), ...suspends]));
    t.equal(first.interrupts.length, 1);
    t.match(
      (await client.play('')).error,
      /pending interrupt/,
      'a request without a response to the interrupt is rejected',
    );
    const response = encodeAll([runStart(), resumed('c1', { temp: 7 }), ...goesOn]);
    t.strictSame(summary(response).slice(0, 3), [
      'RUN_STARTED R',
      'TOOL_CALL_RESULT c1 {"temp":7}',
      'STEP_STARTED step_1',
    ]);
    const resume = [{ interruptId: 'perm_c1', status: 'resolved' as const, payload: { approved: true } }];
    const { messages, interrupts, error } = await client.play(response, { resume });
    t.equal(error, undefined);
    t.strictSame(interrupts, []);
    t.match(client.sent.at(-1), { resume });
    t.match(messages, [
      { id: 'm1', toolCalls: [{ id: 'c1' }] },
      { id: 'decision on c1', role: 'tool', toolCallId: 'c1', content: '{"temp":7}' },
      { id: 'm2', content: 'Done.' },
    ]);
  });

  t.test('needs no interrupt for a client tool, and does not echo its result', async (t) => {
    const client = createClient(Version);
    const waiting = encodeAll([...asked('c1'), isForClient('c1'), ...suspends]);
    t.strictSame(eventsOf(waiting).at(-1), { type: 'RUN_FINISHED', threadId: 'T', runId: 'R' });
    t.strictSame((await client.play(waiting)).interrupts, []);
    client.agent.addMessage({ id: 't1', role: 'tool', toolCallId: 'c1', content: '42' });
    const encoder = createAgUiEncoder({ answered: ['c1'] });
    const { messages, error } = await client.play(
      encodeAll([runStart(), resumed('c1', 42), ...goesOn], encoder),
    );
    t.equal(error, undefined);
    t.match(client.sent.at(-1), { messages: [{}, { id: 't1', role: 'tool', content: '42' }] });
    t.strictSame(
      messages.map(({ id }) => id),
      ['m1', 't1', 'm2'],
    );
  });
}

t.test('interrupts only for the calls that need a person', async (t) => {
  const events = [...asked('c1', 'c2'), needsApproval('c1'), isForClient('c2'), ...suspends];
  t.match(endOf(events), {
    outcome: { interrupts: [{ id: 'perm_c1' }] },
    interrupt: { id: 'perm_c1' },
  });
  t.equal((await play(encodeAll(events))).interrupts.length, 1);
});

t.test('identifies a suspended call without a ticket by its id', async (t) => {
  const events = [...asked('c1'), callDone('c1', { status: 'pending', data: null }), ...suspends];
  t.match(endOf(events), {
    outcome: { interrupts: [{ id: 'c1', reason: 'tool_call', toolCallId: 'c1' }] },
    interrupt: { reason: 'tool_approval' },
  });
});

t.test('describes the expected response of a ticket', async (t) => {
  const ticket = (response_schema: null | boolean | Record<string, string>) =>
    callDone('c1', {
      status: 'pending',
      data: null,
      suspension: {
        suspension: { id: ' ', action: 'ask', response_schema },
        pending: { id: 'x', name: 'look', arguments: {} },
        resume_mode: 'pass_decision_to_tool',
      },
    });
  const responseSchema = { type: 'string' };
  const end = endOf([...asked('c1'), ticket(responseSchema), ...suspends]);
  t.match(end, { outcome: { interrupts: [{ id: 'c1', responseSchema, metadata: { action: 'ask' } }] } });
  const odd = endOf([...asked('c1'), ticket(true), ...suspends]);
  t.notOk(
    JSON.stringify(odd).includes('responseSchema'),
    'the schema is omitted, because the official type is an object',
  );
});

t.test('accepts an ordinary message for a remote agent that waits for input', async (t) => {
  const result = { response: 'Which city?', status: 'waiting_input', status_reason: 'input_required' };
  const run = { thread_id: 'T', run_id: 'R' };
  const events: RunEvent[] = [
    runStart(),
    { event_type: 'run_finish', ...run, result, termination: { type: 'suspended' } },
  ];
  t.strictSame(endOf(events), {
    type: 'RUN_FINISHED',
    threadId: 'T',
    runId: 'R',
    result,
    interrupt: { reason: 'tool_approval' },
  });
  t.match(await play(encodeAll(events)), { interrupts: [], result });
});

t.test('repeats open interrupts of earlier responses, but not answered ones', async (t) => {
  const earlier = [...asked('c1', 'c2', 'c3'), needsApproval('c1'), needsApproval('c2'), needsApproval('c3')];
  const waiting: OpenTickets = new Map();
  for (const event of earlier) noteTickets(waiting, event);
  t.strictSame([...waiting.keys()], ['c1', 'c2', 'c3']);
  const partly = [
    runStart(),
    resumed('c1', 7),
    needsApproval('c2'),
    snapshot,
    runFinish({ type: 'suspended' }),
  ];
  const open = { outcome: { interrupts: [{ id: 'perm_c3' }, { id: 'perm_c2' }] } };
  t.match(endOf(partly, { waiting }), open);
  t.match(
    endOf([...earlier, ...suspends, ...partly]),
    open,
    'one encoder for all responses needs no earlier tickets',
  );
  t.equal(waiting.size, 3, 'the input is not changed');
});

t.test('does not repeat superseded calls in the interrupts of a later step', async (t) => {
  const later = [runStart(), stepStart('m2'), callReady('c2'), inference, needsApproval('c2'), ...suspends];
  const end = endOf([...asked('c1'), needsApproval('c1'), ...suspends, ...later]);
  t.match(end, { outcome: { interrupts: [{ id: 'perm_c2' }] } });
  t.notOk(JSON.stringify(end).includes('perm_c1'));
});

t.test('emits denials and failures as results', async (t) => {
  const frames = encodeAll([
    runStart(),
    resumed('c1', { approved: false }, 'cancel'),
    resumed('c2', { error: 'gone' }),
    ...goesOn,
  ]);
  t.strictSame(summary(frames).slice(1, 3), [
    'TOOL_CALL_RESULT c1 {"approved":false}',
    'TOOL_CALL_RESULT c2 {"error":"gone"}',
  ]);
});
