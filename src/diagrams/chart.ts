import type { Chart, ChartArrow, ChartLevels, ChartRow, ChartState } from '../schema/chart.ts';
import type { MachineDescription } from './description.ts';
import { explain, type Picture, pictureOf } from './diagram.ts';
import type { LayoutEngine } from './elk.ts';
import { foldedIn } from './fold.ts';
import { grouped } from './groups.ts';
import { type PlacedArrow, type PlacedState, place } from './layout.ts';
import { explainLines, kindOfAll, type Line, type Row, shortName } from './lines.ts';
import { isInside, nameOf, shownAs } from './nesting.ts';
import { chooseTint } from './palette.ts';

/**
 * Machines as drawing data for live views: each machine at every folding depth, with arrows labeled by their events
 * alone. Guards, actions and activities of states are part of the explanations that a viewer shows on request.
 */

/** Number of names on an arrow. */
const MOST_NAMES = 3;

/** Replaces the lines of an arrow by one line per kind, with the names of its events. */
const eventsOf = (machine: MachineDescription, lines: readonly Line[]): Line[] =>
  grouped(lines, ({ kind }) => kind).map((together) => {
    const [{ kind }] = together;
    const transitions = together.flatMap((line) => line.transitions);
    const names = [...new Set(transitions.map((transition) => shortName(machine, transition)))];
    const shown = names.length > MOST_NAMES ? [...names.slice(0, MOST_NAMES - 1), '…'] : names;
    const places = together.every(({ where }) => where.length > 0)
      ? new Set(together.flatMap(({ where }) => where)).size
      : 0;
    const where = places === 0 ? [] : [places === 1 ? 'one state' : `${places} states`];
    return { text: shown.join(', '), kind, where, transitions };
  });

const withoutDetails = (picture: Picture): Picture => ({
  ...picture,
  activities: [],
  states: picture.states.map((shown) => ({ ...shown, activities: [] })),
  arrows: picture.arrows.map((arrow) => ({ ...arrow, lines: eventsOf(picture.machine, arrow.lines) })),
});

/** Space for the actors in a state. */
const FOR_ACTORS = { width: 120, height: 18 };

/** Space for the number of actors next to the name of a state. */
const FOR_COUNT = 22;

/** A folded state of a small picture does not show how many states it hides. */
const withoutTexts = (picture: Picture): Picture => ({
  ...picture,
  activities: [],
  states: picture.states.map((shown) => ({ ...shown, activities: [], hidden: [] })),
});

const FOR_FEW_ACTORS = { width: 70, height: 14 };

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
  const { state, open } = placed.shown;
  const full = picture.states.find((shown) => shown.state === state) ?? placed.shown;
  return {
    ...roundBox(placed),
    path: state.path,
    name: nameOf(state.path),
    tint: chooseTint(picture.machine, state),
    open,
    final: state.type === 'final',
    hidden: full.hidden,
    rows: placed.rows.map(rowOf),
    about: explain(full),
  };
};

const arrowOf = (machine: MachineDescription, { arrow, points, label, rows }: PlacedArrow): ChartArrow => ({
  points: roundPoints(points),
  label: roundBox(label),
  rows: rows.map(rowOf),
  kind: kindOfAll(arrow.lines),
  inward: arrow.inward,
  transitions: arrow.lines.flatMap(({ transitions }) => transitions.map(({ id }) => id)),
  names: arrow.lines.flatMap(({ transitions }) => transitions.map((each) => shortName(machine, each))),
  about: explainLines(arrow.lines),
});

/**
 * Transitions without an arrow happen inside a state, or inside a folded one around it; those of the whole machine are
 * left out.
 */
const insideOf = ({ transitions }: MachineDescription, folded: ReadonlySet<string>, drawn: Set<string>) =>
  Object.fromEntries(
    transitions.flatMap(({ id, from }) =>
      drawn.has(id) || from === null ? [] : [[id, shownAs(from, folded)]],
    ),
  );

const chartOf = async (
  machine: MachineDescription,
  folded: ReadonlySet<string>,
  { engine, isCompact }: { engine: LayoutEngine | undefined; isCompact: boolean },
): Promise<Chart> => {
  const picture = pictureOf(machine, folded);
  const { width, height, states, arrows, starts } = await (isCompact
    ? place(
        withoutTexts(picture),
        { titled: false, bare: true, inside: FOR_FEW_ACTORS, besideName: FOR_COUNT },
        engine,
      )
    : place(withoutDetails(picture), { titled: false, inside: FOR_ACTORS }, engine));
  const drawn = arrows.map((arrow) => arrowOf(machine, arrow));
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

/** The states to fold in the compact layouts. In the second one, the states of an actor at work are open. */
const compactFolds = (machine: MachineDescription): ReadonlySet<string>[] => {
  const outermost = foldedIn(machine, { depth: 1 });
  const working = machine.states
    .filter(({ path, tags }) => outermost.has(path) && tags.includes('running'))
    .map(({ path }) => path);
  if (working.length === 0) return [outermost];
  const inner = [...foldedIn(machine, { depth: 2 })].filter((path) =>
    working.some((outer) => isInside(path, outer)),
  );
  return [outermost, new Set([...outermost, ...inner].filter((path) => !working.includes(path)))];
};

/** @example const { levels } = await chartLevels(describeMachine('run', runMachine)); */
export const chartLevels = async (
  machine: MachineDescription,
  engine?: LayoutEngine,
): Promise<ChartLevels> => {
  const depths = Array.from({ length: depthOf(machine) }, (_, index) => index + 1);
  const levels = await Promise.all(
    depths.map((depth) => chartOf(machine, foldedIn(machine, { depth }), { engine, isCompact: false })),
  );
  const compact = await Promise.all(
    compactFolds(machine).map((folded) => chartOf(machine, folded, { engine, isCompact: true })),
  );
  return { name: machine.name, description: machine.description, levels, compact };
};
