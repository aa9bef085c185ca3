import type { MachineDescription, TransitionDescription } from './description.ts';
import { grouped } from './groups.ts';
import { type Line, linesOf, type Saying, speak } from './lines.ts';
import { around, isEvery, isInside, nameOf } from './nesting.ts';

/**
 * Which arrows a picture has. All transitions between the same two states share one arrow. What several states
 * have in common (the same event, guard, actions and target) leaves from the state around them all, once, and
 * says which of them it holds in; but only where this makes the arrows fewer.
 */

export type Arrow = {
  /** null: the machine. */
  from: string | null;
  to: string;
  /** Leads to a state inside the one that it comes from. */
  inward: boolean;
  lines: Line[];
};

/** A transition between the two states that stand for its own in the picture. */
export type Way = { from: string | null; to: string; transition: TransitionDescription };

type Common = { region: string | null; to: string; ways: readonly Way[]; sources: ReadonlySet<string> };

const pairOf = (from: string | null, to: string): string => JSON.stringify([from, to]);

/** What at least two states have in common, none of them around another one or around the target. */
const commonOf = (machine: MachineDescription, ways: readonly Way[]): Common[] =>
  grouped(ways, ({ to, transition }) => JSON.stringify([to, speak(machine, transition)])).flatMap((alike) => {
    const [{ to }] = alike;
    const sources = [...new Set(alike.flatMap(({ from }) => from ?? []))];
    const paths = [...sources, to];
    const nested = paths.some((outer) => paths.some((path) => isInside(path, outer)));
    if (sources.length < 2 || nested || alike.some(({ from }) => from === null)) return [];
    return { region: around(sources), to, ways: alike, sources: new Set(sources) };
  });

/**
 * So many arrows fewer there must be. One less is not worth it where the arrow begins at a place of its own:
 * the way from one state to the next is then nowhere to be seen.
 */
const leastSaved = ({ region, to }: Common): number => (isInside(to, region) ? 2 : 1);

const pays = (ways: readonly Way[], [first, ...more]: readonly [Common, ...Common[]]): boolean => {
  const moved = new Set([first, ...more].flatMap((common) => common.ways));
  const before = new Set(ways.map(({ from, to }) => pairOf(from, to)));
  const after = new Set(ways.map((way) => pairOf(moved.has(way) ? first.region : way.from, way.to)));
  return before.size - after.size >= leastSaved(first);
};

const merged = (machine: MachineDescription, ways: readonly Way[]): ReadonlyMap<Way, Common> => {
  const places = grouped(commonOf(machine, ways), ({ region, to }) => pairOf(region, to));
  const paying = places.filter((commons) => pays(ways, commons)).flat();
  return new Map(paying.flatMap((common) => common.ways.map((way) => [way, common] as const)));
};

/** States of one name share it, where no other state has it; else the name of the state around stands before it. */
const namesOf = ({ states }: MachineDescription, { region, sources }: Common): string[] => {
  const names = [...sources].map((path) => {
    const name = nameOf(path);
    const others = states.some((state) => !sources.has(state.path) && nameOf(state.path) === name);
    const around = path.slice(0, -name.length - 1);
    return others && around !== (region ?? '') ? `${nameOf(around)}.${name}` : name;
  });
  return [...new Set(names)];
};

export const arrowsOf = (machine: MachineDescription, ways: readonly Way[]): Arrow[] => {
  const commons = merged(machine, ways);
  const whereOf = (common: Common | undefined): string[] =>
    !common || isEvery(machine, common.region, common.sources) ? [] : namesOf(machine, common);
  const drawn = ways.map((way) => {
    const common = commons.get(way);
    const { transition } = way;
    const saying: Saying = { spoken: speak(machine, transition), where: whereOf(common), transition };
    return { from: common ? common.region : way.from, to: way.to, saying };
  });
  return grouped(drawn, ({ from, to }) => pairOf(from, to)).map((together) => {
    const [{ from, to }] = together;
    return { from, to, inward: isInside(to, from), lines: linesOf(together.map(({ saying }) => saying)) };
  });
};
