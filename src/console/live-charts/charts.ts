import charts from 'virtual:statecharts';
import { useEffect, useState } from 'react';
import type { ChartLevels } from '../../schema/chart.ts';

/** The machines of the service, laid out when the console is built (`virtual.d.ts`). */

export const machineNames: readonly string[] = Object.keys(charts);

/** Undefined while loading, null if the machine does not exist or could not be loaded. */
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
