/** All machines of the service, laid out when the console is built. */
declare module 'virtual:statecharts' {
  import type { ChartLevels } from '../../schema/chart.ts';

  const charts: Readonly<Record<string, () => Promise<{ default: ChartLevels }>>>;
  export default charts;
}
