import t from 'tap';
import type { AnyEventObject } from 'xstate';
import { threadMachine } from '../../machines/thread.ts';
import { type Edge, pathOf, untaken, walk } from './walk.ts';

/**
 * A thread and its world: whether work is queued and whether a run waits come with each event, and with each
 * request what the guards ask about it, in every combination.
 *
 * That a run executes is not part of the machine's context; it holds exactly in 'busy' and 'displacing'. Each
 * edge is shown to keep that true, so it is true on every way through the machine.
 */

const STARTS = [
  'startRun',
  'startCleared',
  'replaceOpen',
  'startNext',
  'continueRun',
  'resumeHeld',
  'startClaimant',
  'wakeHeld',
];
const INPUTS = ['FOREGROUND', 'QUEUE', 'STEER'];
const STOPS = ['RUN_ENDED', 'RUN_PARKED'];
const STATES = ['idle', 'busy', 'displacing', 'waiting'];

type Flags = Record<string, boolean>;

/** Every combination of the flags being set and not. */
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
const machine = threadMachine.provide({
  guards: {
    hasQueued: () => world.queued,
    isFull: () => world.full,
    hasWaiting: () => world.waits,
    isEnding: () => world.ending,
    takesInput: says('takes'),
    continuesOpenRun: says('continues'),
    isDelayed: says('delayed'),
    answersActive: says('answers'),
    executes: says('executes'),
    holds: says('holds'),
    awaitsTasks: says('awaits'),
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
  ['busy', 'displacing'].includes(pathOf(snapshot)) ? 1 : 0;
const holding = (snapshot: Edge['from']): number => (pathOf(snapshot) === 'displacing' ? 1 : 0);
const told = ({ from, event }: Edge): string => `${pathOf(from)} on ${JSON.stringify(event)}`;
const on = (...types: string[]): Edge[] => edges.filter(({ event }) => types.includes(event.type));
const answers = ({ event }: Edge): boolean => event.request?.answers === true;
const from = (path: string, among: Edge[]): Edge[] => among.filter((edge) => pathOf(edge.from) === path);

t.test('at most one run executes on a thread', async (t) => {
  for (const edge of edges.filter(({ to }) => to.status === 'active')) {
    const stopped = STOPS.includes(edge.event.type) ? executing(edge.from) : 0;
    const after = executing(edge.from) - stopped + count(edge, ...STARTS);
    t.equal(after, executing(edge.to), told(edge));
  }
});

t.test('a run starts only where none executes any more', async (t) => {
  const starting = edges.filter((edge) => count(edge, ...STARTS) > 0);
  t.ok(starting.length > 0);
  for (const edge of starting) {
    t.ok(executing(edge.from) === 0 || STOPS.includes(edge.event.type), told(edge));
  }
});

t.test('a thread on which nothing executes is waiting exactly when a run of it waits', async (t) => {
  const quiet = edges.filter(({ to }) => to.status === 'active' && executing(to) === 0);
  t.ok(quiet.length > 0);
  for (const edge of quiet) t.equal(pathOf(edge.to), edge.event.waits ? 'waiting' : 'idle', told(edge));
});

t.test('a run that waits for the thread is either started or refused, once', async (t) => {
  for (const edge of edges) {
    const settled = count(edge, 'startClaimant', 'refuseClaimant');
    t.equal(holding(edge.from) + count(edge, 'holdClaimant') - settled, holding(edge.to), told(edge));
  }
});

t.test('the run that waited is refused before the next one takes its place', async (t) => {
  const replaced = from('displacing', on('FOREGROUND')).filter((edge) => !answers(edge));
  t.ok(replaced.length > 0);
  for (const { actions } of replaced) t.same(actions, ['bumpEpoch', 'refuseClaimant', 'holdClaimant']);
});

t.test('input is taken in exactly one way', async (t) => {
  const ways: Record<string, string[]> = {
    FOREGROUND: [
      'startRun',
      'replaceOpen',
      'continueRun',
      'holdClaimant',
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

t.test('decisions for the run that executes, and nothing else, replace nothing', async (t) => {
  const moved = on('FOREGROUND').filter((edge) => answers(edge) && executing(edge.from));
  t.same(new Set(moved.map((edge) => pathOf(edge.from))), new Set(['busy', 'displacing']));
  for (const edge of moved) {
    t.same(edge.actions, pathOf(edge.from) === 'busy' ? ['answer'] : ['refuse'], told(edge));
    t.equal(pathOf(edge.to), pathOf(edge.from), told(edge));
  }
});

t.test('input that interrupts ends everything that came before it, in one step', async (t) => {
  const interrupting = on('INTERRUPT_THEN_QUEUE');
  t.same(new Set(interrupting.map((edge) => pathOf(edge.from))), new Set(STATES));
  const ways: Record<string, string[]> = {
    busy: ['enqueueCleared', 'cancelActive'],
    displacing: ['refuseClaimant', 'enqueueCleared'],
  };
  for (const edge of interrupting) {
    const { full, request } = edge.event;
    const inPlace = [full || request.delayed ? 'enqueueCleared' : 'startCleared'];
    t.same(edge.actions, ways[pathOf(edge.from)] ?? inPlace, told(edge));
  }
});

t.test('input is delivered to a run only while one executes that takes it', async (t) => {
  for (const edge of edges.filter((edge) => count(edge, 'deliver') > 0)) {
    t.same([edge.event.type, pathOf(edge.from), edge.event.request.takes], ['STEER', 'busy', true]);
  }
  const taken = from('busy', on('STEER')).filter(
    ({ event }) => event.request.takes && !event.request.delayed,
  );
  t.ok(taken.length > 0);
  for (const edge of taken) t.equal(count(edge, 'deliver'), 1, told(edge));
});

t.test('a delayed input is kept for its time, whatever the thread does', async (t) => {
  const delayed = on('QUEUE', 'STEER').filter(({ event }) => event.request.delayed);
  t.same(new Set(delayed.map((edge) => pathOf(edge.from))), new Set(STATES));
  for (const edge of delayed) t.same(edge.actions, ['enqueue'], told(edge));
});

t.test('a waiting run goes on with input that continues it, and with no other', async (t) => {
  for (const edge of on(...INPUTS, 'CONTINUE')) {
    const { continues, delayed } = edge.event.request;
    const later = delayed === true && edge.event.type !== 'FOREGROUND';
    const goesOn = pathOf(edge.from) === 'waiting' && continues === true && !later;
    const way = edge.event.full ? 'enqueueContinuation' : 'continueRun';
    if (pathOf(edge.from) === 'waiting') t.equal(count(edge, way), goesOn ? 1 : 0, told(edge));
    else t.equal(count(edge, 'continueRun'), 0, told(edge));
  }
});

t.test('input that only continues a run does that or is refused', async (t) => {
  for (const edge of on('CONTINUE')) {
    const ways: Record<string, string> = {
      busy: 'enqueueContinuation',
      displacing: 'enqueueContinuation',
      waiting: edge.event.full ? 'enqueueContinuation' : 'continueRun',
    };
    const way = edge.event.request.continues === true ? ways[pathOf(edge.from)] : undefined;
    t.same(edge.actions, [way ?? 'refuse'], told(edge));
  }
});

t.test('a tool call of another thread drives a run here, or is refused: it never waits', async (t) => {
  for (const edge of on('DRIVE')) {
    const ways: Record<string, string> = {
      idle: 'startRun',
      waiting: edge.event.request.continues === true ? 'continueRun' : 'refuse',
    };
    t.same(edge.actions, [ways[pathOf(edge.from)] ?? 'refuse'], told(edge));
  }
});

t.test('a decision is answered in exactly one way, which depends on where its run is', async (t) => {
  const answerOf = (path: string, { executes, holds }: Flags, isFull: boolean): string => {
    if (path === 'idle') return 'refuse';
    if (executes && path === 'busy') return 'decide';
    if (executes && path === 'displacing') return 'refuse';
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
  'a decision never waits for a thread on which nothing executes, unless there is no room',
  async (t) => {
    const decided = from('waiting', on('DECIDE'));
    t.ok(decided.length > 0);
    for (const edge of decided)
      t.equal(count(edge, 'resumeHeld', 'startNext'), edge.event.full ? 0 : 1, told(edge));
  },
);

t.test('the next in the queue is started only when there is one', async (t) => {
  const started = edges.filter((edge) => count(edge, 'startNext') > 0);
  t.ok(started.length > 0);
  for (const edge of started) {
    t.ok(count(edge, 'enqueueDecision', 'enqueueWake') > 0 || edge.event.queued === true, told(edge));
  }
});

t.test('the queue never waits for a thread on which nothing executes', async (t) => {
  for (const edge of on('WAKE', ...STOPS)) {
    const wakes = edge.event.type === 'WAKE' ? executing(edge.from) === 0 : pathOf(edge.from) === 'busy';
    t.equal(count(edge, 'startNext'), wakes && edge.event.queued ? 1 : 0, told(edge));
  }
});

t.test(
  'an interrupt leaves every older dispatch behind, and stops what executes and what waits',
  async (t) => {
    const stops: Record<string, string[]> = {
      idle: ['interrupt'],
      busy: ['interrupt', 'cancelActive'],
      displacing: ['interrupt', 'refuseClaimant'],
      waiting: ['interrupt'],
    };
    t.same(new Set(on('INTERRUPT').map((edge) => pathOf(edge.from))), new Set(STATES));
    for (const edge of on('INTERRUPT')) t.same(edge.actions, stops[pathOf(edge.from)], told(edge));
  },
);

t.test('a foreground run replaces what executes and what waits, unless it continues that', async (t) => {
  const stops: Record<string, string[]> = {
    busy: ['cancelActive'],
    waiting: ['replaceOpen', 'enqueueInstead', 'continueRun', 'enqueueContinuation'],
  };
  for (const edge of on('FOREGROUND').filter((edge) => !answers(edge))) {
    const stop = stops[pathOf(edge.from)];
    if (stop !== undefined) t.equal(count(edge, ...stop), 1, told(edge));
  }
});

t.test('only a foreground run and an interrupt stop other work, and only a cancel one run', async (t) => {
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

t.test('a cancel moves nothing: what it stops says so itself', async (t) => {
  for (const edge of on('CANCEL')) t.equal(executing(edge.to), executing(edge.from), told(edge));
});

t.test(
  'the claimant is refused when the old run does not let go in time, unless that has ended',
  async (t) => {
    const late = edges.filter(({ event }) => event.type.startsWith('xstate.after.'));
    t.same(
      new Set(late.map(({ from, event, to, actions }) => [pathOf(from), event.ending, pathOf(to), actions])),
      new Set([
        ['displacing', true, 'displacing', []],
        ['displacing', false, 'busy', ['reportTimeout', 'refuseClaimant']],
      ]),
    );
    t.same(edges.filter((edge) => count(edge, 'reportTimeout') > 0).length, 1);
  },
);

t.test('a thread can be deleted from every state, and nothing happens on it afterwards', async (t) => {
  const deleted = on('DELETE');
  t.same(new Set(deleted.map(({ from }) => pathOf(from))), new Set(STATES));
  for (const edge of deleted) {
    t.equal(pathOf(edge.to), 'deleted');
    t.same(edge.actions, pathOf(edge.from) === 'displacing' ? ['refuseClaimant', 'remove'] : ['remove']);
    t.same(edge.late, []);
  }
});

t.test('nothing new starts while there is no room for it, but for what a tool call drives', async (t) => {
  const full = edges.filter(({ event }) => event.full && event.type !== 'DRIVE');
  t.ok(full.length > 0);
  const starting = full.filter((edge) => count(edge, ...STARTS) > 0);
  // What is queued is startable by the word of the host; who waits for the thread takes over its slot.
  t.same(
    new Set(starting.flatMap(({ actions }) => actions).filter((action) => STARTS.includes(action))),
    new Set(['startNext', 'startClaimant']),
  );
  for (const edge of starting.filter((edge) => count(edge, 'startNext') > 0)) t.ok(edge.event.queued);
});

t.test('the walk takes every transition of the machine', async (t) => {
  t.same(untaken(walked.description, [walked]), []);
});
