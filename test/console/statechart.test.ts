import t from 'tap';
import { runMachine } from '../../machines/run.ts';
import { toolCallMachine } from '../../machines/tool-call.ts';
import {
  type Actors,
  countByMachine,
  createActors,
  findActor,
  frameOf,
  isIn,
  MOST_ENDED,
  MOST_STEPS,
  take,
} from '../../src/console/live-charts/actors.ts';
import { arrowFor, litBy, shownIn } from '../../src/console/live-charts/chart.ts';
import { createWall, mostDots } from '../../src/console/live-charts/dots.ts';
import { MOST_MARKS, marksFor } from '../../src/console/live-charts/marks.ts';
import { paceFor } from '../../src/console/live-charts/pace.ts';
import { momentOf } from '../../src/console/live-charts/path.ts';
import { currentRun, loggedId, shownRun } from '../../src/console/live-charts/thread-run.ts';
import { along, restOf } from '../../src/console/live-charts/way.ts';
import { chartLevels } from '../../src/diagrams/chart.ts';
import { describeMachine } from '../../src/diagrams/describe.ts';
import type { Chart } from '../../src/schema/chart.ts';

/** Display of actors as they move. */

const machine = describeMachine('run', runMachine);
const { levels, compact } = await chartLevels(machine);
const overview = levels[0] as Chart;
const whole = levels.at(-1) as Chart;

const told = (actors: Actors, frame: object) => {
  const read = frameOf(frame, 'frame');
  return read && take(actors, read);
};

const began = (id: string, state = 'created') => ({
  type: 'began',
  id,
  machine: 'run',
  state,
  since: 1,
  parent: null,
  children: [],
  at_rest: false,
});

/** A transition between two states of the overview. */
const crossing = (() => {
  const arrow = overview.arrows.find(({ transitions }) => transitions.length > 0);
  const id = arrow?.transitions[0] ?? '';
  const found = machine.transitions.find((transition) => transition.id === id);
  return { id, from: found?.from ?? '', to: found?.to ?? '', event: found?.event ?? '' };
})();

const step = (actor: string, { from, to, id, event } = crossing, time = 2) => ({
  type: 'transition',
  actor,
  machine: 'run',
  from,
  event,
  to,
  transition: id,
  time,
});

t.test(
  'shows every state once in each level of detail, and represents every transition there exactly once',
  async (t) => {
    t.ok(levels.length > 1);
    for (const chart of [...levels, ...compact]) {
      const shown = machine.states.map(({ path }) => shownIn(chart, path));
      t.notOk(shown.includes(undefined));
      const traces = machine.transitions.map(
        ({ id }) => Number(arrowFor(chart, id) !== undefined) + Number(id in chart.inside),
      );
      const ofMachine = machine.transitions.filter(({ from }) => from === null).length;
      t.ok(traces.every((count) => count <= 1));
      t.ok(traces.filter((count) => count === 0).length <= ofMachine);
      for (const { x, y, width, height } of chart.states)
        t.ok(x >= 0 && y >= 0 && x + width <= chart.width && y + height <= chart.height);
    }
    t.ok(overview.states.length < whole.states.length);
  },
);

t.test('fits a conversation and a card, without texts on arrows', async (t) => {
  const [outermost, working] = compact;
  t.ok(outermost && working && outermost.states.length < working.states.length);
  for (const chart of compact) {
    t.ok(chart.width < 600, 'the names are readable in 500 pixels');
    t.ok(chart.arrows.every(({ rows }) => rows.length === 0));
  }
  const open = working?.states.filter((state) => state.open).map(({ path }) => path);
  t.strictSame(open, ['running'], 'only the states of work are open');
  t.equal(working && shownIn(working, 'waiting.forDecision.parked'), 'waiting');
  const atOnce = await chartLevels(describeMachine('tool-call', toolCallMachine));
  t.equal(atOnce.compact.length, 1);
});

t.test('tints states by status, and ends by outcome', async (t) => {
  const tints = Object.fromEntries(overview.states.map(({ path, tint }) => [path, tint]));
  t.match(tints, {
    created: 'created',
    running: 'running',
    waiting: 'waiting',
    ending: 'done',
    completed: 'completed',
    failed: 'failed',
    blocked: 'failed',
    cancelled: 'cancelled',
  });
});

t.test('names a result by the guard that selects it', async (t) => {
  const nameFor = (id: string): string | undefined => {
    const arrow = whole.arrows.find(({ transitions }) => transitions.includes(id));
    return arrow?.names[arrow.transitions.indexOf(id)];
  };
  const asks = machine.transitions.find(({ guard }) => guard === 'asksForTools');
  t.equal(asks && nameFor(asks.id), 'asks for tools');
  t.equal(nameFor('created CLAIM 0'), 'CLAIM');
});

t.test('shows each step of a backlog, but not for longer than a few seconds', async (t) => {
  t.equal(paceFor(1), paceFor(5), 'a short backlog has the usual pace');
  t.ok(paceFor(40) < paceFor(5));
  t.ok(paceFor(10_000) > 0);
});

t.test('shows the executing run of a thread, with the steps before the page followed it', async (t) => {
  const actors = createActors();
  const none = { moments: [], steps: [] };
  t.equal(shownRun(currentRun(actors, 't'), undefined, none), undefined);
  const moment = { state: 'completed', status: 'done', steps: 1, seq: undefined } as const;
  const before = { serial: 1, event: 'CLAIM', from: 'created', to: 'running', transition: 'c', time: 1 };
  const logged = { moments: [moment], steps: [before, { ...before, time: 2 }] };
  const ended = shownRun(currentRun(actors, 't'), 'old', logged);
  t.match(ended, { runId: 'old', known: 2, actor: { state: ['completed'] } });
  t.equal(loggedId(currentRun(actors, 't'), 'old'), 'old', 'the log has the path of a run without an actor');

  told(actors, { ...began('run:waits', 'waiting'), type: 'actor', at_rest: true });
  told(actors, began('run:1', crossing.from));
  told(actors, { ...began('tool-call:1'), machine: 'tool-call' });
  told(actors, { ...began('run:of-a-delegate'), parent: 'thread:other' });
  told(actors, step('run:1'));
  t.equal(loggedId(currentRun(actors, 't'), 'old'), undefined);
  t.match(shownRun(currentRun(actors, 't'), 'old', none), {
    runId: '1',
    known: 0,
    actor: { steps: { length: 1 } },
  });
  told(actors, { type: 'ended', actor: 'run:1', machine: 'run', state: crossing.to, time: 3 });
  t.match(currentRun(actors, 't'), { id: 'run:1' }, 'the run that waits moved earlier');

  told(actors, { ...began('run:2', crossing.from), type: 'actor' });
  told(actors, step('run:2', crossing, 2));
  t.equal(loggedId(currentRun(actors, 't'), 'old'), '2', 'the page has not followed it from its start');
  const joined = shownRun(currentRun(actors, 't'), 'old', logged);
  t.match(joined, { runId: '2', known: 1, actor: { steps: { length: 2 } } });
});

t.test('highlights a state and its expanded ancestors in each level', async (t) => {
  const deep = machine.states.find(({ path }) => path.split('.').length > 2)?.path ?? '';
  const [outer = ''] = deep.split('.');
  t.strictSame([...litBy(overview, [deep])], [outer]);
  const lit = litBy(whole, [deep]);
  t.ok(lit.has(deep) && lit.has(outer));
  t.equal(litBy(whole, ['no.such.state']).size, 0);
});

t.test('tracks the state and the path of an actor', async (t) => {
  const actors = createActors();
  t.equal(told(actors, step('run:1')), undefined);
  t.match(told(actors, began('run:1', crossing.from)), { state: [crossing.from], steps: [], isCut: false });
  const moved = told(actors, step('run:1'));
  t.match(moved, { state: [crossing.to], since: 2, steps: [{ serial: 1, event: crossing.event }] });
  const { steps = [], state = [] } = moved ?? {};
  const [before, now] = [
    momentOf(overview, { steps, state }, 0),
    momentOf(overview, { steps, state }, undefined),
  ];
  t.strictSame(before.states, [crossing.from]);
  t.equal(before.passed.size, 0);
  t.strictSame(now.states, [crossing.to]);
  t.strictSame([...now.passed.values()], [1]);
  t.equal(now.step?.event, crossing.event);

  t.match(told(actors, { ...began('run:1', crossing.to), type: 'actor' }), {
    steps: [{ serial: 1 }],
    isCut: false,
  });
  t.match(told(actors, { ...began('run:1', 'failed'), type: 'actor' }), { steps: [], isCut: true });
  t.equal(countByMachine(actors).get('run')?.states.get('failed'), 1);
  told(actors, { type: 'ended', actor: 'run:1', machine: 'run', state: 'failed', time: 3 });
  t.equal(actors.live.size, 0);
  t.match(findActor(actors, 'run:1'), { hasEnded: true });
  t.match(told(actors, began('run:1')), { hasEnded: false, steps: [] });
  t.equal(actors.ended.size, 0);
});

t.test('keeps suspended runs and ignores unknown frames', async (t) => {
  const actors = createActors();
  told(actors, began('run:1', 'waiting.forDecision'));
  told(actors, { type: 'ended', actor: 'run:1', machine: 'run', state: 'waiting.forDecision', time: 3 });
  t.match(actors.live.get('run:1'), { isAtRest: true, hasEnded: false });
  t.ok(isIn({ state: ['waiting.forDecision'] }, 'waiting'));
  t.notOk(isIn({ state: ['waitingfor'] }, 'waiting'));
  const parked = actors.live.get('run:1');
  const resumed = told(actors, began('run:1', 'waiting.answered'));
  t.match(resumed, { isAtRest: false, steps: parked?.steps, isCut: parked?.isCut });
  t.match(
    told(actors, began('run:of-before', 'waiting.answered')),
    { isCut: true },
    'the start of the run is unknown',
  );
  t.equal(frameOf({ type: 'sung', actor: 'run:1' }, ''), undefined);
  t.throws(() => frameOf({ type: 'began' }, 'frame'), /frame/);
});

t.test('counts the actors of each machine, in their states and the states around them', async (t) => {
  const actors = createActors();
  const states = ['waiting.forDecision', 'waiting.forDecision', 'waiting.answered', 'completed'];
  for (const [index, state] of states.entries()) told(actors, began(`run:${index}`, state));
  told(actors, { ...began('call:1', 'a.b c.d'), machine: 'call' });
  const counts = countByMachine(actors);
  t.equal(counts.get('run')?.actors, 4);
  t.strictSame(Object.fromEntries(counts.get('run')?.states ?? []), {
    waiting: 3,
    'waiting.forDecision': 2,
    'waiting.answered': 1,
    completed: 1,
  });
  t.strictSame(Object.fromEntries(counts.get('call')?.states ?? []), { a: 1, 'a.b': 1, c: 1, 'c.d': 1 });
});

t.test('gives each agent a distinct and lasting mark', async (t) => {
  const agents = Array.from({ length: MOST_MARKS }, (_, index) => `agent-${index}`);
  const all = marksFor(agents);
  const looks = new Set(Array.from(all.values(), ({ color, corners }) => `${color} ${corners.join()}`));
  t.equal(looks.size, MOST_MARKS, 'no two agents share a color and a shape');
  t.strictSame(marksFor([...agents].reverse()), all, 'the order does not matter');
  const few = marksFor(['support-desk', 'writer']);
  t.strictSame(marksFor(['support-desk', 'writer', 'zoe']).get('writer'), few.get('writer'));
  t.equal(marksFor([...agents, 'one-more']).size, MOST_MARKS + 1);
});

t.test('limits the steps and ended actors that are kept', async (t) => {
  const actors = createActors();
  told(actors, began('run:long', crossing.from));
  for (let time = 0; time < 3 * MOST_STEPS; time += 1) told(actors, step('run:long', crossing, time));
  const long = actors.live.get('run:long');
  t.ok(long && long.steps.length <= MOST_STEPS && long.isCut);
  t.equal(long?.steps.at(-1)?.serial, 3 * MOST_STEPS);
  t.equal(new Set(long?.steps.map(({ serial }) => serial)).size, long?.steps.length);
  for (let n = 0; n < 3 * MOST_ENDED; n += 1) {
    told(actors, began(`run:${n}`));
    told(actors, { type: 'ended', actor: `run:${n}`, machine: 'run', state: 'completed', time: n });
  }
  t.equal(actors.ended.size, MOST_ENDED);
  t.ok(actors.ended.has(`run:${3 * MOST_ENDED - 1}`));
  t.equal(actors.live.size, 1);
});

t.test(
  'moves a dot along the arrows of its actor and then places it in a free slot within the new state',
  async (t) => {
    const wall = createWall(overview);
    const at = (state: string, transition?: string) => ({
      id: 'a',
      state: [state],
      transition,
      isAtRest: false,
      hasEnded: false,
    });
    wall.move(at(crossing.from), 0);
    const from = shownIn(overview, crossing.from);
    const box = overview.states.find(({ path }) => path === from);
    const inside = (x = -1, y = -1) =>
      box !== undefined && x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
    const start = wall.at(0);
    t.equal(start.isStill, true);
    t.ok(inside(start.dots[0]?.x, start.dots[0]?.y));

    wall.move(at(crossing.to, crossing.id), 1000);
    t.match(wall.at(1200), { isStill: false, dots: [{ isMoving: true }] });
    const there = wall.at(5000);
    t.match(there, { isStill: true, dots: [{ isMoving: false }] });
    t.notOk(inside(there.dots[0]?.x, there.dots[0]?.y));

    for (let n = 0; n < 2000; n += 1) wall.move({ ...at(crossing.from), id: `n${n}` }, 6000);
    const many = wall.at(9000);
    t.strictSame(
      many.dots.map(({ id }) => id),
      ['a'],
      'a crowd has no separate dots',
    );
    t.match(many.crowds, [{ count: 2000 }]);
    t.ok(many.crowds.every(({ x, y, width }) => inside(x, y) && inside(x + width, y)));
    const most = box ? mostDots(box) : 0;
    for (let n = most; n < 2000; n += 1) wall.forget(`n${n}`);
    const few = wall.at(9000).dots.filter(({ id }) => id !== 'a');
    t.equal(few.length, most);
    t.equal(new Set(few.map(({ x, y }) => `${x} ${y}`)).size, most, 'no dot covers another one');
    t.ok(few.every(({ x, y }) => inside(x, y)));

    wall.move({ ...at(crossing.to), hasEnded: true }, 10_000);
    t.ok((wall.at(10_800).dots.find(({ id }) => id === 'a')?.opacity ?? 1) < 1);
    wall.at(20_000);
    t.equal(wall.has('a'), false);
    wall.forget('n1');
    t.equal([...wall.ids()].length, most - 1);
  },
);

t.test('finds points on a way and the rest of it', async (t) => {
  const way = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
    { x: 10, y: 10 },
  ];
  t.strictSame(along(way, 5), { x: 5, y: 0 });
  t.strictSame(along(way, 15), { x: 10, y: 5 });
  t.strictSame(along(way, 99), { x: 10, y: 10 });
  t.strictSame(restOf(way, 5), [{ x: 5, y: 0 }, way[1], way[2]]);
  t.strictSame(restOf(way, 15), [{ x: 10, y: 5 }, way[2]]);
  t.strictSame(restOf(way, 99), [way[2]]);
});
