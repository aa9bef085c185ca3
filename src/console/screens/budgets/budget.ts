import {
  anyObject,
  type Guarded,
  list,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';
import { recordsOf } from '../../data/records.ts';
import { pathOf } from '../../data/request.ts';

/** Amounts by limit, such as `usd` or `concurrent_runs`. */
type Amounts = Readonly<Record<string, number>>;

const Amounts = (value: unknown, at: string): Amounts =>
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

const Budget = object({
  id: text,
  per: withDefault(list(text), []),
  window: optional(object({ every: text, zone: optional(text) })),
  limits: Amounts,
  on_exceeded: text,
});
export type Budget = Guarded<typeof Budget>;

export const BUDGETS = recordsOf('budgets', Budget);

// ---- Counters in their current window (identity.md 5.5) ----

const Counter = object({
  key: anyObject,
  spent: Amounts,
  reserved: withDefault(Amounts, {}),
  limit: Amounts,
  extra: withDefault(Amounts, {}),
  resets_at: optional(number),
});
export type Counter = Guarded<typeof Counter>;

const EVERY_MS = 15_000;

/** The fullest counters first. */
export const countersOf = (budget: string, limit: number): Resource<{ items: Counter[] }> => ({
  path: pathOf`/v1/budgets/${budget}/usage`,
  query: { limit },
  guard: object({ items: list(Counter) }),
  every: EVERY_MS,
});

export type Gauge = {
  unit: string;
  spent: number;
  reserved: number;
  /** With what was added for the rest of the window. */
  limit: number;
  /** The used part of the limit, with reservations; above 1 if it is exceeded. */
  share: number;
};

/** The limits of a counter, the fullest first. */
export const gaugesOf = ({ spent, reserved, limit, extra }: Counter): Gauge[] =>
  Object.entries(limit)
    .map(([unit, most]): Gauge => {
      const [used, held] = [spent[unit] ?? 0, reserved[unit] ?? 0];
      const raised = most + (extra[unit] ?? 0);
      return {
        unit,
        spent: used,
        reserved: held,
        limit: raised,
        share: raised > 0 ? (used + held) / raised : 1,
      };
    })
    .sort((a, b) => b.share - a.share);

/** The properties that the counter is for, such as `user alice`; empty for the only counter of a budget. */
export const nameOf = ({ key }: Counter): string =>
  Object.entries(key)
    .map(([property, value]) => `${property} ${String(value)}`)
    .join(' · ');
