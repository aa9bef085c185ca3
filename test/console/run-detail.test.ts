import t from 'tap';
import { dispatchMachine } from '../../machines/dispatch.ts';
import { runMachine } from '../../machines/run.ts';
import { threadMachine } from '../../machines/thread.ts';
import { toolCallMachine } from '../../machines/tool-call.ts';
import { addTo, createLog, cursorOf, LogEvent } from '../../src/console/event-log/event.ts';
import { createWays, machines } from '../../src/console/run-course/machine.ts';
import { courseOf, isEnd } from '../../src/console/run-course/moments.ts';
import { noteOf, Run, reasonOf, stateOf } from '../../src/console/run-records/run.ts';
import { type Part, partAt, partsOf, stepsOf } from '../../src/console/run-view/parts.ts';
import {
  notableSpan,
  placeOf,
  rangeOf,
  type Span,
  toolName,
  waitedIn,
} from '../../src/console/run-view/span.ts';
import { spansOf } from '../../src/console/run-view/spans.ts';
import { recordedIn, refined, spansOfTrace } from '../../src/console/run-view/trace-spans.ts';
import { usageOf } from '../../src/console/run-view/usage.ts';
import { adviceFor } from '../../src/console/screens/run-detail/advice.ts';
import { gistOf } from '../../src/console/screens/run-detail/gist.ts';
import { describeMachine } from '../../src/diagrams/describe.ts';

/** Interpretation of a run's events. */

const described = [describeMachine('thread', threadMachine), describeMachine('run', runMachine)];
const run = machines.guard(JSON.parse(JSON.stringify(described)), '').find(({ name }) => name === 'run');
if (!run) throw new Error('the catalogue has no run machine');
const ways = createWays(run);

let serial = 0;
const event = (event_kind: string, payload: object = {}, created_at = (serial + 1) * 10): LogEvent => {
  serial += 1;
  return LogEvent({ event_id: `e${serial}`, event_kind, payload, created_at }, '');
};

const BEGINS = () => [event('RunQueued'), event('RunSubmitted'), event('RunStarted')];
const call = (id: string, name = 'get_weather') => event('ToolCallReady', { id, name, arguments: {} });
const asks = (...ids: string[]) => [
  ...ids.map((id) => call(id)),
  event('InferenceComplete', {
    model: 'm',
    usage: { prompt_tokens: 10, completion_tokens: 5 },
    duration_ms: 4,
  }),
];
const answers = () =>
  event('InferenceComplete', {
    model: 'm',
    usage: { prompt_tokens: 20, completion_tokens: 7 },
    duration_ms: 4,
  });
const done = (id: string, more: object = {}) =>
  event('ToolCallDone', {
    id,
    outcome: 'succeeded',
    result: { tool_name: 'get_weather', status: 'success' },
    ...more,
  });
const stored = () => event('ThreadMessagesCheckpointed');
const suspended = (id: string) =>
  event('ToolCallSuspended', { id, result: { tool_name: 'get_weather', status: 'pending' } });

const endsIn = (events: readonly LogEvent[]): string | undefined =>
  courseOf(events, ways).moments.at(-1)?.state;

/** Checks that every step is a transition of the machine and starts where the previous one ended. */
const isWhole = (t: Tap, events: readonly LogEvent[]): void => {
  const { steps } = courseOf(events, ways);
  let at = 'created';
  for (const step of steps) {
    const known: (typeof run.transitions)[number] | undefined = run.transitions.find(
      ({ id }) => id === step.transition,
    );
    t.ok(known && (at === known.from || at.startsWith(`${known.from}.`)), step.transition);
    t.equal(step.from, at);
    t.equal(step.to, known && ways.leafOf(known.to ?? step.from));
    at = step.to;
  }
};
type Tap = Pick<typeof t, 'ok' | 'equal'>;

t.test('derives the path of a run through its machine', async (t) => {
  const asked = [
    ...BEGINS(),
    ...asks('a'),
    suspended('a'),
    event('ToolPermissionRequested', { id: 'a' }),
    stored(),
    event('RunSuspended'),
  ];
  t.equal(endsIn(asked), 'waiting.forDecision.parked');
  t.equal(courseOf(asked, ways).moments.at(-1)?.status, 'waiting');
  const decided = [
    ...asked,
    event('MailboxDecisionReceived', { tool_call_id: 'a' }),
    event('RunResumed'),
    event('ToolCallResumed', { target_id: 'a' }),
    stored(),
    answers(),
    event('RunFinished'),
  ];
  isWhole(t, decided);
  const { moments, steps } = courseOf(decided, ways);
  t.strictSame([...new Set(moments.map(({ status }) => status))], ['created', 'running', 'waiting', 'done']);
  t.strictSame(
    steps.map(({ to }) => to),
    [
      'running.inferring',
      'running.acting',
      'waiting.forDecision.parking',
      'waiting.forDecision.parked',
      'running.deciding',
      'running.inferring',
      'ending',
      'completed',
    ],
  );
});

t.test('derives each waiting and final state', async (t) => {
  t.equal(
    endsIn([...BEGINS(), ...asks('a'), suspended('a'), event('RunSuspended')]),
    'waiting.forInput.parked',
  );
  const waits = event('RunSuspended', { result: { status: 'waiting' } });
  t.equal(endsIn([...BEGINS(), answers(), waits]), 'waiting.forTasks.parked');
  t.equal(endsIn([...BEGINS(), event('RunCancelled')]), 'cancelled');
  t.equal(endsIn([...BEGINS(), event('RunErrored')]), 'failed');
  t.equal(endsIn([...BEGINS(), event('RunTerminated', { termination: { type: 'blocked' } })]), 'blocked');
  t.equal(endsIn([...BEGINS(), event('RunTerminated', { termination: { type: 'stopped' } })]), 'completed');
  t.equal(endsIn([event('RunQueued'), event('RunCancelled')]), 'cancelled');
  t.equal(endsIn([...BEGINS(), event('RunRescheduled')]), 'running.retrying.pausing');
  t.equal(endsIn([event('RunQueued'), event('RunRescheduled')]), 'created');
  t.equal(endsIn([...BEGINS(), ...asks('a', 'b'), done('a'), stored()]), 'running.acting');
  t.equal(endsIn([...BEGINS(), ...asks('a', 'b'), done('a'), done('b'), stored()]), 'running.checkpointing');
  t.equal(endsIn([...BEGINS(), event('SomethingNew')]), 'running.inferring');
  for (const end of ['RunCancelled', 'RunErrored', 'RunFinished']) {
    for (const before of [BEGINS(), [...BEGINS(), ...asks('a')], [event('RunQueued')]]) {
      isWhole(t, [...before, event(end)]);
    }
  }
  t.ok(isEnd(event('RunTerminated')));
  t.notOk(isEnd(event('RunSuspended')));
  t.strictSame(courseOf(BEGINS(), undefined).steps, [], 'without the machine the course has no steps');
});

t.test('tracks the last message at each event', async (t) => {
  const { moments } = courseOf(
    [event('RunQueued'), event('MessageCommitted', { message_seq: 4 }), event('RunStarted')],
    ways,
  );
  t.strictSame(
    moments.map(({ seq }) => seq),
    [undefined, 4, 4],
  );
});

/** The fields of spans that a test compares. */
const shown = (spans: readonly Span[]) =>
  spans.map(({ kind, name, from, to, waits, hasFailed, attempt }) => ({
    kind,
    name,
    from,
    to,
    ...(waits.length > 0 && { waits }),
    ...(hasFailed && { hasFailed }),
    ...(attempt !== undefined && { attempt }),
  }));

t.test('derives the spans of a run with its critical path', async (t) => {
  const events = [
    event('RunQueued', {}, 0),
    event('RunSubmitted', {}, 50),
    event('RunStarted', {}, 50),
    event('ToolCallReady', { id: 'a', name: 'slow', arguments: { q: 'x' } }, 100),
    event('ToolCallReady', { id: 'b', name: 'quick' }, 100),
    event('InferenceComplete', { model: 'm', duration_ms: 40 }, 100),
    event('ToolCallDone', { id: 'b', outcome: 'failed', result: { status: 'error', message: 'no' } }, 110),
    event('ToolCallDone', { id: 'a', outcome: 'succeeded' }, 200),
    event('ToolCallReady', { id: 'c', name: 'ask' }, 250),
    event('InferenceComplete', { model: 'm', duration_ms: 50 }, 250),
    event('ToolCallSuspended', { id: 'c', result: { tool_name: 'ask' } }, 251),
  ];
  const spans = spansOf(events, 'agent');
  t.strictSame(shown(spans), [
    { kind: 'run', name: 'agent', from: 0, to: undefined },
    { kind: 'queue', name: '', from: 0, to: 50 },
    { kind: 'inference', name: 'm', from: 60, to: 100 },
    { kind: 'tool', name: 'slow', from: 100, to: 200 },
    { kind: 'tool', name: 'quick', from: 100, to: 110, hasFailed: true },
    { kind: 'inference', name: 'm', from: 200, to: 250 },
    { kind: 'tool', name: 'ask', from: 250, to: undefined, waits: [{ from: 251, to: undefined }] },
  ]);
  t.strictSame(
    spans.map(({ step }) => step),
    [0, 0, 0, 0, 0, 1, 1],
    'each span has the index of its inference',
  );
  const named = (name: string) => spans.find((span) => span.name === name);
  t.match(named('slow'), { isCritical: true, detail: { arguments: { q: 'x' }, outcome: 'succeeded' } });
  t.match(named('quick'), { isCritical: false, error: 'no' });
  t.equal(notableSpan(spans, false)?.name, 'ask', 'the call that waits is shown first');
  const range = rangeOf(spans, 1000);
  t.strictSame(range, { from: 0, to: 1000 });
  t.strictSame(placeOf({ from: 250, to: undefined }, range, 1000), { left: 0.25, width: 0.75 });
  const trace = [{ type: 'tool', call_id: 'a', started_at_ms: 120, ended_at_ms: 190 }];
  t.match(
    refined(spans, trace as never).find(({ name }) => name === 'slow'),
    { from: 120, to: 190 },
  );
  const decided = [
    ...events,
    event('MailboxDecisionReceived', { tool_call_id: 'c' }, 400),
    event('RunResumed', {}, 410),
    event('ToolCallResumed', { target_id: 'c', action: 'resume', result: { ok: true } }, 450),
  ];
  const resumed = spansOf(decided).find(({ name }) => name === 'ask');
  t.match(resumed, { from: 250, to: 450, waits: [{ from: 251, to: 400 }], hasFailed: false });
  t.equal(resumed && waitedIn(resumed, 0), 149, 'the wait ends with the decision, before the execution');
  t.match(
    spansOf(decided).at(-1),
    { kind: 'inference', from: 450, to: undefined },
    'the model is called again',
  );
  const ended = spansOf([...events, event('RunCancelled', {}, 300)]);
  t.ok(
    ended.every(({ to, waits }) => to !== undefined && waits.every((wait) => wait.to !== undefined)),
    'no span is open after the end of the run',
  );
});

t.test('shows each attempt of an inference with its error and the pause after it', async (t) => {
  const retries = [{ failed_at: 30, error: 'provider error: busy', wait_ms: 20 }];
  const error = 'inference failed: provider error: down';
  const begun = [event('RunQueued', {}, 0), event('RunSubmitted', {}, 10), event('RunStarted', {}, 10)];
  const failing = [
    ...begun,
    event('StreamReset', { reason: 'resumed from checkpoint', error, retries }, 70),
    event('RunRescheduled', { reason: 'retry_backoff', error }, 70),
    event('RunSubmitted', {}, 170),
  ];
  const attempts = [
    { from: 10, to: 50, waits: [{ from: 30, to: 50 }], hasFailed: true, attempt: 1 },
    { from: 50, to: 170, waits: [{ from: 70, to: 170 }], hasFailed: true, attempt: 2 },
  ].map((each) => ({ kind: 'inference', name: '', ...each }));
  const inferences = (spans: readonly Span[]) => shown(spans).filter(({ kind }) => kind === 'inference');
  const failed = spansOf([
    ...failing,
    event('RunErrored', { termination: { type: 'error', value: error } }, 180),
  ]);
  t.strictSame(inferences(failed), [
    ...attempts,
    { kind: 'inference', name: '', from: 170, to: 180, hasFailed: true, attempt: 3 },
  ]);
  t.match(failed[0], { kind: 'run', hasFailed: true, error: 'provider error: down' });
  t.match(notableSpan(failed, true), { attempt: 3, error: 'provider error: down' });
  t.strictSame(usageOf(failed), [], 'failed attempts have no usage');
  const answered = (more: object, at: number) => [
    event('InferenceComplete', { model: 'm', ...more }, at),
    event('RunFinished', {}, at),
  ];
  const recovered = spansOf([...failing, ...answered({ duration_ms: 9 }, 180)]);
  t.strictSame(inferences(recovered), [
    ...attempts,
    { kind: 'inference', name: 'm', from: 171, to: 180, attempt: 3 },
  ]);
  const once = spansOf([...begun, ...answered({ duration_ms: 90, retries }, 100)]);
  t.strictSame(inferences(once), [
    { ...attempts[0], name: 'm' },
    { kind: 'inference', name: 'm', from: 50, to: 100, attempt: 2 },
  ]);
  const lost = spansOf([...begun, event('RunRescheduled', { reason: 'expired_lease_reclaimed' }, 60)]);
  t.match(lost.at(-1), { kind: 'restart', waits: [{ from: 60, to: undefined }] });
});

t.test('finds the run of a delegate, and names tools by their server', async (t) => {
  const result = { status: 'success', metadata: { child_run_id: 'child' } };
  const spans = spansOf([event('RunQueued'), call('a', 'agent_run_writer'), done('a', { result })]);
  t.equal(spans.find(({ kind }) => kind === 'tool')?.childRunId, 'child');
  t.strictSame(toolName('agent_run_writer'), { name: 'writer', agent: 'writer' });
  t.strictSame(toolName('mcp__my_server__get_sum'), { name: 'get_sum', server: 'my_server' });
  t.strictSame(toolName('get_weather'), { name: 'get_weather' });
});

t.test('rebuilds the input of each inference from a trace', async (t) => {
  const asked = { id: 'm', role: 'user', content: [{ type: 'text', text: 'Hi' }] };
  const calls = [{ id: 'c', name: 'search', arguments: {} }];
  const spans = spansOfTrace([
    {
      type: 'inference',
      started_at_ms: 1,
      ended_at_ms: 2,
      request_messages: [asked],
      response_tool_calls: calls,
    },
    { type: 'tool', call_id: 'c', name: 'search', started_at_ms: 3, ended_at_ms: 4, call_result: { n: 1 } },
    {
      type: 'inference',
      started_at_ms: 5,
      ended_at_ms: 6,
      response_content: [{ type: 'text', text: 'Done' }],
    },
  ] as never);
  const last = spans.at(-1);
  t.ok(last);
  if (!last) return;
  const { messages, response } = recordedIn(spans, last);
  t.strictSame(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool'],
  );
  t.match(response, { content: [{ text: 'Done' }] });
});

t.test('advises on the next step after a failure', async (t) => {
  t.match(adviceFor('error', 'inference failed: unauthorized: bad key'), {
    screen: 'providers',
    text: 'key',
  });
  t.match(adviceFor('error', 'inference failed: model not found: x'), { screen: 'models' });
  t.match(adviceFor('error', 'inference failed: timeout: 60 s'), { text: 'provider' });
  t.match(adviceFor('stopped', 'max_rounds'), { screen: 'agent', text: 'limit' });
  t.match(adviceFor('error', 'a hook failed'), { text: 'other' });
});

t.test(
  'adds up the costs of inferences by model, and shows none where the service reports none',
  async (t) => {
    const inference = (model: string, cost_usd?: number) =>
      event('InferenceComplete', {
        model,
        usage: { prompt_tokens: 20, completion_tokens: 7 },
        ...(cost_usd !== undefined && { cost_usd }),
      });
    const spans = spansOf([inference('m', 0.25), inference('x'), inference('m', 0.5), inference('m')]);
    t.strictSame(usageOf(spans), [
      { model: 'm', inferences: 3, input: 60, output: 21, cost: 0.75 },
      { model: 'x', inferences: 1, input: 20, output: 7, cost: undefined },
    ]);
  },
);

t.test('keeps each event of a log once', async (t) => {
  const log = createLog();
  const [first, second] = [event('A'), event('B')];
  t.ok(addTo(log, [first]));
  t.ok(addTo(log, [first, second]));
  t.notOk(addTo(log, [second]));
  t.equal(log.events.length, 2);
  const placed = LogEvent(
    {
      event_id: 'x',
      event_kind: 'A',
      created_at: 1,
      cursors_by_scope: [
        { scope: { scope_type: 'thread', thread_id: 't' }, cursor: '7' },
        { scope: { scope_type: 'run', run_id: 'r' }, cursor: '3' },
      ],
    },
    '',
  );
  t.equal(cursorOf(placed, 'run'), '3');
  t.equal(cursorOf(placed, 'thread'), '7');
  t.equal(cursorOf(first, 'run'), undefined);
});

t.test('limits event summaries and masks secrets', async (t) => {
  const long = gistOf(
    event('MessageCommitted', { role: 'user', content_blocks: [{ text: 'x'.repeat(1e6) }] }),
  );
  t.ok(long.length < 200);
  const secret = gistOf(call('a', 'login'));
  t.equal(secret, 'login {}');
  const shown = gistOf(event('ToolCallReady', { name: 'login', arguments: { password: 'hunter2' } }));
  t.notMatch(shown, /hunter2/);
  t.match(gistOf(event('MailboxDecisionReceived', { action: 'resume', decided_by: 'ann' })), /resume · ann/);
});

t.test('explains waits and ends, including unknown kinds', async (t) => {
  const of = (more: object) =>
    Run(
      { run_id: 'r', thread_id: 't', agent_id: 'a', status: 'done', created_at: 1, updated_at: 1, ...more },
      '',
    );
  const stopped = of({
    termination_reason: { type: 'stopped', value: { code: 'max_rounds', detail: '3 rounds' } },
  });
  t.match(stateOf(stopped), { text: 'state.stopped', code: 'max rounds', tone: 'warn' });
  t.match(reasonOf(stopped), { kind: 'stopped', detail: 'max_rounds: 3 rounds' });
  t.match(noteOf(stopped), { detail: '3 rounds' }, 'a list shows the code in the state');
  t.match(stateOf(of({ termination_reason: { type: 'odd' } })), { text: undefined, kind: 'odd' });
  t.match(reasonOf(of({ termination_reason: { type: 'error', value: 'no model' } })), { detail: 'no model' });
  t.match(reasonOf(of({ status: 'waiting', waiting: { reason: 'tool_permission', tickets: null } })), {
    text: 'waits.tool_permission',
  });
  t.equal(reasonOf(of({})), undefined);
  t.match(stateOf(of({ status: 'odd' })), { text: undefined, tone: 'none' });
  t.match(stateOf(of({})), { text: 'state.completed', tone: 'success' });
});

const recordWays = new Map(
  machines
    .guard(
      JSON.parse(
        JSON.stringify([
          describeMachine('tool-call', toolCallMachine),
          describeMachine('dispatch', dispatchMachine),
        ]),
      ),
      '',
    )
    .map((machine) => [machine.name, createWays(machine)] as const),
);

/** Checks that every move is one transition of the machine. @returns the states, including the first one */
const courseOfPart = (t: Tap, part: Part): string[] => {
  const ways = recordWays.get(part.machine);
  const now = partAt(part, Number.POSITIVE_INFINITY);
  const steps = ways && now ? stepsOf(part, now.moves, ways) : [];
  const states = [part.begins.state, ...(now?.moves ?? []).map(({ state }) => state)];
  t.equal(steps.map(({ to }) => to).join(), states.slice(1).join(), 'each transition has one step');
  return states;
};

const delivery = (kind: string, dispatch_id: string, more: object = {}) =>
  event(kind, { dispatch_id, ...more });
const delivered = (id: string) => [delivery('RunQueued', id), delivery('RunSubmitted', id)];

t.test('derives the states of tool calls', async (t) => {
  const courses = (events: readonly LogEvent[]): string[] =>
    partsOf(events)
      .filter(({ machine }) => machine === 'tool-call')
      .map((part) => courseOfPart(t, part).join(' '));
  const asked = [...asks('a'), suspended('a'), event('ToolPermissionRequested', { id: 'a' })];
  const resumed = (action: string, result: unknown) =>
    event('ToolCallResumed', { target_id: 'a', action, result });
  t.strictSame(courses(asks('a')), ['new']);
  t.strictSame(courses([...asks('a', 'b'), done('a')]), ['new running succeeded', 'new']);
  t.strictSame(courses([...asks('a'), done('a', { outcome: 'failed' })]), ['new running failed']);
  t.strictSame(courses([...asks('a'), event('ToolCallRejected', { id: 'a' })]), ['new failed']);
  t.strictSame(courses([...asks('a'), event('ToolCallTimedOut', { id: 'a' })]), ['new running failed']);
  t.strictSame(courses(asked), ['new suspended'], 'a gate suspends the call before the tool is executed');
  t.strictSame(
    courses([...asks('a'), suspended('a')]),
    ['new running suspended'],
    'a tool suspends its call during the execution',
  );
  t.strictSame(courses([...asked, resumed('resume', { sunny: true })]), [
    'new suspended resuming running succeeded',
  ]);
  t.strictSame(courses([...asked, resumed('resume', { error: 'no' })]), [
    'new suspended resuming running failed',
  ]);
  t.strictSame(courses([...asked, resumed('cancel', null)]), ['new suspended cancelled']);
  t.strictSame(courses([...asked, suspended('a'), event('ToolPermissionRequested', { id: 'a' })]), [
    'new suspended resuming suspended',
  ]);
  t.strictSame(
    courses([...asked, event('RunSuspended')]),
    ['new suspended'],
    'a call is suspended with its run',
  );
  t.strictSame(courses([...asks('a', 'b'), done('b'), event('RunCancelled')]), [
    'new cancelled',
    'new running succeeded',
  ]);
  t.strictSame(
    courses([done('a'), event('ToolCallDone', {})]),
    [],
    'a result without a request creates no call',
  );
});

t.test('derives the states of dispatches', async (t) => {
  const courses = (events: readonly LogEvent[]): string[] =>
    partsOf(events)
      .filter(({ machine }) => machine === 'dispatch')
      .map((part) => courseOfPart(t, part).join(' '));
  t.strictSame(courses([delivery('RunQueued', 'd')]), ['queued']);
  t.strictSame(courses([...delivered('d'), event('RunFinished')]), ['queued claimed acked']);
  t.strictSame(courses([...delivered('d'), event('RunSuspended')]), ['queued claimed']);
  t.strictSame(courses([...delivered('d'), event('RunSuspended'), ...delivered('e'), event('RunFinished')]), [
    'queued claimed acked',
    'queued claimed acked',
  ]);
  t.strictSame(courses([...delivered('d'), event('RunErrored')]), ['queued claimed deadLetter']);
  t.strictSame(
    courses([...delivered('d'), delivery('RunRescheduled', 'd'), delivery('RunSubmitted', 'd')]),
    ['queued claimed queued claimed'],
    'the second attempt is queued again',
  );
  t.strictSame(courses([...delivered('d'), delivery('RunInterrupted', 'd'), event('RunCancelled')]), [
    'queued claimed superseded',
  ]);
  const withdrawn = [delivery('RunQueued', 'd'), delivery('RunCancelled', 'd', { status: 'cancelled' })];
  t.strictSame(courses(withdrawn), ['queued cancelled']);
  t.strictSame(
    courses([delivery('RunQueued', 'd'), delivery('RunCancelled', 'd', { status: 'superseded' })]),
    ['queued superseded'],
  );
});

t.test('finds the state of a part at a moment', async (t) => {
  const events = [...delivered('d'), ...asks('a'), done('a')];
  const [, call] = partsOf(events);
  t.equal(call && partAt(call, 2), undefined, 'the call has no state before its request');
  t.equal(call && partAt(call, 3)?.state, 'new');
  t.equal(call && partAt(call, events.length)?.state, 'succeeded');
});
