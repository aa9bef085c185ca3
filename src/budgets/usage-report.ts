import { setImmediate } from 'node:timers/promises';
import { Invalid } from '../schema/outcome.ts';
import type { UsageItem, UsageProperty } from '../schema/usage.ts';
import type { StoredUsage, UsageKey, UsagePeriod, UsageSums, UsageTable } from '../store/index.ts';
import { usdOf } from './money.ts';

/**
 * Sums of usage by some of its properties, ordered by them.
 *
 * Cost: reads every row of the period, or every row of one user, in slices of an event-loop tick.
 */

export type UsageReport = {
  scope: string;
  /** Only the usage of this user. */
  user: string | undefined;
  period: UsagePeriod;
  by: readonly UsageProperty[];
  /** The values of the last item of the previous page. */
  after: readonly string[] | undefined;
  limit: number;
};

export type UsagePage = { items: UsageItem[]; next: readonly string[] | undefined };

/** Rows read per event-loop tick. */
const SLICE = 500;

/** Number of sums that one request computes. */
const MOST_GROUPS = 100_000;

/** @throws Invalid if there are too many sums */
export const reportUsage = async (table: UsageTable, report: UsageReport): Promise<UsagePage> => {
  const { by, after, limit } = report;
  const groups = new Map<string, Group>();
  for await (const row of rowsOf(table, report)) {
    const values = by.map((property) => row[property]);
    if (after && compare(values, after) <= 0) continue;
    const name = JSON.stringify(values);
    const group = groups.get(name);
    if (group) addTo(group.sums, row);
    else if (groups.size < MOST_GROUPS) groups.set(name, { values, sums: { ...sumsOf(row) } });
    else throw new Invalid(`usage has more than ${MOST_GROUPS} items: choose fewer days or properties`);
  }
  const sorted = [...groups.values()].sort((one, other) => compare(one.values, other.values));
  const page = sorted.slice(0, limit);
  return {
    items: page.map(({ values, sums }) => itemOf(by, values, sums)),
    next: sorted.length > limit ? page.at(-1)?.values : undefined,
  };
};

type Group = { values: string[]; sums: UsageSums };

async function* rowsOf(table: UsageTable, { scope, user, period }: UsageReport): AsyncIterable<StoredUsage> {
  if (user !== undefined) {
    // Few: the rows of one user.
    yield* [...table.ofUser(scope, user, period)];
    return;
  }
  let after: UsageKey | undefined;
  for (;;) {
    const rows = [...table.inPeriod(scope, period, after, SLICE)];
    yield* rows;
    after = rows.at(-1);
    if (rows.length < SLICE) return;
    await setImmediate();
  }
}

const compare = (one: readonly string[], other: readonly string[]): number => {
  for (const [index, value] of one.entries()) {
    const against = other[index] ?? '';
    if (value !== against) return value < against ? -1 : 1;
  }
  return 0;
};

const sumsOf = ({ runs, inferences, input_tokens, output_tokens, nano_usd }: UsageSums): UsageSums => ({
  runs,
  inferences,
  input_tokens,
  output_tokens,
  nano_usd,
});

const addTo = (sums: UsageSums, row: UsageSums): void => {
  sums.runs += row.runs;
  sums.inferences += row.inferences;
  sums.input_tokens += row.input_tokens;
  sums.output_tokens += row.output_tokens;
  sums.nano_usd += row.nano_usd;
};

const itemOf = (
  by: readonly UsageProperty[],
  values: readonly string[],
  { runs, inferences, input_tokens, output_tokens, nano_usd }: UsageSums,
): UsageItem => ({
  ...Object.fromEntries(by.map((property, index) => [property, values[index]])),
  runs,
  inferences,
  input_tokens,
  output_tokens,
  usd: usdOf(nano_usd),
});
