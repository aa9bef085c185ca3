import type { MachineDescription, TransitionDescription } from './description.ts';
import { grouped } from './groups.ts';
import { type Line, linesOf, type Saying, speak } from './lines.ts';
import { commonParent, isEvery, isInside, nameOf } from './nesting.ts';

/**
 * Determines the arrows of a picture. All transitions between the same two states share one arrow. Transitions that
 * several states have in common (the same event, guard, actions and target) start once at the state around them all,
 * with the names of the states that they apply to; but only where this reduces the number of arrows.
 */

export type Arrow = {
  /** null: the machine. */
  from: string | null;
  to: string;
  /** Whether it leads to a state inside its source. */
  inward: boolean;
  lines: Line[];
};

/** A transition between the two visible states that represent its source and target. */
export type TransitionPath = { from: string | null; to: string; transition: TransitionDescription };

type Common = {
  region: string | null;
  to: string;
  transitionPaths: readonly TransitionPath[];
  sources: ReadonlySet<string>;
};

const pairOf = (from: string | null, to: string): string => JSON.stringify([from, to]);

/** Returns the transitions that at least two states share, none of which contains another one or the target. */
const commonOf = (machine: MachineDescription, transitionPaths: readonly TransitionPath[]): Common[] =>
  grouped(transitionPaths, ({ to, transition }) => JSON.stringify([to, speak(machine, transition)])).flatMap(
    (alike) => {
      const [{ to }] = alike;
      const sources = [...new Set(alike.flatMap(({ from }) => from ?? []))];
      const paths = [...sources, to];
      const nested = paths.some((outer) => paths.some((path) => isInside(path, outer)));
      if (sources.length < 2 || nested || alike.some(({ from }) => from === null)) return [];
      return { region: commonParent(sources), to, transitionPaths: alike, sources: new Set(sources) };
    },
  );

/**
 * The minimum reduction. One arrow less is not enough if the shared arrow starts at a separate box, since the
 * connection between the individual states is then no longer visible.
 */
const leastSaved = ({ region, to }: Common): number => (isInside(to, region) ? 2 : 1);

const pays = (
  transitionPaths: readonly TransitionPath[],
  [first, ...more]: readonly [Common, ...Common[]],
): boolean => {
  const moved = new Set([first, ...more].flatMap((common) => common.transitionPaths));
  const before = new Set(transitionPaths.map(({ from, to }) => pairOf(from, to)));
  const after = new Set(
    transitionPaths.map((path) => pairOf(moved.has(path) ? first.region : path.from, path.to)),
  );
  return before.size - after.size >= leastSaved(first);
};

const merged = (
  machine: MachineDescription,
  transitionPaths: readonly TransitionPath[],
): ReadonlyMap<TransitionPath, Common> => {
  const places = grouped(commonOf(machine, transitionPaths), ({ region, to }) => pairOf(region, to));
  const paying = places.filter((commons) => pays(transitionPaths, commons)).flat();
  return new Map(paying.flatMap((common) => common.transitionPaths.map((path) => [path, common] as const)));
};

/**
 * States with the same name share an entry if no other state has it; otherwise the name of the parent state precedes
 * it.
 */
const namesOf = ({ states }: MachineDescription, { region, sources }: Common): string[] => {
  const names = [...sources].map((path) => {
    const name = nameOf(path);
    const others = states.some((state) => !sources.has(state.path) && nameOf(state.path) === name);
    const parent = path.slice(0, -name.length - 1);
    return others && parent !== (region ?? '') ? `${nameOf(parent)}.${name}` : name;
  });
  return [...new Set(names)];
};

export const mergeArrows = (
  machine: MachineDescription,
  transitionPaths: readonly TransitionPath[],
): Arrow[] => {
  const commons = merged(machine, transitionPaths);
  const whereOf = (common: Common | undefined): string[] =>
    !common || isEvery(machine, common.region, common.sources) ? [] : namesOf(machine, common);
  const drawn = transitionPaths.map((path) => {
    const common = commons.get(path);
    const { transition } = path;
    const saying: Saying = { spoken: speak(machine, transition), where: whereOf(common), transition };
    return { from: common ? common.region : path.from, to: path.to, saying };
  });
  return grouped(drawn, ({ from, to }) => pairOf(from, to)).map((together) => {
    const [{ from, to }] = together;
    return { from, to, inward: isInside(to, from), lines: linesOf(together.map(({ saying }) => saying)) };
  });
};
