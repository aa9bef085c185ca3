import t from 'tap';
import { describeAll } from '../../src/diagrams/describe.ts';
import { createInspector, type Inspector } from '../../src/inspection/inspector.ts';
import type { ActorFrame } from '../../src/schema/live-actor.ts';
import { createFollower, type StubbedActor, startRun, startThread } from './actors.ts';

const scope = 'default';
const RUN = { machine: 'run', id: 'R', scope, parent: 'thread:T' } as const;
const THREAD = { machine: 'thread', id: 'T', scope } as const;

const setup = () => {
  const clock = { at: 1000, now: () => clock.at };
  return { clock, inspector: createInspector({ clock }) };
};

const listed = (inspector: Inspector, of: string = scope) => inspector.list(of, {}, 0, 1000).items;

const transitions = (frames: ActorFrame[]) =>
  frames.flatMap((frame) => (frame.type === 'transition' ? [frame] : []));

/** From acceptance to the end, with one tool round. */
const live = async ({ actor, settle }: StubbedActor): Promise<void> => {
  actor.send({ type: 'CLAIM' });
  await settle({ kind: 'calls' });
  await settle({ kind: 'executed' });
  await settle({ over: false });
  await settle({ kind: 'answer' });
  await settle();
  await settle();
};

t.test('lists live actors with their states and their parents', async (t) => {
  const { inspector } = setup();
  const run = startRun();
  inspector.began(startThread().actor, THREAD);
  const ended = inspector.began(run.actor, RUN);
  run.actor.send({ type: 'CLAIM' });
  const thread = {
    id: 'thread:T',
    machine: 'thread',
    state: 'idle',
    tags: [],
    since: 1000,
    parent: null,
    at_rest: false,
  };
  t.strictSame(listed(inspector), [
    { ...thread, children: ['run:R'] },
    {
      id: 'run:R',
      machine: 'run',
      state: 'running.inferring',
      tags: ['running', 'TASK_STATE_WORKING'],
      since: 1000,
      parent: 'thread:T',
      children: [],
      at_rest: false,
    },
  ]);
  ended();
  t.strictSame(listed(inspector), [{ ...thread, children: [] }]);
});

t.test('since is the time when the actor entered its state, regardless of substates', async (t) => {
  const { inspector, clock } = setup();
  const { actor } = startRun();
  inspector.began(actor, RUN);
  clock.at = 2000;
  actor.send({ type: 'CLAIM' });
  t.match(listed(inspector), [{ state: 'running.inferring', since: 2000 }]);
  clock.at = 3000;
  actor.send({ type: 'STEER' });
  t.ok(actor.getSnapshot().context.steered, 'the actor has processed the event');
  t.match(listed(inspector), [{ state: 'running.inferring', since: 2000 }]);
});

t.test('a follower receives every transition of a run, with the ids of the description', async (t) => {
  const { inspector } = setup();
  const follower = createFollower();
  inspector.follow(scope, {}, follower);
  const run = startRun();
  const ended = inspector.began(run.actor, RUN);
  await live(run);
  ended();
  const frames = follower.frames();
  t.match(frames[0], { type: 'began', id: 'run:R', state: 'created', parent: 'thread:T' });
  t.strictSame(frames.at(-1), {
    type: 'ended',
    actor: 'run:R',
    machine: 'run',
    state: 'completed',
    time: 1000,
  });
  const taken = transitions(frames);
  t.equal(taken.length, frames.length - 2);
  t.strictSame(
    taken.map(({ from, event, to }) => [from, event, to]),
    [
      ['created', 'CLAIM', 'running.inferring'],
      ['running.inferring', 'done.infer', 'running.acting'],
      ['running.acting', 'done.act', 'running.checkpointing'],
      ['running.checkpointing', 'done.checkpoint', 'running.inferring'],
      ['running.inferring', 'done.infer', 'concluding'],
      ['concluding', 'done.conclude', 'ending'],
      ['ending', 'done.finish', 'completed'],
    ],
  );
  const known = describeAll().find(({ name }) => name === 'run');
  for (const { transition, event } of taken) {
    t.equal(known?.transitions.find(({ id }) => id === transition)?.event, event, transition);
  }
});

t.test('reports failures and delays in the terms of the description', async (t) => {
  const { inspector } = setup();
  const follower = createFollower();
  const run = startRun({ maxAttempts: 2 });
  inspector.began(run.actor, RUN);
  inspector.follow(scope, {}, follower);
  run.actor.send({ type: 'CLAIM' });
  await run.fail(Object.assign(new Error('busy'), { transient: true }));
  await run.settle();
  run.elapse();
  t.strictSame(
    transitions(follower.frames())
      .slice(1)
      .map(({ event, to }) => [event, to]),
    [
      ['error.infer', 'running.retrying.rescheduling'],
      ['done.reschedule', 'running.retrying.pausing'],
      ['after retryDelay', 'running.retrying.reclaiming'],
    ],
  );
});

t.test('reports a transition that leaves no state, but no event without an effect', async (t) => {
  const { inspector } = setup();
  const follower = createFollower();
  const { actor } = startRun();
  inspector.began(actor, RUN);
  inspector.follow(scope, {}, follower);
  follower.frames();
  actor.send({ type: 'STEER' });
  t.strictSame(follower.frames(), []);
  actor.send({ type: 'CLAIM' });
  actor.send({ type: 'STEER' });
  t.match(follower.frames().at(-1), {
    type: 'transition',
    from: 'running.inferring',
    event: 'STEER',
    to: 'running.inferring',
  });
});

t.test('a late follower receives the live actors, then the transitions', async (t) => {
  const { inspector, clock } = setup();
  const { actor } = startRun();
  inspector.began(startThread().actor, THREAD);
  inspector.began(actor, RUN);
  actor.send({ type: 'CLAIM' });
  clock.at = 5000;
  const follower = createFollower();
  inspector.follow(scope, {}, follower);
  t.strictSame(
    follower.frames(),
    listed(inspector).map((listed) => ({ type: 'actor', ...listed })),
  );
  actor.send({ type: 'CANCEL' });
  t.match(follower.frames(), [
    {
      type: 'transition',
      actor: 'run:R',
      from: 'running.inferring',
      event: 'CANCEL',
      to: 'concluding',
      time: 5000,
    },
  ]);
});

t.test('actors have inspectors only while there are followers', async (t) => {
  const { inspector } = setup();
  const early = startRun();
  const late = startRun();
  inspector.began(early.actor, RUN);
  t.equal(early.inspectors(), 0);
  const leave = [createFollower(), createFollower()].map((follower) => inspector.follow(scope, {}, follower));
  const ended = inspector.began(late.actor, { ...RUN, id: 'R2' });
  t.strictSame(
    [early.inspectors(), late.inspectors()],
    [1, 1],
    'any number of followers share one inspector',
  );
  leave[0]?.();
  t.strictSame([early.inspectors(), late.inspectors()], [1, 1]);
  ended();
  t.equal(late.inspectors(), 0, 'an ended actor has no inspector');
  leave[1]?.();
  t.equal(early.inspectors(), 0);
  inspector.follow(scope, {}, createFollower());
  t.equal(early.inspectors(), 1, 'a new follower adds an inspector again');
});

t.test('a follower that has left receives nothing more, the others do', async (t) => {
  const { inspector } = setup();
  const [gone, stays] = [createFollower(), createFollower()];
  const { actor } = startRun();
  inspector.began(actor, RUN);
  const leave = inspector.follow(scope, {}, gone);
  inspector.follow(scope, {}, stays);
  leave();
  gone.frames();
  stays.frames();
  actor.send({ type: 'CLAIM' });
  t.strictSame(gone.frames(), []);
  t.equal(stays.frames().length, 1);
});

t.test('a follower that leaves during a frame does not affect other followers', async (t) => {
  const { inspector } = setup();
  const stays = createFollower();
  const { actor } = startRun();
  inspector.began(actor, RUN);
  let leave = (): void => {};
  leave = inspector.follow(
    scope,
    {},
    {
      ...createFollower(),
      write: (frames) => frames.includes('CLAIM') && leave(),
    },
  );
  inspector.follow(scope, {}, stays);
  stays.frames();
  actor.send({ type: 'CLAIM' });
  t.equal(stays.frames().length, 1);
  t.equal(actor.getSnapshot().status, 'active');
});

t.test('a scope does not see the actors of another scope', async (t) => {
  const { inspector } = setup();
  const follower = createFollower();
  const { actor, inspectors } = startRun();
  inspector.follow('other', {}, follower);
  const ended = inspector.began(actor, RUN);
  actor.send({ type: 'CLAIM' });
  t.strictSame(listed(inspector, 'other'), []);
  t.equal(inspectors(), 0, 'a follower of another scope adds no inspector');
  ended();
  t.strictSame(follower.frames(), []);
});

t.test('an id names one actor: the older one ends when a newer one takes the id', async (t) => {
  const { inspector } = setup();
  const follower = createFollower();
  const [older, newer] = [startThread(), startThread()];
  const olderEnded = inspector.began(older.actor, THREAD);
  inspector.follow(scope, {}, follower);
  follower.frames();
  const newerEnded = inspector.began(newer.actor, THREAD);
  t.match(follower.frames(), [
    { type: 'ended', actor: 'thread:T' },
    { type: 'began', id: 'thread:T' },
  ]);
  older.actor.send({ type: 'DELETE', request: {} });
  olderEnded();
  t.strictSame(follower.frames(), []);
  t.equal(listed(inspector).length, 1);
  newerEnded();
  t.match(follower.frames(), [{ type: 'ended', actor: 'thread:T' }]);
  t.strictSame(listed(inspector), []);
});

t.test('an actor that ends late, after its scope was empty, removes no other actor', async (t) => {
  const { inspector } = setup();
  const olderEnded = inspector.began(startThread().actor, THREAD);
  inspector.began(startThread().actor, THREAD)();
  inspector.began(startThread().actor, THREAD);
  olderEnded();
  t.equal(listed(inspector).length, 1);
});

t.test('leaves the failure of an actor to the runtime', async (t) => {
  const { inspector } = setup();
  const errors: unknown[] = [];
  const unhandled: unknown[] = [];
  const { actor } = startThread(() => {
    throw new Error('the store is unavailable');
  });
  actor.subscribe({ error: (error) => errors.push(error) });
  const ended = inspector.began(actor, THREAD);
  const note = (error: unknown): number => unhandled.push(error);
  process.once('uncaughtException', note);
  actor.send({ type: 'WAKE' });
  // Without a listener, a timer with delay 0 throws such an error. This timer fires after it.
  await new Promise((resolve) => setTimeout(resolve, 0));
  process.off('uncaughtException', note);
  ended();
  t.equal(errors.length, 1);
  t.strictSame(unhandled, []);
});
