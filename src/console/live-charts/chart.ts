import type { Chart } from '../../schema/chart.ts';

/** Lookup of states and arrows in a chart. */

/** The drawn state for a path: the state itself, or the collapsed state that contains it. */
export const shownIn = ({ states }: Chart, path: string): string | undefined =>
  states.find((state) => state.path === path || state.hidden.includes(path))?.path;

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

/** The index of the arrow that represents a transition. */
export const arrowFor = ({ arrows }: Chart, transition: string): number | undefined => {
  const index = arrows.findIndex(({ transitions }) => transitions.includes(transition));
  return index === -1 ? undefined : index;
};

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
