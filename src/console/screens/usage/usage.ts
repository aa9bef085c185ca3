import { fields, list, number, object, optional, text } from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';
import { readPages } from '../../data/read-pages.ts';
import { toCsv } from '../../list/csv.ts';

/** Usage of runs, by user, agent, model and day (identity.md 5.5). */

export const PROPERTIES = ['user', 'agent', 'model', 'day'] as const;
export type Property = (typeof PROPERTIES)[number];

const UsageItem = object({
  ...fields(optional(text), 'user', 'agent', 'model', 'day'),
  ...fields(number, 'runs', 'inferences', 'input_tokens', 'output_tokens', 'usd'),
});
export type UsageItem = ReturnType<typeof UsageItem>;

const PATH = '/v1/usage';
const PAGE = 200;

/** More items are not read: the table then says that it is incomplete. */
const MOST_ITEMS = 5000;

const Usage = object({ items: list(UsageItem), next_cursor: optional(text) });

/** The properties of a query, in the order of the columns. */
export const propertiesIn = (given: string | undefined): Property[] => {
  const named = (given ?? 'agent').split(',');
  return PROPERTIES.filter((each) => named.includes(each));
};

export const PERIODS = ['7d', '30d', '90d', 'all'] as const;
export type Period = (typeof PERIODS)[number];

export const periodIn = (given: string | undefined): Period =>
  PERIODS.find((each) => each === given) ?? '30d';

const DAY_MS = 86_400_000;

/** The first UTC day of a period that ends today. */
export const firstDay = (period: Period, now: number): string | undefined =>
  period === 'all'
    ? undefined
    : new Date(now - (Number.parseInt(period, 10) - 1) * DAY_MS).toISOString().slice(0, 10);

/** All items of the period; `next_cursor` is left if there are too many. */
export const usageOf = (query: {
  by: readonly Property[];
  since: string | undefined;
  of_scope: string | undefined;
}): Resource<ReturnType<typeof Usage>> => {
  const sent = { ...query, by: query.by.join(','), limit: PAGE };
  return {
    path: PATH,
    query: sent,
    guard: Usage,
    keeps: true,
    read: async (signal) => {
      const items: UsageItem[] = [];
      let next_cursor: string | undefined;
      for await (const page of readPages({ path: PATH, query: sent, signal }, Usage)) {
        items.push(...page.items);
        next_cursor = page.next_cursor;
        if (items.length >= MOST_ITEMS) break;
      }
      return { items, next_cursor };
    },
  };
};

export const usageHref = (user: string): string =>
  `/usage?${new URLSearchParams({ by: 'user,agent', user })}`;

export const FIGURES = ['runs', 'inferences', 'input_tokens', 'output_tokens', 'usd'] as const;
export type Figure = (typeof FIGURES)[number];

export const sumOf = (items: readonly UsageItem[], figure: Figure): number =>
  items.reduce((sum, item) => sum + item[figure], 0);

export const csvOf = (items: readonly UsageItem[], by: readonly Property[]): string => {
  const fields = [...by, ...FIGURES];
  return toCsv([fields, ...items.map((item) => fields.map((field) => item[field]))]);
};
