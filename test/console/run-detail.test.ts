import t from 'tap';
import { dispatchMachine } from '../../machines/dispatch.ts';
import { runMachine } from '../../machines/run.ts';
import { threadMachine } from '../../machines/thread.ts';
import { toolCallMachine } from '../../machines/tool-call.ts';
import { addTo, createLog, cursorOf, LogEvent } from '../../src/console/events/event.ts';
import { Run, reasonOf, toneOf } from '../../src/console/runs/run.ts';
import { gistOf } from '../../src/console/screens/run-detail/gist.ts';
import { createWays, machines } from '../../src/console/screens/run-detail/machine.ts';
import { courseOf, isEnd } from '../../src/console/screens/run-detail/moments.ts';
import { type Part, partAt, partsOf, stepsOf } from '../../src/console/screens/run-detail/parts.ts';
import { placeOf, rangeOf, refined, spansOf } from '../../src/console/screens/run-detail/spans.ts';
import { usageOf } from '../../src/console/screens/run-detail/usage.ts';
import { describeMachine } from '../../src/statecharts/describe.ts';

/** What is made of a run from what the service tells of it. */

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

/** Every step is one that the machine has, and begins where the one before it ended. */
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

t.test('the way of a run through its machine', async (t) => {
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

t.test('each way to wait and to end', async (t) => {
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
  t.strictSame(courseOf(BEGINS(), undefined).steps, [], 'without the machine there are states and no steps');
});

t.test('where a moment is in the conversation', async (t) => {
  const { moments } = courseOf(
    [event('RunQueued'), event('MessageCommitted', { message_seq: 4 }), event('RunStarted')],
    ways,
  );
  t.strictSame(
    moments.map(({ seq }) => seq),
    [undefined, 4, 4],
  );
});

t.test('bars of the time that a run took', async (t) => {
  const events = [
    event('RunQueued', {}, 0),
    event('RunSubmitted', {}, 50),
    event('RunStarted', {}, 50),
    event('ToolCallReady', { id: 'a', name: 'slow' }, 100),
    event('ToolCallReady', { id: 'b', name: 'quick' }, 100),
    event('InferenceComplete', { model: 'm', duration_ms: 40 }, 100),
    event('ToolCallDone', { id: 'b', outcome: 'failed', result: { status: 'error' } }, 110),
    event('ToolCallDone', { id: 'a', outcome: 'succeeded' }, 200),
    event('ToolCallReady', { id: 'c', name: 'ask' }, 250),
    event('InferenceComplete', { model: 'm', duration_ms: 50 }, 250),
    event('ToolCallSuspended', { id: 'c', result: { tool_name: 'ask' } }, 251),
  ];
  const spans = spansOf(events);
  t.match(
    spans.map(({ kind, name, step, from, to }) => ({ kind, name, step, from, to })),
    [
      { kind: 'queue', from: 0, to: 50, step: 0 },
      { kind: 'inference', from: 60, to: 100, step: 1 },
      { kind: 'tool', name: 'slow', from: 100, to: 200, step: 1 },
      { kind: 'tool', name: 'quick', from: 100, to: 110, step: 1 },
      { kind: 'inference', from: 200, to: 250, step: 2 },
      { kind: 'tool', name: 'ask', from: 250, to: undefined, step: 2 },
      { kind: 'wait', name: 'ask', from: 251, to: undefined, step: 2 },
    ],
  );
  const named = (name: string) => spans.find((span) => span.name === name);
  t.ok(named('quick')?.hasFailed);
  t.notOk(named('quick')?.isCritical, 'what another call outlasted held nothing up');
  t.ok(named('slow')?.isCritical);
  const range = rangeOf(spans, 1000);
  t.strictSame(range, { from: 0, to: 1000 });
  const open = named('ask');
  t.ok(open && placeOf(open, range, 1000).left === 0.25 && placeOf(open, range, 1000).width === 0.75);
  const trace = [{ type: 'tool', name: 'slow', started_at_ms: 120, ended_at_ms: 190 }];
  const exact = refined(spans, trace as never).find(({ name }) => name === 'slow');
  t.match(exact, { from: 120, to: 190 });
  const ended = spansOf([...events, event('RunCancelled', {}, 300)]);
  t.ok(
    ended.every(({ to }) => to !== undefined),
    'nothing goes on when the run has ended',
  );
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
    const usage = usageOf([inference('m', 0.25), inference('x'), inference('m', 0.5), inference('m')]);
    t.strictSame(usage, {
      models: [
        { model: 'm', input: 60, output: 21, inferences: 3, cost: 0.75 },
        { model: 'x', input: 20, output: 7, inferences: 1, cost: undefined },
      ],
      tokens: { input: 80, output: 28 },
    });
  },
);

t.test('a log holds each event once, whatever is told again', async (t) => {
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

t.test('the line of an event is short, and tells no secret', async (t) => {
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

t.test('why a run waits or has ended, also in words that this console does not know', async (t) => {
  const of = (more: object) =>
    Run(
      { run_id: 'r', thread_id: 't', agent_id: 'a', status: 'done', created_at: 1, updated_at: 1, ...more },
      '',
    );
  t.match(reasonOf(of({ termination_reason: { type: 'stopped', value: { code: 'max_rounds' } } })), {
    text: 'end.stopped',
    detail: 'max_rounds',
  });
  t.match(reasonOf(of({ termination_reason: { type: 'odd' } })), { text: undefined, kind: 'odd' });
  t.match(reasonOf(of({ status: 'waiting', waiting: { reason: 'tool_permission', tickets: null } })), {
    text: 'waits.tool_permission',
  });
  t.equal(reasonOf(of({})), undefined);
  t.equal(toneOf(of({ status: 'odd' })), 'none');
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

/** Every move is one that the machine has. @returns the states, the first one included */
const courseOfPart = (t: Tap, part: Part): string[] => {
  const ways = recordWays.get(part.machine);
  const now = partAt(part, Number.POSITIVE_INFINITY);
  const steps = ways && now ? stepsOf(part, now.moves, ways) : [];
  const states = [part.begins.state, ...(now?.moves ?? []).map(({ state }) => state)];
  t.equal(steps.map(({ to }) => to).join(), states.slice(1).join(), 'one transition a move');
  return states;
};

const delivery = (kind: string, dispatch_id: string, more: object = {}) =>
  event(kind, { dispatch_id, ...more });
const delivered = (id: string) => [delivery('RunQueued', id), delivery('RunSubmitted', id)];

t.test('calls of a run, each through the chart of calls', async (t) => {
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
  t.strictSame(courses(asked), ['new suspended'], 'the gate asks before the tool is executed');
  t.strictSame(courses([...asks('a'), suspended('a')]), ['new running suspended'], 'a tool that asks');
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
  t.strictSame(courses([...asked, event('RunSuspended')]), ['new suspended'], 'it waits with its run');
  t.strictSame(courses([...asks('a', 'b'), done('b'), event('RunCancelled')]), [
    'new cancelled',
    'new running succeeded',
  ]);
  t.strictSame(courses([done('a'), event('ToolCallDone', {})]), [], 'a call that nobody asked for');
});

t.test('deliveries of a run, each through the chart of dispatches', async (t) => {
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
    'another attempt',
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

t.test('a part at a moment', async (t) => {
  const events = [...delivered('d'), ...asks('a'), done('a')];
  const [, call] = partsOf(events);
  t.equal(call && partAt(call, 2), undefined, 'it had not begun');
  t.equal(call && partAt(call, 3)?.state, 'new');
  t.equal(call && partAt(call, events.length)?.state, 'succeeded');
});
