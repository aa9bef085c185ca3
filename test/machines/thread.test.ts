import t from 'tap';
import type { AnyEventObject } from 'xstate';
import { type ThreadHost, threadMachine } from '../../machines/thread.ts';
import { type Edge, pathOf, untaken, walk } from './walk.ts';

/**
 * A thread and its world: whether work is queued, whether the active run takes input and whether a request
 * continues the open run come with each event, in every combination.
 *
 * That a run executes is not part of the machine's context; it holds exactly in 'busy' and 'displacing'. Each
 * edge is shown to keep that true, so it is true on every way through the machine.
 */

const STARTS = ['startRun', 'startNext', 'continueRun', 'startClaimant'];
const INPUTS = ['FOREGROUND', 'QUEUE', 'STEER'];
const STOPS = ['RUN_ENDED', 'RUN_PARKED'];

const bools = [false, true];
const events: AnyEventObject[] = [...INPUTS, 'INTERRUPT', 'WAKE', ...STOPS, 'DELETE'].flatMap((type) =>
  bools.flatMap((queued) =>
    bools.flatMap((takes) =>
      bools.flatMap((open) =>
        bools.map((continues) => ({ type, queued, takes, open, request: { continues } })),
      ),
    ),
  ),
);

const world = { queued: false, takes: false, open: false };
const host: ThreadHost = {
  hasQueued: () => world.queued,
  takesInput: () => world.takes,
  hasOpenRun: () => world.open,
  continuesOpenRun: (request) => 'continues' in request && request.continues === true,
};

const walked = await walk(threadMachine, {
  input: { host },
  events,
  before: ({ queued, takes, open }) => Object.assign(world, { queued, takes, open }),
});
const { edges } = walked;

const count = ({ actions }: Edge, ...names: string[]): number =>
  actions.filter((action) => names.includes(action)).length;
const executing = (snapshot: Edge['from']): number =>
  ['busy', 'displacing'].includes(pathOf(snapshot)) ? 1 : 0;
const holding = (snapshot: Edge['from']): number => (pathOf(snapshot) === 'displacing' ? 1 : 0);
const told = ({ from, event }: Edge): string => `${pathOf(from)} on ${JSON.stringify(event)}`;
const on = (...types: string[]): Edge[] => edges.filter(({ event }) => types.includes(event.type));

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

t.test('a run that waits for the thread is either started or refused, once', async (t) => {
  for (const edge of edges) {
    const settled = count(edge, 'startClaimant', 'refuseClaimant');
    t.equal(holding(edge.from) + count(edge, 'holdClaimant') - settled, holding(edge.to), told(edge));
  }
});

t.test('the run that waited is refused before the next one takes its place', async (t) => {
  const replaced = on('FOREGROUND').filter(({ from }) => pathOf(from) === 'displacing');
  t.ok(replaced.length > 0);
  for (const { actions } of replaced) t.same(actions, ['bumpEpoch', 'refuseClaimant', 'holdClaimant']);
});

t.test('input is taken in exactly one way', async (t) => {
  const ways: Record<string, string[]> = {
    FOREGROUND: ['startRun', 'continueRun', 'holdClaimant'],
    QUEUE: ['enqueue', 'continueRun'],
    STEER: ['deliver', 'enqueue', 'continueRun'],
  };
  for (const edge of on(...INPUTS)) t.equal(count(edge, ...(ways[edge.event.type] ?? [])), 1, told(edge));
});

t.test('input is delivered to a run only while one executes that takes it', async (t) => {
  for (const edge of edges) {
    const taking = edge.event.type === 'STEER' && pathOf(edge.from) === 'busy' && edge.event.takes === true;
    t.equal(count(edge, 'deliver'), taking ? 1 : 0, told(edge));
  }
});

t.test('a waiting run goes on with input that continues it, and with no other', async (t) => {
  for (const edge of on(...INPUTS)) {
    const continues = pathOf(edge.from) === 'waiting' && edge.event.request.continues === true;
    t.equal(count(edge, 'continueRun'), continues ? 1 : 0, told(edge));
  }
});

t.test('the next in the queue is started only when there is one', async (t) => {
  const started = edges.filter((edge) => count(edge, 'startNext') > 0);
  t.ok(started.length > 0);
  for (const edge of started) t.ok(count(edge, 'enqueue') > 0 || edge.event.queued === true, told(edge));
});

t.test('the queue never waits for a thread on which nothing executes', async (t) => {
  for (const edge of on('WAKE', ...STOPS)) {
    const wakes = edge.event.type === 'WAKE' ? executing(edge.from) === 0 : pathOf(edge.from) === 'busy';
    if (wakes && edge.event.queued === true) t.equal(count(edge, 'startNext'), 1, told(edge));
  }
});

t.test('an interrupt leaves every older dispatch behind, and stops what executes or waits', async (t) => {
  for (const edge of on('INTERRUPT')) {
    const stops: Record<string, string[]> = { busy: ['cancelActive'], waiting: ['cancelOpen'] };
    t.equal(edge.actions[0], 'bumpEpoch', told(edge));
    for (const action of stops[pathOf(edge.from)] ?? []) t.equal(count(edge, action), 1, told(edge));
    t.equal(count(edge, ...STARTS), 0, told(edge));
  }
});

t.test('a foreground run replaces what executes and what waits, unless it continues that', async (t) => {
  const stops: Record<string, string> = { busy: 'cancelActive', waiting: 'cancelOpen' };
  for (const edge of on('FOREGROUND')) {
    const stop = stops[pathOf(edge.from)];
    if (stop !== undefined) t.equal(count(edge, stop, 'continueRun'), 1, told(edge));
  }
});

t.test('the thread is given up when the old run does not let go in time', async (t) => {
  const late = edges.filter(({ event }) => event.type.startsWith('xstate.after.'));
  t.same(
    late.map(({ from, to, actions }) => [pathOf(from), pathOf(to), actions]),
    [['displacing', 'busy', ['refuseClaimant']]],
  );
});

t.test('a thread can be deleted from every state, and nothing happens on it afterwards', async (t) => {
  const deleted = on('DELETE');
  t.same(
    new Set(deleted.map(({ from }) => pathOf(from))),
    new Set(['idle', 'busy', 'displacing', 'waiting']),
  );
  for (const edge of deleted) {
    t.equal(pathOf(edge.to), 'deleted');
    t.same(edge.actions, pathOf(edge.from) === 'displacing' ? ['refuseClaimant', 'remove'] : ['remove']);
    t.same(edge.late, []);
  }
});

t.test('the walk takes every transition of the machine', async (t) => {
  t.same(untaken(walked.description, [walked]), []);
});

t.test('a thread whose other run still waits does not forget it', async (t) => {
  for (const edge of on('RUN_ENDED')) {
    if (pathOf(edge.from) !== 'busy' || edge.event.queued) continue;
    t.equal(pathOf(edge.to), edge.event.open ? 'waiting' : 'idle', told(edge));
  }
});
