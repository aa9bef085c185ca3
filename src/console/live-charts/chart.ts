import type { Chart, ChartState } from '../../schema/chart.ts';

/** Lookup of states and arrows in a chart. */

type Index = {
  /** By the path of the state itself, or of one that it contains. */
  states: ReadonlyMap<string, ChartState>;
  /** By transition. */
  arrows: ReadonlyMap<string, number>;
};

const indexes = new WeakMap<Chart, Index>();

const indexOf = (chart: Chart): Index => {
  const known = indexes.get(chart);
  if (known) return known;
  const index = {
    states: new Map(
      chart.states.flatMap((state) => [state.path, ...state.hidden].map((path) => [path, state] as const)),
    ),
    arrows: new Map(
      chart.arrows.flatMap(({ transitions }, at) => transitions.map((id) => [id, at] as const)),
    ),
  };
  indexes.set(chart, index);
  return index;
};

/** The drawn state for a path: the state itself, or the collapsed state that contains it. */
export const stateFor = (chart: Chart, path: string): ChartState | undefined =>
  indexOf(chart).states.get(path);

export const shownIn = (chart: Chart, path: string): string | undefined => stateFor(chart, path)?.path;

/** The states to highlight for an actor: its own and the expanded ones that contain them. */
export const litBy = (chart: Chart, paths: readonly string[]): ReadonlySet<string> => {
  const lit = new Set<string>();
  for (const path of paths) {
    const shown = shownIn(chart, path);
    if (shown === undefined) continue;
    for (const { path: each } of chart.states) {
      if (each === shown || shown.startsWith(`${each}.`)) lit.add(each);
    }
  }
  return lit;
};

export const arrowFor = (chart: Chart, transition: string): number | undefined =>
  indexOf(chart).arrows.get(transition);

/** The arrow of a transition and its name; undefined for a transition inside a state. */
export const nameIn = (
  chart: Chart,
  transition: string,
): { arrow: number; name: string | undefined } | undefined => {
  const arrow = arrowFor(chart, transition);
  const { transitions, names } = (arrow !== undefined && chart.arrows[arrow]) || {};
  if (arrow === undefined || !transitions) return undefined;
  return { arrow, name: names?.[transitions.indexOf(transition)] };
};
