import { BenchError } from './error.ts';
import type { Server } from './servers.ts';

/** Metrics of a service, read from /metrics. */
export type Metrics = {
  /** @throws BenchError for an unknown metric */
  value(name: string): number;
  /** Rows of the store, by table. */
  rows: ReadonlyMap<string, number>;
};

export const readMetrics = async ({ name, url }: Server): Promise<Metrics> => {
  const response = await fetch(`${url}/metrics`);
  const text = await response.text();
  if (!response.ok) throw new BenchError(`${name} answered /metrics with ${response.status}`);
  return {
    value(metric) {
      const [, value] = new RegExp(`^${metric} (\\S+)$`, 'm').exec(text) ?? [];
      if (value === undefined) throw new BenchError(`${name} has no metric ${metric}`);
      return Number(value);
    },
    rows: new Map(
      Array.from(text.matchAll(/^service_store_rows\{table="(\w+)"\} (\d+)$/gm), ([, table, rows]) => [
        table ?? '',
        Number(rows),
      ]),
    ),
  };
};
