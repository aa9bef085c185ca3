import t from 'tap';
import { describeAll, describeMachine } from '../../src/statecharts/describe.ts';
import { type Box, FONT, place } from '../../src/statecharts/layout.ts';
import { lampMachine } from './lamp.ts';

const SLACK = 0.5;
/** Letters of a fixed-width font are at least this wide, in ems. */
const ADVANCE = 0.6;

const overlap = (a: Box, b: Box): boolean =>
  a.x + SLACK < b.x + b.width &&
  b.x + SLACK < a.x + a.width &&
  a.y + SLACK < b.y + b.height &&
  b.y + SLACK < a.y + a.height;

const holds = (box: Box, lines: readonly string[]): boolean =>
  box.height >= lines.length * FONT.lineHeight &&
  box.width >= Math.max(...lines.map((line) => line.length)) * FONT.small * ADVANCE;

const inside = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x - SLACK &&
  inner.y >= outer.y - SLACK &&
  inner.x + inner.width <= outer.x + outer.width + SLACK &&
  inner.y + inner.height <= outer.y + outer.height + SLACK;

const touches = ({ x, y }: { x: number; y: number }, box: Box): boolean =>
  inside({ x, y, width: 0, height: 0 }, box) &&
  !inside({ x: x - 2 * SLACK, y: y - 2 * SLACK, width: 4 * SLACK, height: 4 * SLACK }, box);

for (const machine of [...describeAll(), describeMachine('lamp', lampMachine)]) {
  const { states, arrows, starts, anywhere, width, height } = await place(machine);
  const boxOf = (path: string | null): Box | undefined =>
    path === null ? anywhere : states.find(({ state }) => state.path === path);

  t.test(`no label of ${machine.name} hides another one, or a state`, async (t) => {
    const leaves = states.filter(({ nested }) => !nested);
    for (const [index, { arrow, label }] of arrows.entries()) {
      const hidden = arrows.slice(index + 1).filter((other) => overlap(label, other.label));
      t.same(
        hidden.map((other) => other.arrow),
        [],
        `${arrow.from} to ${arrow.to}`,
      );
      t.same(
        leaves.filter((leaf) => overlap(label, leaf)).map(({ state }) => state.path),
        [],
        arrow.lines.join(),
      );
    }
  });

  t.test(`every text of ${machine.name} has the room that it needs`, async (t) => {
    for (const { arrow, label } of arrows) t.ok(holds(label, arrow.lines), arrow.lines.join());
    for (const placed of states) {
      const name = placed.state.path.split('.').slice(-1);
      t.ok(holds(placed, [...name, ...placed.activities]), placed.state.path);
    }
  });

  t.test(
    `every state of ${machine.name} lies inside the state around it and beside its siblings`,
    async (t) => {
      const picture = { x: 0, y: 0, width, height };
      for (const placed of states) {
        const { path, parent } = placed.state;
        t.ok(inside(placed, parent === null ? picture : (boxOf(parent) ?? { ...picture, width: 0 })), path);
        const siblings = states.filter(({ state }) => state.parent === parent && state.path !== path);
        t.notOk(
          siblings.some((sibling) => overlap(placed, sibling)),
          path,
        );
      }
    },
  );

  t.test(`every arrow of ${machine.name} leads from its state to its state`, async (t) => {
    for (const { arrow, points } of arrows) {
      const [start, end] = [points[0], points.at(-1)];
      const [from, to] = [boxOf(arrow.from), boxOf(arrow.to)];
      const leads = start && end && from && to && touches(start, from) && touches(end, to);
      t.ok(leads, `${arrow.from} to ${arrow.to}`);
    }
  });

  t.test(`${machine.name} begins at a dot wherever something is entered first`, async (t) => {
    const initials = [machine, ...machine.states].flatMap(({ initial }) => initial ?? []);
    t.equal(starts.length, initials.length);
    for (const [index, { points }] of starts.entries()) {
      const [end, box] = [points.at(-1), boxOf(initials[index] ?? null)];
      t.ok(end && box && touches(end, box), `${initials[index]}`);
    }
  });
}
