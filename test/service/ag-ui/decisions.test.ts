import { EventSchemas as OldEventSchema } from 'ag-ui-client-0';
import t from 'tap';
import { digestOfCall } from '../../../src/schema/call-digest.ts';
import { says } from '../agent-loop/agents.ts';
import { asks, type Call, hangs } from '../models.ts';
import { eventually } from '../troupe.ts';
import { viewOf } from '../view.ts';
import { type AgUi, find, RUN, startAgUi, taken, textOf, told, typesOf, user } from './ag-ui.ts';

/** Runs that wait for an approval, and the replies (chat-and-agui.md 13, 17). */

/** A run on thread T that waits for these calls, with the events of its first response. */
const suspend = async (agUi: AgUi, ...calls: Call[]) => {
  agUi.models.steps.push(asks(...calls));
  const events = await agUi.ask({ threadId: 'T', agentId: 'steps', messages: [user('u1', 'hi')] });
  return { events, run_id: events[0]?.runId };
};

const interrupt = (toolCallId: string) => ({
  id: `perm_${toolCallId}`,
  reason: 'tool_call',
  toolCallId,
  message: "Permission required for tool 'risky'",
  metadata: {
    action: 'tool:PermissionConfirm',
    digest: digestOfCall({ tool: 'risky', arguments: {} }),
  },
});

const resolved = (interruptId: string, payload?: unknown) => [{ interruptId, status: 'resolved', payload }];

const answer = (agUi: AgUi, resume: unknown, more: object = {}) =>
  agUi.ask({ threadId: 'T', resume, ...more });

t.test('ends the response with an interrupt when a call needs approval', async (t) => {
  const agUi = await startAgUi(t);
  const { events, run_id } = await suspend(agUi, ['c1', 'risky']);
  const last = events.at(-1);
  t.strictSame(last, {
    type: 'RUN_FINISHED',
    threadId: 'T',
    runId: run_id,
    outcome: { type: 'interrupt', interrupts: [interrupt('c1')] },
    interrupt: { id: 'perm_c1', reason: 'tool:PermissionConfirm' },
  });
  t.ok(OldEventSchema.safeParse(last).success);
  t.notOk(typesOf(events).includes('TOOL_CALL_RESULT'));
  t.match(await viewOf(agUi, 'T').run(run_id), { status: 'waiting' });
});

t.test('omits legacy keys for a client that names its protocol version', async (t) => {
  const agUi = await startAgUi(t);
  agUi.models.steps.push(asks(['c1', 'risky']));
  const messages = [user('u1', 'hi')];
  const events = await agUi.ask({ threadId: 'T', agentId: 'steps', messages, protocolVersion: '1.0' });
  t.match(events.at(-1)?.outcome, { type: 'interrupt', interrupts: [interrupt('c1')] });
  t.notOk('interrupt' in (events.at(-1) ?? {}));
});

const APPROVALS: [form: string, resume: unknown][] = [
  ['the list of the protocol', resolved('perm_c1', { approved: true })],
  ['a list that names the call', resolved('c1', { approved: true })],
  ['an object', { interruptId: 'perm_c1', payload: { approved: true } }],
  ['an object with the older name', { interrupt_id: 'perm_c1', payload: { approved: true } }],
];

for (const [form, resume] of APPROVALS) {
  t.test(`continues the same run on an approval: ${form}`, async (t) => {
    const agUi = await startAgUi(t);
    const { run_id } = await suspend(agUi, ['c1', 'risky']);
    agUi.models.steps.push(says('done'));
    const events = await answer(agUi, resume, { messages: [] });
    t.equal(events[0]?.runId, run_id);
    t.match(find(events, 'TOOL_CALL_RESULT'), { toolCallId: 'c1', content: '"did c1"', role: 'tool' });
    t.notOk(typesOf(events).includes('TOOL_CALL_START'));
    t.equal(textOf(events), 'done');
    t.strictSame(agUi.tools.executed, ['c1']);
    await viewOf(agUi, 'T').check(t);
  });
}

for (const [form, resume, why] of [
  ['approved is false', resolved('perm_c1', { approved: false, reason: 'not now' }), ' (not now)'],
  ['a bare cancel', [{ interruptId: 'perm_c1', status: 'cancelled' }], ''],
] as const) {
  t.test(`does not execute a denied call: ${form}`, async (t) => {
    const agUi = await startAgUi(t);
    await suspend(agUi, ['c1', 'risky']);
    const events = await answer(agUi, resume);
    t.match(find(events, 'TOOL_CALL_RESULT').content, '"approved":false');
    t.equal(events.at(-1)?.type, 'RUN_FINISHED');
    t.strictSame(agUi.tools.executed, []);
    t.match(agUi.models.requests.at(-1)?.request.messages.at(-1), {
      role: 'tool',
      tool_call_id: 'c1',
      content: [{ text: `Denied: this call was refused, and nothing was done${why}` }],
    });
    t.strictSame(told(await agUi.items('T')), ['user: hi', 'assistant: echo: hi']);
  });
}

t.test('accepts an approval after a restart', async (t) => {
  const agUi = await startAgUi(t);
  const { run_id } = await suspend(agUi, ['c1', 'risky']);
  await agUi.restart();
  const events = await answer(agUi, resolved('perm_c1', { approved: true }));
  t.equal(events[0]?.runId, run_id);
  t.match(find(events, 'TOOL_CALL_RESULT'), { toolCallId: 'c1' });
});

for (const [log, app] of [
  ['with a log', {}],
  ['without a log', { settings: { event_capture_mode: 'disabled' } }],
] as const) {
  t.test(`keeps the other interrupt open after a decision on one of two calls, ${log}`, async (t) => {
    const agUi = await startAgUi(t, app);
    const { events: first } = await suspend(agUi, ['c1', 'risky'], ['c2', 'risky']);
    t.match(first.at(-1)?.outcome, { interrupts: [interrupt('c1'), interrupt('c2')] });
    const second = await answer(agUi, resolved('perm_c1', { approved: true }));
    const { message, ...known } = interrupt('c2');
    t.match(second.at(-1), {
      outcome: { type: 'interrupt', interrupts: [log === 'with a log' ? { ...known, message } : known] },
      interrupt: { id: 'perm_c2' },
    });
    t.match(find(second, 'TOOL_CALL_RESULT'), { toolCallId: 'c1' });
    const third = await answer(agUi, resolved('perm_c2', { approved: true }));
    t.match(find(third, 'TOOL_CALL_RESULT'), { toolCallId: 'c2' });
    t.notOk(third.at(-1)?.outcome);
    t.strictSame(agUi.tools.executed, ['c1', 'c2']);
  });
}

t.test('continues the run with a new message instead of the decision', async (t) => {
  const agUi = await startAgUi(t);
  const { run_id } = await suspend(agUi, ['c1', 'risky']);
  agUi.models.steps.push(says('instead'));
  const events = await agUi.ask({ threadId: 'T', messages: [user('u1', 'hi'), user('u2', 'never mind')] });
  t.equal(events[0]?.runId, run_id);
  t.equal(textOf(events), 'instead');
  t.notOk(events.at(-1)?.outcome);
  t.strictSame(told(await agUi.items('T')), ['user: hi', 'user: never mind', 'assistant: instead']);
});

t.test('repeats the interrupts when a request is sent again while the run is suspended', async (t) => {
  const agUi = await startAgUi(t);
  const { run_id } = await suspend(agUi, ['c1', 'risky']);
  const again = await agUi.ask({ threadId: 'T', agentId: 'steps', messages: [user('u1', 'hi')] });
  t.equal(again[0]?.runId, run_id);
  t.match(again.at(-1)?.outcome, { interrupts: [interrupt('c1')] });
  t.notOk(typesOf(again).includes('STEP_STARTED'));
  const events = await answer(agUi, resolved('perm_c1', { approved: true }));
  t.match(find(events, 'TOOL_CALL_RESULT'), { toolCallId: 'c1' });
});

t.test('executes a duplicate decision once', async (t) => {
  const agUi = await startAgUi(t);
  await suspend(agUi, ['c1', 'risky']);
  const approve = () => answer(agUi, resolved('perm_c1', { approved: true }));
  const both = await Promise.all([approve(), approve()]);
  t.strictSame(both.map((events) => events.at(-1)?.type).sort(), ['RUN_ERROR', 'RUN_FINISHED']);
  t.strictSame(typesOf(await approve()), ['RUN_ERROR']);
  t.strictSame(agUi.tools.executed, ['c1']);
  await viewOf(agUi, 'T').check(t);
});

t.test('opens a separate stream for a decision while other calls are executing', async (t) => {
  const agUi = await startAgUi(t);
  await suspend(agUi, ['c1', 'guarded'], ['c2', 'risky']);
  const first = await agUi.open(RUN, { threadId: 'T', resume: resolved('perm_c1', { approved: true }) });
  await eventually(
    async () => agUi.tools.holding(),
    (ids) => ids.includes('c1'),
  );
  const second = await agUi.open(RUN, { threadId: 'T', resume: resolved('perm_c2', { approved: true }) });
  agUi.tools.release();
  for (const stream of [first, second]) {
    const events = (await stream.rest()).map(({ frame }) => frame);
    t.equal(events[0]?.type, 'RUN_STARTED');
    t.equal(events.at(-1)?.type, 'RUN_FINISHED');
    await taken(events);
  }
  t.strictSame(agUi.tools.executed.toSorted(), ['c1', 'c2']);
});

t.test('ends a run cleanly that is cancelled in its response to an approval', async (t) => {
  const agUi = await startAgUi(t);
  await suspend(agUi, ['c1', 'risky']);
  agUi.models.steps.push(hangs('half'));
  const stream = await agUi.open(RUN, { threadId: 'T', resume: resolved('perm_c1', { approved: true }) });
  const before = await stream.until('TEXT_MESSAGE_CONTENT');
  t.equal((await agUi.post('/v1/ag-ui/threads/T/interrupt')).status, 202);
  const events = [...before, ...(await stream.rest())].map(({ frame }) => frame);
  await taken(events);
  t.match(events.at(-1), { result: { status_reason: 'cancelled' } });
});
