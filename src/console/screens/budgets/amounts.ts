import { anyObject } from '../../data/guard.ts';

/** Amounts by limit, such as `usd` or `concurrent_runs`. */
export type Amounts = Readonly<Record<string, number>>;

export const Amounts = (value: unknown, at: string): Amounts =>
  Object.fromEntries(
    Object.entries(anyObject(value, at)).flatMap(([unit, amount]) =>
      typeof amount === 'number' ? [[unit, amount] as const] : [],
    ),
  );

/** All limits, those of usage first. `usd` has its own format. */
export const UNITS = [
  ...(['tokens', 'requests', 'runs'] as const),
  ...(['concurrent_runs', 'queued_runs', 'open_streams'] as const),
] as const;
