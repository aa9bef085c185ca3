import t from 'tap';
import { runMachine } from '../../machines/run.ts';
import {
  type Actors,
  countByState,
  createActors,
  findActor,
  frameOf,
  isIn,
  MOST_ENDED,
  MOST_STEPS,
  take,
} from '../../src/console/statechart/actors.ts';
import { arrowFor, litBy, shownIn } from '../../src/console/statechart/chart.ts';
import { along, createWall, restOf } from '../../src/console/statechart/dots.ts';
import { momentOf } from '../../src/console/statechart/path.ts';
import type { Chart } from '../../src/schema/chart.ts';
import { chartLevels } from '../../src/statecharts/chart.ts';
import { describeMachine } from '../../src/statecharts/describe.ts';

/** What is seen of actors while they move. */

const machine = describeMachine('run', runMachine);
const { levels } = await chartLevels(machine);
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

/** A transition that leads from one state of the picture to another. */
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
  'each state of a machine is in every level of it, once, and each transition leaves one trace',
  async (t) => {
    t.ok(levels.length > 1);
    for (const chart of levels) {
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

t.test('what is lit is the state and what is open around it, in any level', async (t) => {
  const deep = machine.states.find(({ path }) => path.split('.').length > 2)?.path ?? '';
  const [outer = ''] = deep.split('.');
  t.strictSame([...litBy(overview, [deep])], [outer]);
  const lit = litBy(whole, [deep]);
  t.ok(lit.has(deep) && lit.has(outer));
  t.equal(litBy(whole, ['no.such.state']).size, 0);
});

t.test('an actor is what its frames say, and keeps the way that it came', async (t) => {
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
  t.match(countByState(actors).get('failed'), 1);
  told(actors, { type: 'ended', actor: 'run:1', machine: 'run', state: 'failed', time: 3 });
  t.equal(actors.live.size, 0);
  t.match(findActor(actors, 'run:1'), { hasEnded: true });
  t.match(told(actors, began('run:1')), { hasEnded: false, steps: [] });
  t.equal(actors.ended.size, 0);
});

t.test('a run that goes to rest is still there, and frames of a new kind are passed over', async (t) => {
  const actors = createActors();
  told(actors, began('run:1', 'waiting.forDecision'));
  told(actors, { type: 'ended', actor: 'run:1', machine: 'run', state: 'waiting.forDecision', time: 3 });
  t.match(actors.live.get('run:1'), { isAtRest: true, hasEnded: false });
  t.ok(isIn({ state: ['waiting.forDecision'] }, 'waiting'));
  t.notOk(isIn({ state: ['waitingfor'] }, 'waiting'));
  t.equal(frameOf({ type: 'sung', actor: 'run:1' }, ''), undefined);
  t.throws(() => frameOf({ type: 'began' }, 'frame'), /frame/);
});

t.test('however long they live and however many there are, what is kept of them has a limit', async (t) => {
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
  'a dot goes along the arrows that its actor takes, and has a place of its own when it is there',
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
    const many = wall.at(9000).dots.filter(({ id }) => id !== 'a');
    t.equal(many.length, 2000);
    t.ok(many.every(({ x, y }) => inside(x, y)));

    wall.move({ ...at(crossing.to), hasEnded: true }, 10_000);
    t.ok((wall.at(10_800).dots.find(({ id }) => id === 'a')?.opacity ?? 1) < 1);
    wall.at(20_000);
    t.equal(wall.has('a'), false);
    wall.forget('n1');
    t.equal([...wall.ids()].length, 1999);
  },
);

t.test('a way has a point for each part of it, and what is left of it begins there', async (t) => {
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
