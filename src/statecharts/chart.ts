import type { Chart, ChartArrow, ChartLevels, ChartRow, ChartState } from '../schema/chart.ts';
import type { MachineDescription } from './description.ts';
import { explain, type Picture, pictureOf } from './diagram.ts';
import type { LayoutEngine } from './elk.ts';
import { foldedIn } from './fold.ts';
import { grouped } from './groups.ts';
import { type PlacedArrow, type PlacedState, place } from './layout.ts';
import { explainLines, kindOfAll, type Line, type Row, speak } from './lines.ts';
import { nameOf, shownAs } from './nesting.ts';
import { tintOf } from './palette.ts';

/**
 * Machines as data that is only drawn, for who watches them move: each at every depth, an arrow labelled with its
 * events alone. Guards, actions and what a state does by itself are what one reads when one asks.
 */

/** In place of all lines of an arrow, one of each kind that names its events. */
const eventsOf = (machine: MachineDescription, lines: readonly Line[]): Line[] =>
  grouped(lines, ({ kind }) => kind).map((together) => {
    const [{ kind }] = together;
    const transitions = together.flatMap((line) => line.transitions);
    const events = new Set(transitions.map((transition) => speak(machine, transition).event));
    const places = together.every(({ where }) => where.length > 0)
      ? new Set(together.flatMap(({ where }) => where)).size
      : 0;
    const where = places === 0 ? [] : [places === 1 ? 'one state' : `${places} states`];
    return { text: [...events].join(', '), kind, where, transitions };
  });

const withoutDetails = (picture: Picture): Picture => ({
  ...picture,
  activities: [],
  states: picture.states.map((shown) => ({ ...shown, activities: [] })),
  arrows: picture.arrows.map((arrow) => ({ ...arrow, lines: eventsOf(picture.machine, arrow.lines) })),
});

/** Room for those who are in a state. */
const FOR_ACTORS = { width: 120, height: 18 };

const rowOf = ({ text, indented, soft }: Row): ChartRow => ({ text, indented, soft });

const round = (value: number): number => Math.round(value * 10) / 10;

const roundBox = <Box extends { x: number; y: number; width: number; height: number }>({
  x,
  y,
  width,
  height,
}: Box) => ({ x: round(x), y: round(y), width: round(width), height: round(height) });

const roundPoints = (points: readonly { x: number; y: number }[]) =>
  points.map(({ x, y }) => ({ x: round(x), y: round(y) }));

const stateOf = (picture: Picture, placed: PlacedState): ChartState => {
  const { state, open, hidden } = placed.shown;
  const full = picture.states.find((shown) => shown.state === state) ?? placed.shown;
  return {
    ...roundBox(placed),
    path: state.path,
    name: nameOf(state.path),
    tint: tintOf(picture.machine, state),
    open,
    final: state.type === 'final',
    hidden,
    rows: placed.rows.map(rowOf),
    about: explain(full),
  };
};

const arrowOf = ({ arrow, points, label, rows }: PlacedArrow): ChartArrow => ({
  points: roundPoints(points),
  label: roundBox(label),
  rows: rows.map(rowOf),
  kind: kindOfAll(arrow.lines),
  inward: arrow.inward,
  transitions: arrow.lines.flatMap(({ transitions }) => transitions.map(({ id }) => id)),
  about: explainLines(arrow.lines),
});

/** What no arrow stands for happens in a state, or in a folded one around it; in the machine it leaves no trace. */
const insideOf = ({ transitions }: MachineDescription, folded: ReadonlySet<string>, drawn: Set<string>) =>
  Object.fromEntries(
    transitions.flatMap(({ id, from }) =>
      drawn.has(id) || from === null ? [] : [[id, shownAs(from, folded)]],
    ),
  );

const chartOf = async (
  machine: MachineDescription,
  folded: ReadonlySet<string>,
  engine: LayoutEngine | undefined,
): Promise<Chart> => {
  const picture = pictureOf(machine, folded);
  const { width, height, states, arrows, starts } = await place(
    withoutDetails(picture),
    { titled: false, inside: FOR_ACTORS },
    engine,
  );
  const drawn = arrows.map(arrowOf);
  return {
    width: Math.ceil(width),
    height: Math.ceil(height),
    states: states.map((state) => stateOf(picture, state)),
    arrows: drawn,
    starts: starts.map(({ dot, points }) => ({ dot: roundBox(dot), points: roundPoints(points) })),
    inside: insideOf(machine, folded, new Set(drawn.flatMap(({ transitions }) => transitions))),
  };
};

const depthOf = ({ states }: MachineDescription): number =>
  Math.max(1, ...states.map(({ path }) => path.split('.').length));

/** @example const { levels } = await chartLevels(describeMachine('run', runMachine)); */
export const chartLevels = async (
  machine: MachineDescription,
  engine?: LayoutEngine,
): Promise<ChartLevels> => {
  const depths = Array.from({ length: depthOf(machine) }, (_, index) => index + 1);
  const levels = await Promise.all(
    depths.map((depth) => chartOf(machine, foldedIn(machine, { depth }), engine)),
  );
  return { name: machine.name, description: machine.description, levels };
};
