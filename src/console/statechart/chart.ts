import type { Chart } from '../../schema/chart.ts';

/** Where things are in a chart. */

/** What is drawn for a state: itself, or the folded state around it. */
export const shownIn = ({ states }: Chart, path: string): string | undefined =>
  states.find((state) => state.path === path || state.hidden.includes(path))?.path;

/** All that is lit when an actor is in these states: they, and the open ones around them. */
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

/** The arrow that stands for a transition. */
export const arrowFor = ({ arrows }: Chart, transition: string): number | undefined => {
  const index = arrows.findIndex(({ transitions }) => transitions.includes(transition));
  return index === -1 ? undefined : index;
};
