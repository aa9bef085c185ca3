import t from 'tap';
import { type Box, FONT, type Placed, place } from '../../src/diagrams/layout.ts';
import { lengthOf, type Row } from '../../src/diagrams/lines.ts';
import { nameOf } from '../../src/diagrams/nesting.ts';
import { pictures } from './pictures.ts';

const SLACK = 0.5;
/** Letters of a fixed-width font are at least this wide, in ems. */
const ADVANCE = 0.6;
/** Lines that are closer to each other look like one. */
const APART = 4;

type Point = { x: number; y: number };

const overlap = (a: Box, b: Box): boolean =>
  a.x + SLACK < b.x + b.width &&
  b.x + SLACK < a.x + a.width &&
  a.y + SLACK < b.y + b.height &&
  b.y + SLACK < a.y + a.height;

const holds = (box: Box, rows: readonly Row[]): boolean =>
  box.height >= rows.length * FONT.lineHeight &&
  box.width >= Math.max(0, ...rows.map(lengthOf)) * FONT.small * ADVANCE;

const inside = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x - SLACK &&
  inner.y >= outer.y - SLACK &&
  inner.x + inner.width <= outer.x + outer.width + SLACK &&
  inner.y + inner.height <= outer.y + outer.height + SLACK;

const touches = ({ x, y }: Point, box: Box): boolean =>
  inside({ x, y, width: 0, height: 0 }, box) &&
  !inside({ x: x - 2 * SLACK, y: y - 2 * SLACK, width: 4 * SLACK, height: 4 * SLACK }, box);

/** The segments of a line, as boxes with zero thickness. */
const stretches = (points: readonly Point[]): Box[] =>
  points.slice(1).map((end, index) => {
    const start = points[index] ?? end;
    return {
      x: Math.min(start.x, end.x),
      y: Math.min(start.y, end.y),
      width: Math.abs(end.x - start.x),
      height: Math.abs(end.y - start.y),
    };
  });

const shrunk = ({ x, y, width, height }: Box): Box => ({
  x: x + 2 * SLACK,
  y: y + 2 * SLACK,
  width: width - 4 * SLACK,
  height: height - 4 * SLACK,
});

/** Whether segments of two lines are parallel and too close to distinguish. */
const runsAlong = (one: Box, other: Box): boolean => {
  const upright = one.width < SLACK && other.width < SLACK;
  if (!upright && !(one.height < SLACK && other.height < SLACK)) return false;
  const gap = upright ? one.x - other.x : one.y - other.y;
  const [from, to] = upright ? (['y', 'height'] as const) : (['x', 'width'] as const);
  const shared = Math.min(one[from] + one[to], other[from] + other[to]) - Math.max(one[from], other[from]);
  return Math.abs(gap) < APART && shared > APART;
};

for (const { title, picture } of pictures) {
  const placed: Placed = await place(picture, { titled: true });
  const { states, arrows, starts, width, height } = placed;
  const boxOf = (path: string | null): Box | undefined =>
    states.find(({ shown }) => shown.state.path === path);
  const boxes = states.filter(({ shown }) => !shown.open);

  t.test(`no label of ${title} overlaps another one, or a state`, async (t) => {
    for (const [index, { arrow, label }] of arrows.entries()) {
      const hidden = arrows.slice(index + 1).filter((other) => overlap(label, other.label));
      const name = `${arrow.from} to ${arrow.to}`;
      t.same(
        hidden.map((other) => other.arrow),
        [],
        name,
      );
      t.same(
        boxes.filter((box) => overlap(label, box)).map(({ shown }) => shown.state.path),
        [],
        name,
      );
    }
  });

  t.test(`no arrow of ${title} runs through a state or another label, or along it`, async (t) => {
    for (const { arrow, points } of arrows) {
      const others = arrows.filter((other) => other.arrow !== arrow);
      const hindered = stretches(points).filter(
        (stretch) =>
          [...boxes, ...others.map(({ label }) => label)].some((box) => overlap(stretch, shrunk(box))) ||
          others.some((other) => stretches(other.points).some((along) => runsAlong(stretch, along))),
      );
      t.same(hindered, [], `${arrow.from} to ${arrow.to}`);
    }
  });

  t.test(`every text of ${title} fits into its space`, async (t) => {
    for (const { arrow, label, rows } of arrows) t.ok(holds(label, rows), `${arrow.from} to ${arrow.to}`);
    for (const { shown, rows, ...box } of states) {
      const { path } = shown.state;
      t.ok(holds(box, rows), path);
      t.ok(box.width >= nameOf(path).length * FONT.name * ADVANCE, path);
    }
  });

  t.test(`every state of ${title} is inside its parent state, and overlaps no sibling`, async (t) => {
    for (const { shown, rows: _, ...box } of states) {
      const { path, parent } = shown.state;
      const around = parent === null ? { x: 0, y: 0, width, height } : boxOf(parent);
      t.ok(around && inside(box, around), path);
      const siblings = states.filter(
        ({ shown: { state } }) => state.parent === parent && state.path !== path,
      );
      t.notOk(
        siblings.some((sibling) => overlap(box, sibling)),
        path,
      );
    }
  });

  t.test(`every arrow of ${title} leads from its state, or its label, to its state`, async (t) => {
    for (const { arrow, label, points } of arrows) {
      const [start, end] = [points[0], points.at(-1)];
      const [from, to] = [arrow.inward ? label : boxOf(arrow.from), boxOf(arrow.to)];
      const leads = start && end && from && to && touches(start, from) && touches(end, to);
      t.ok(leads, `${arrow.from} to ${arrow.to}`);
    }
  });

  t.test(`what ${title} does in every state of a region is inside that region`, async (t) => {
    for (const { arrow, label, rows } of arrows) {
      const everywhere = arrow.lines.filter(({ where }) => arrow.inward && where.length === 0);
      t.equal(rows.filter(({ text }) => text === 'in every state').length, everywhere.length);
      if (!arrow.inward) continue;
      const around = boxOf(arrow.from) ?? { x: 0, y: 0, width, height };
      t.ok(inside(label, around), `${arrow.from} to ${arrow.to}`);
    }
  });

  t.test(`${title} has a start dot for each initial state`, async (t) => {
    const open = picture.states.filter((shown) => shown.open).map(({ state }) => state);
    const initials = [picture.machine, ...open].flatMap(({ initial }) => initial ?? []);
    t.equal(starts.length, initials.length);
    for (const [index, { dot, points }] of starts.entries()) {
      const [start, end, box] = [points[0], points.at(-1), boxOf(initials[index] ?? null)];
      t.ok(start && touches(start, dot), `${initials[index]}`);
      t.ok(end && box && touches(end, box), `${initials[index]}`);
    }
  });
}
