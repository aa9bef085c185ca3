import t from 'tap';
import { type ActorFilter, inState } from '../../src/inspection/filter.ts';
import { createInspector, type Inspector } from '../../src/inspection/inspector.ts';
import type { ActorFrame } from '../../src/schema/live-actor.ts';
import { createFollower, startRun, startRuns, startThread, turn } from './actors.ts';

/** Frames for followers of live actors: in chunks, filtered, and at the speed of their sockets. */

const scope = 'default';

/** More actors than one tick reports. */
const MANY = 1000;

/** The most frames that one tick may send. */
const PIECE = 300;

const setup = () => {
  const clock = { at: 1000, now: () => clock.at };
  const inspector = createInspector({ clock });
  const watch = (filter: ActorFilter = {}) => {
    const follower = createFollower();
    return Object.assign(follower, { leave: inspector.follow(scope, filter, follower) });
  };
  return { clock, inspector, watch };
};

/** Starts `count` runs with consecutive numbers as their ids, each on a thread with the same number. */
const beginRuns = (inspector: Inspector, count: number, from = 0) =>
  startRuns(count).map((actor, index) => {
    const id = String(from + index);
    return {
      actor,
      ended: inspector.began(actor, { machine: 'run', id: `R${id}`, scope, parent: `thread:T${id}` }),
    };
  });

const idOf = (frame: ActorFrame): string => ('id' in frame ? frame.id : frame.actor);

const settle = async (): Promise<void> => {
  for (let count = 0; count < 20; count += 1) await turn();
};

t.test('reports live actors one chunk per tick, while other actors start and end', async (t) => {
  const { inspector, watch } = setup();
  const runs = beginRuns(inspector, MANY);
  const follower = watch();
  const told: ActorFrame[] = [];
  const ended: string[] = [];
  for (let round = 0; round < 12; round += 1) {
    const frames = follower.frames();
    t.ok(frames.length < PIECE, `${frames.length} in one turn`);
    told.push(...frames);
    const gone = MANY - 1 - round;
    ended.push(`run:R${gone}`);
    runs[gone]?.ended();
    beginRuns(inspector, 1, MANY + round);
    await turn();
  }
  await settle();
  told.push(...follower.frames());
  const seen = new Map<string, number>();
  for (const frame of told) {
    if (frame.type === 'ended') seen.delete(frame.actor);
    else seen.set(idOf(frame), (seen.get(idOf(frame)) ?? 0) + 1);
  }
  t.strictSame(
    [...seen.keys()].sort(),
    Array.from({ length: MANY + 12 }, (_, index) => `run:R${index}`)
      .filter((id) => !ended.includes(id))
      .sort(),
    'exactly the live actors are reported',
  );
  t.strictSame(new Set(seen.values()), new Set([1]), 'each actor is reported once');
});

t.test('after a stall, a follower receives the current state of each actor', async (t) => {
  const { inspector, watch, clock } = setup();
  const runs = beginRuns(inspector, 20);
  const [slow, fast] = [watch(), watch()];
  slow.frames();
  fast.frames();
  slow.stalled = true;
  for (let count = 0; count < 5000; count += 1) {
    clock.at += 1;
    // All but the last two.
    runs[count % 18]?.actor.send({ type: count < 18 ? 'CLAIM' : 'STEER' });
    if (count % 500 === 0) await turn();
  }
  t.equal(fast.frames().length, 5000);
  slow.drain();
  await settle();
  const frames = slow.frames();
  t.strictSame(
    frames.map((frame) => [frame.type, idOf(frame), 'state' in frame && frame.state]),
    runs.slice(0, 18).map((_, index) => ['actor', `run:R${index}`, 'running.inferring']),
  );
  runs[19]?.actor.send({ type: 'CLAIM' });
  t.match(
    slow.frames(),
    [{ actor: 'run:R19', event: 'CLAIM' }],
    'later transitions are reported individually',
  );
});

t.test(
  'a slow follower receives missed ends once, and only those starts whose actors still live',
  async (t) => {
    const { inspector, watch } = setup();
    const [known, other] = beginRuns(inspector, 2);
    const follower = watch();
    follower.frames();
    follower.stalled = true;
    known?.actor.send({ type: 'CLAIM' });
    known?.actor.send({ type: 'CANCEL' });
    known?.ended();
    for (let count = 0; count < MANY; count += 1) {
      const [brief] = beginRuns(inspector, 1, 10);
      brief?.actor.send({ type: 'CLAIM' });
      brief?.ended();
    }
    const [late] = beginRuns(inspector, 1, 20);
    late?.actor.send({ type: 'CLAIM' });
    follower.drain();
    await settle();
    t.match(follower.frames(), [
      { type: 'ended', actor: 'run:R0', state: 'concluding' },
      { type: 'actor', id: 'run:R20', state: 'running.inferring' },
    ]);
    other?.actor.send({ type: 'CLAIM' });
    late?.actor.send({ type: 'CANCEL' });
    t.match(follower.frames(), [{ actor: 'run:R1' }, { actor: 'run:R20', to: 'concluding' }]);
  },
);

t.test('a follower that stalls during the initial list continues where it was', async (t) => {
  const { inspector, watch } = setup();
  const runs = beginRuns(inspector, MANY);
  const follower = watch();
  const first = follower.frames().map(idOf);
  follower.stalled = true;
  runs[0]?.actor.send({ type: 'CLAIM' });
  runs.at(-1)?.actor.send({ type: 'CLAIM' });
  await settle();
  t.strictSame(follower.frames(), []);
  follower.drain();
  await settle();
  const rest = follower.frames();
  t.match(
    rest[0],
    { type: 'actor', id: 'run:R0', state: 'running.inferring' },
    'actors that were already reported are first',
  );
  t.strictSame(
    [...first, ...rest.slice(1).map(idOf)],
    runs.map((_, index) => `run:R${index}`),
  );
  t.match(rest.at(-1), { state: 'running.inferring' });
});

t.test('during a catch-up, updates of one actor stay in order', async (t) => {
  const { inspector, watch } = setup();
  const runs = beginRuns(inspector, MANY);
  const follower = watch();
  await settle();
  follower.frames();
  follower.stalled = true;
  for (const { actor } of runs) actor.send({ type: 'CLAIM' });
  follower.drain();
  const [first, last] = [runs[0], runs.at(-1)];
  for (const run of [first, last]) run?.actor.send({ type: 'CANCEL' });
  last?.ended();
  await settle();
  const frames = follower.frames();
  const of = (id: string) => frames.filter((frame) => idOf(frame) === id);
  t.match(of('run:R0'), [
    { type: 'actor', state: 'running.inferring' },
    { type: 'transition', to: 'concluding' },
  ]);
  t.match(of(`run:R${MANY - 1}`), [{ type: 'ended' }]);
  t.equal(frames.length, MANY + 1);
});

t.test('a filter limits which actors are reported and inspected', async (t) => {
  const { inspector, watch } = setup();
  const [mine, task, other, thread] = [startRun(), startRun(), startRun(), startThread()];
  inspector.began(thread.actor, { machine: 'thread', id: 'T', scope });
  inspector.began(mine.actor, { machine: 'run', id: 'R', scope, parent: 'thread:T' });
  const watchers = {
    machine: watch({ machine: 'thread' }),
    thread: watch({ thread: 'T' }),
    run: watch({ run: 'R' }),
    both: watch({ thread: 'T', machine: 'remote-task' }),
    none: watch({ run: 'R', machine: 'thread' }),
  };
  inspector.began(other.actor, { machine: 'run', id: 'R2', scope, parent: 'thread:T2' });
  const ended = inspector.began(task.actor, { machine: 'remote-task', id: 'X', scope, parent: 'run:R' });
  for (const { actor } of [mine, task, other]) actor.send({ type: 'DEAD_LETTER', reason: 'x' });
  t.equal(other.inspectors(), 0);
  ended();
  const told = Object.entries(watchers).map(([name, { frames }]) => [name, [...new Set(frames().map(idOf))]]);
  t.strictSame(Object.fromEntries(told), {
    machine: ['thread:T'],
    thread: ['thread:T', 'run:R', 'remote-task:X'],
    run: ['run:R', 'remote-task:X'],
    both: ['remote-task:X'],
    none: [],
  });
  watchers.thread.leave();
  t.strictSame(
    [thread.inspectors(), mine.inspectors()],
    [1, 1],
    'another follower still observes the actors',
  );
  watchers.run.leave();
  t.strictSame([thread.inspectors(), mine.inspectors()], [1, 0]);
});

t.test('with a state filter, actors are reported when they enter and leave the state', async (t) => {
  const { inspector, watch, clock } = setup();
  const [run] = beginRuns(inspector, 1);
  const follower = watch({ state: inState('running') });
  t.strictSame(follower.frames(), [], 'no frame reports an actor outside of the state');
  clock.at = 2000;
  run?.actor.send({ type: 'CLAIM' });
  t.match(follower.frames(), [
    { type: 'transition', from: 'created', to: 'running.inferring' },
    { type: 'actor', id: 'run:R0', state: 'running.inferring', since: 2000, parent: 'thread:T0' },
  ]);
  run?.actor.send({ type: 'CANCEL' });
  t.match(follower.frames(), [{ from: 'running.inferring', to: 'concluding' }]);
  run?.actor.send({ type: 'CANCEL' });
  run?.ended();
  t.strictSame(follower.frames(), [], 'no frame reports a transition between other states');
});

t.test('with a state filter, a slow follower is informed of actors that have left the state', async (t) => {
  const { inspector, watch } = setup();
  const runs = beginRuns(inspector, 3);
  for (const { actor } of runs) actor.send({ type: 'CLAIM' });
  const follower = watch({ state: inState('inferring') });
  t.equal(follower.frames().length, 3);
  follower.stalled = true;
  for (const { actor } of runs.slice(0, 2)) actor.send({ type: 'CANCEL' });
  runs[1]?.ended();
  follower.drain();
  t.match(follower.frames(), [
    { type: 'actor', id: 'run:R0', state: 'concluding' },
    { type: 'ended', actor: 'run:R1' },
  ]);
});

t.test('a follower that has left receives nothing more, even during its initial list', async (t) => {
  const { inspector, watch } = setup();
  const runs = beginRuns(inspector, MANY);
  const follower = watch();
  follower.frames();
  follower.leave();
  await settle();
  follower.drain();
  for (const { actor } of runs) actor.send({ type: 'CLAIM' });
  t.strictSame(follower.frames(), []);
});
