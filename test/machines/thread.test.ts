import t from 'tap';
import { type AnyEventObject, createActor } from 'xstate';
import { threadMachine } from '../../machines/thread.ts';
import { type Edge, pathOf, untaken, walk } from './walk.ts';

/**
 * A thread and its world: each event carries whether work is queued and whether a run is suspended, and each request
 * carries the inputs of its guards, in every combination.
 *
 * That a run executes is not part of the machine's context; it holds exactly in 'busy' and 'preempting'. The tests show
 * that each edge preserves this, so it holds on every path through the machine.
 */

const STARTS = [
  'startRun',
  'startCleared',
  'replaceOpen',
  'startNext',
  'continueRun',
  'resumeHeld',
  'startPendingForeground',
  'wakeHeld',
];
const INPUTS = ['FOREGROUND', 'QUEUE', 'STEER'];
const STOPS = ['RUN_ENDED', 'RUN_PARKED'];
const STATES = ['idle', 'busy', 'preempting', 'waiting'];

type Flags = Record<string, boolean>;

/** Every combination of the flags. */
const combined = (...names: string[]): Flags[] =>
  names.reduce<Flags[]>(
    (found, name) => found.flatMap((flags) => [false, true].map((set) => ({ ...flags, [name]: set }))),
    [{}],
  );

const eventsOf = (types: string[], ...flags: string[]): AnyEventObject[] =>
  types.flatMap((type) =>
    combined('queued', 'waits', 'full').flatMap((around) =>
      combined(...flags).map((request) => ({ type, ...around, request })),
    ),
  );

const events: AnyEventObject[] = [
  ...eventsOf(INPUTS, 'takes', 'continues', 'delayed'),
  ...eventsOf(['FOREGROUND'], 'answers'),
  ...eventsOf(['INTERRUPT_THEN_QUEUE'], 'delayed'),
  ...eventsOf(['CONTINUE', 'DRIVE'], 'continues'),
  ...eventsOf(['DECIDE'], 'executes', 'holds'),
  ...eventsOf(['TASK_EVENT'], 'takes', 'holds', 'awaits'),
  ...eventsOf(['CANCEL', 'INTERRUPT', 'WAKE', ...STOPS, 'DELETE']),
];

const world = { queued: false, waits: false, full: false, ending: false };
const says =
  (flag: string) =>
  ({ event }: { event: AnyEventObject }): boolean =>
    event.request !== undefined && new Map(Object.entries(event.request)).get(flag) === true;
const whenFull = (flag: string) => (args: { event: AnyEventObject }) => world.full && says(flag)(args);
const machine = threadMachine.provide({
  guards: {
    hasQueued: () => world.queued,
    isFull: () => world.full,
    hasWaiting: () => world.waits,
    hasNoneWaiting: () => !world.waits,
    isEnding: () => world.ending,
    takesInput: says('takes'),
    continuesOpenRun: says('continues'),
    continuesWhenFull: whenFull('continues'),
    isDelayed: says('delayed'),
    answersActive: says('answers'),
    executes: says('executes'),
    holds: says('holds'),
    awaitsTasks: says('awaits'),
    holdsAwaiting: (args) => says('holds')(args) && says('awaits')(args),
    awaitsTasksWhenFull: whenFull('awaits'),
  },
});

const walked = await walk(machine, {
  input: { host: {} },
  events,
  delays: combined('ending'),
  before: ({ queued = false, waits = false, full = false, ending = false }) =>
    Object.assign(world, { queued, waits, full, ending }),
});
const { edges } = walked;

const count = ({ actions }: Edge, ...names: string[]): number =>
  actions.filter((action) => names.includes(action)).length;
const executing = (snapshot: Edge['from']): number =>
  ['busy', 'preempting'].includes(pathOf(snapshot)) ? 1 : 0;
const holding = (snapshot: Edge['from']): number => (pathOf(snapshot) === 'preempting' ? 1 : 0);
const told = ({ from, event }: Edge): string => `${pathOf(from)} on ${JSON.stringify(event)}`;
const on = (...types: string[]): Edge[] => edges.filter(({ event }) => types.includes(event.type));
const answers = ({ event }: Edge): boolean => event.request?.answers === true;
const from = (path: string, among: Edge[]): Edge[] => among.filter((edge) => pathOf(edge.from) === path);

t.test('executes at most one run', async (t) => {
  for (const edge of edges.filter(({ to }) => to.status === 'active')) {
    const stopped = STOPS.includes(edge.event.type) ? executing(edge.from) : 0;
    const after = executing(edge.from) - stopped + count(edge, ...STARTS);
    t.equal(after, executing(edge.to), told(edge));
  }
});

t.test('starts a run only when none is executing', async (t) => {
  const starting = edges.filter((edge) => count(edge, ...STARTS) > 0);
  t.ok(starting.length > 0);
  for (const edge of starting) {
    t.ok(executing(edge.from) === 0 || STOPS.includes(edge.event.type), told(edge));
  }
});

t.test('is waiting exactly if a run is suspended and none is executing', async (t) => {
  const quiet = edges.filter(({ to }) => to.status === 'active' && executing(to) === 0);
  t.ok(quiet.length > 0);
  for (const edge of quiet) t.equal(pathOf(edge.to), edge.event.waits ? 'waiting' : 'idle', told(edge));
});

t.test('starts or rejects a run that waits for the thread exactly once', async (t) => {
  for (const edge of edges) {
    const settled = count(edge, 'startPendingForeground', 'refusePendingForeground');
    t.equal(
      holding(edge.from) + count(edge, 'keepPendingForeground') - settled,
      holding(edge.to),
      told(edge),
    );
  }
});

t.test('rejects the pending foreground input before the next one replaces it', async (t) => {
  const replaced = from('preempting', on('FOREGROUND')).filter((edge) => !answers(edge));
  t.ok(replaced.length > 0);
  for (const { actions } of replaced)
    t.same(actions, ['bumpEpoch', 'refusePendingForeground', 'keepPendingForeground']);
});

t.test('accepts input in exactly one way', async (t) => {
  const ways: Record<string, string[]> = {
    FOREGROUND: [
      'startRun',
      'replaceOpen',
      'continueRun',
      'keepPendingForeground',
      'enqueueForeground',
      'enqueueInstead',
      'enqueueContinuation',
    ],
    QUEUE: ['enqueue', 'enqueueContinuation', 'startRun', 'continueRun'],
    STEER: ['deliver', 'enqueue', 'enqueueContinuation', 'startRun', 'continueRun'],
  };
  for (const edge of on(...INPUTS).filter((edge) => !answers(edge))) {
    t.equal(count(edge, ...(ways[edge.event.type] ?? [])), 1, told(edge));
    t.equal(count(edge, 'refuse'), 0, told(edge));
  }
});

t.test('replaces nothing when input contains only decisions for the executing run', async (t) => {
  const moved = on('FOREGROUND').filter((edge) => answers(edge) && executing(edge.from));
  t.same(new Set(moved.map((edge) => pathOf(edge.from))), new Set(['busy', 'preempting']));
  for (const edge of moved) {
    t.same(edge.actions, pathOf(edge.from) === 'busy' ? ['answer'] : ['refuse'], told(edge));
    t.equal(pathOf(edge.to), pathOf(edge.from), told(edge));
  }
});

t.test('ends all earlier work at once on interrupting input', async (t) => {
  const interrupting = on('INTERRUPT_THEN_QUEUE');
  t.same(new Set(interrupting.map((edge) => pathOf(edge.from))), new Set(STATES));
  const ways: Record<string, string[]> = {
    busy: ['enqueueCleared', 'cancelActive'],
    preempting: ['refusePendingForeground', 'enqueueCleared'],
  };
  for (const edge of interrupting) {
    const { full, request } = edge.event;
    const inPlace = [full || request.delayed ? 'enqueueCleared' : 'startCleared'];
    t.same(edge.actions, ways[pathOf(edge.from)] ?? inPlace, told(edge));
  }
});

t.test('delivers input only to an executing run that accepts it', async (t) => {
  for (const edge of edges.filter((edge) => count(edge, 'deliver') > 0)) {
    t.same([edge.event.type, pathOf(edge.from), edge.event.request.takes], ['STEER', 'busy', true]);
  }
  const taken = from('busy', on('STEER')).filter(
    ({ event }) => event.request.takes && !event.request.delayed,
  );
  t.ok(taken.length > 0);
  for (const edge of taken) t.equal(count(edge, 'deliver'), 1, told(edge));
});

t.test('queues delayed input in every state', async (t) => {
  const delayed = on('QUEUE', 'STEER').filter(({ event }) => event.request.delayed);
  t.same(new Set(delayed.map((edge) => pathOf(edge.from))), new Set(STATES));
  for (const edge of delayed) t.same(edge.actions, ['enqueue'], told(edge));
});

t.test('continues a suspended run only with input that continues it', async (t) => {
  for (const edge of on(...INPUTS, 'CONTINUE')) {
    const { continues, delayed } = edge.event.request;
    const later = delayed === true && edge.event.type !== 'FOREGROUND';
    const goesOn = pathOf(edge.from) === 'waiting' && continues === true && !later;
    const way = edge.event.full ? 'enqueueContinuation' : 'continueRun';
    if (pathOf(edge.from) === 'waiting') t.equal(count(edge, way), goesOn ? 1 : 0, told(edge));
    else t.equal(count(edge, 'continueRun'), 0, told(edge));
  }
});

t.test('continues a run or rejects the input that only continues one', async (t) => {
  for (const edge of on('CONTINUE')) {
    const ways: Record<string, string> = {
      busy: 'enqueueContinuation',
      preempting: 'enqueueContinuation',
      waiting: edge.event.full ? 'enqueueContinuation' : 'continueRun',
    };
    const way = edge.event.request.continues === true ? ways[pathOf(edge.from)] : undefined;
    t.same(edge.actions, [way ?? 'refuse'], told(edge));
  }
});

t.test('starts or rejects a run driven by a tool call of another thread without queueing it', async (t) => {
  for (const edge of on('DRIVE')) {
    const ways: Record<string, string> = {
      idle: 'startRun',
      waiting: edge.event.request.continues === true ? 'continueRun' : 'refuse',
    };
    t.same(edge.actions, [ways[pathOf(edge.from)] ?? 'refuse'], told(edge));
  }
});

t.test('handles a decision in exactly one way, depending on the state of its run', async (t) => {
  const answerOf = (path: string, { executes, holds }: Flags, isFull: boolean): string => {
    if (path === 'idle') return 'refuse';
    if (executes && path === 'busy') return 'decide';
    if (executes && path === 'preempting') return 'refuse';
    return holds && path === 'waiting' && !isFull ? 'resumeHeld' : 'enqueueDecision';
  };
  for (const edge of on('DECIDE')) {
    const answers = edge.actions.filter((action) =>
      ['decide', 'resumeHeld', 'enqueueDecision', 'refuse'].includes(action),
    );
    t.same(answers, [answerOf(pathOf(edge.from), edge.event.request, edge.event.full)], told(edge));
  }
});

t.test(
  'applies a decision at once on a thread without an executing run, unless there is no slot',
  async (t) => {
    const decided = from('waiting', on('DECIDE'));
    t.ok(decided.length > 0);
    for (const edge of decided)
      t.equal(count(edge, 'resumeHeld', 'startNext'), edge.event.full ? 0 : 1, told(edge));
  },
);

t.test('starts the next queued run only if there is one', async (t) => {
  const started = edges.filter((edge) => count(edge, 'startNext') > 0);
  t.ok(started.length > 0);
  for (const edge of started) {
    t.ok(count(edge, 'enqueueDecision', 'enqueueWake') > 0 || edge.event.queued === true, told(edge));
  }
});

t.test('never leaves work queued while no run is executing', async (t) => {
  for (const edge of on('WAKE', ...STOPS)) {
    const wakes = edge.event.type === 'WAKE' ? executing(edge.from) === 0 : pathOf(edge.from) === 'busy';
    t.equal(count(edge, 'startNext'), wakes && edge.event.queued ? 1 : 0, told(edge));
  }
});

t.test(
  'supersedes all older dispatches on an interrupt, and stops executing and suspended runs',
  async (t) => {
    const stops: Record<string, string[]> = {
      idle: ['interrupt'],
      busy: ['interrupt', 'cancelActive'],
      preempting: ['interrupt', 'refusePendingForeground'],
      waiting: ['interrupt'],
    };
    t.same(new Set(on('INTERRUPT').map((edge) => pathOf(edge.from))), new Set(STATES));
    for (const edge of on('INTERRUPT')) t.same(edge.actions, stops[pathOf(edge.from)], told(edge));
  },
);

t.test('replaces executing and suspended runs by a foreground run, unless it continues them', async (t) => {
  const stops: Record<string, string[]> = {
    busy: ['cancelActive'],
    waiting: ['replaceOpen', 'enqueueInstead', 'continueRun', 'enqueueContinuation'],
  };
  for (const edge of on('FOREGROUND').filter((edge) => !answers(edge))) {
    const stop = stops[pathOf(edge.from)];
    if (stop !== undefined) t.equal(count(edge, ...stop), 1, told(edge));
  }
});

t.test('stops other work only on a foreground run or an interrupt, and one run on a cancel', async (t) => {
  const stopping = edges.filter(
    (edge) => count(edge, 'cancelActive', 'interrupt', 'startCleared', 'enqueueCleared', 'replaceOpen') > 0,
  );
  t.same(
    new Set(stopping.map(({ event }) => event.type)),
    new Set(['FOREGROUND', 'INTERRUPT', 'INTERRUPT_THEN_QUEUE']),
  );
  t.same(new Set(on('CANCEL').map((edge) => pathOf(edge.from))), new Set(STATES));
  for (const edge of edges) t.equal(count(edge, 'cancel'), edge.event.type === 'CANCEL' ? 1 : 0, told(edge));
});

t.test('keeps its state on a cancel, because the stopped run reports its end', async (t) => {
  for (const edge of on('CANCEL')) t.equal(executing(edge.to), executing(edge.from), told(edge));
});

t.test(
  'rejects the pending foreground input if the old run is not released in time, unless it has ended',
  async (t) => {
    const late = edges.filter(({ event }) => event.type.startsWith('xstate.after.'));
    t.same(
      new Set(late.map(({ from, event, to, actions }) => [pathOf(from), event.ending, pathOf(to), actions])),
      new Set([
        ['preempting', true, 'preempting', []],
        ['preempting', false, 'busy', ['reportTimeout', 'refusePendingForeground']],
      ]),
    );
    t.same(edges.filter((edge) => count(edge, 'reportTimeout') > 0).length, 1);
  },
);

t.test('can be deleted from every state, and accepts no event afterwards', async (t) => {
  const deleted = on('DELETE');
  t.same(new Set(deleted.map(({ from }) => pathOf(from))), new Set(STATES));
  for (const edge of deleted) {
    t.equal(pathOf(edge.to), 'deleted');
    t.same(
      edge.actions,
      pathOf(edge.from) === 'preempting' ? ['refusePendingForeground', 'remove'] : ['remove'],
    );
    t.same(edge.late, []);
  }
});

t.test('starts nothing new without a free slot, except for runs driven by a tool call', async (t) => {
  const full = edges.filter(({ event }) => event.full && event.type !== 'DRIVE');
  t.ok(full.length > 0);
  const starting = full.filter((edge) => count(edge, ...STARTS) > 0);
  // The host decides that queued work can start; pending foreground input takes over the slot of the old run.
  t.same(
    new Set(starting.flatMap(({ actions }) => actions).filter((action) => STARTS.includes(action))),
    new Set(['startNext', 'startPendingForeground']),
  );
  for (const edge of starting.filter((edge) => count(edge, 'startNext') > 0)) t.ok(edge.event.queued);
});

t.test('covers every transition of the machine', async (t) => {
  t.same(untaken(walked.description, [walked]), []);
});

t.test('passes the request of an event to the action that the machine chooses', async (t) => {
  const seen: unknown[] = [];
  const recording = threadMachine.provide({
    guards: { hasWaiting: () => true, continuesOpenRun: (_, { request }) => 'continues' in request },
    actions: {
      startRun: (_, { request }) => seen.push(['starts', request]),
      continueRun: (_, { request }) => seen.push(['continues', request]),
      enqueueDecision: (_, { request }) => seen.push(['decides', request]),
    },
  });
  const actor = createActor(recording, { input: { host: {} } }).start();
  const [input, continuation, decision] = [{ text: 'start' }, { continues: true }, { approved: true }];
  actor.send({ type: 'QUEUE', request: input });
  actor.send({ type: 'RUN_PARKED' });
  actor.send({ type: 'QUEUE', request: continuation });
  actor.send({ type: 'DECIDE', request: decision });
  t.strictSame(seen, [
    ['starts', input],
    ['continues', continuation],
    ['decides', decision],
  ]);
});
