import charts from 'virtual:statecharts';
import { useEffect, useState } from 'react';
import type { Chart, ChartLevels } from '../../schema/chart.ts';

/** The machines of the service, laid out when the console was built (`virtual.d.ts`). */

export const machineNames: readonly string[] = Object.keys(charts);

/** Undefined while it is loaded, null when there is no such machine or it could not be had. */
export const useCharts = (name: string): ChartLevels | null | undefined => {
  const [loaded, setLoaded] = useState<{ name: string; charts: ChartLevels | null }>();
  useEffect(() => {
    let isWanted = true;
    const settle = (found: ChartLevels | null): void => {
      if (isWanted) setLoaded({ name, charts: found });
    };
    const load = Object.hasOwn(charts, name) ? charts[name] : undefined;
    if (load)
      load().then(
        (module) => settle(module.default),
        () => settle(null),
      );
    else settle(null);
    return () => {
      isWanted = false;
    };
  }, [name]);
  return loaded?.name === name ? loaded.charts : undefined;
};

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
