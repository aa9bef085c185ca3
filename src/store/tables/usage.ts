import { type Batch, createNoteBoard } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { indexed, isId, type Key } from '../engine/keys.ts';
import type { Columns } from '../engine/sink.ts';

/**
 * Usage of runs, by scope, day, user, agent and model.
 *
 * Guarantees: sums of batches that are committed one after another are exact, also if some of them fail.
 * Relies on a batch that is committed in the event-loop tick in which it was added to.
 * Cost: one row per batch and key; one read unless a batch in progress has the row.
 */

export type UsageKey = {
  scope: string;
  /** `YYYY-MM-DD`, UTC. */
  day: string;
  user: string;
  agent: string;
  model: string;
};

export type UsageSums = {
  runs: number;
  inferences: number;
  input_tokens: number;
  output_tokens: number;
  nano_usd: number;
};

export type StoredUsage = UsageKey & UsageSums;

/** Days, both inclusive. */
export type UsagePeriod = { since: string; until: string };

export type UsageTable = {
  /** Adds to the sums of the key. */
  add(batch: Batch, key: UsageKey, amounts: UsageSums): void;
  /** Returns the rows of a scope, by day, up to `limit` of those that follow `after`. */
  inPeriod(
    scope: string,
    period: UsagePeriod,
    after: UsageKey | undefined,
    limit: number,
  ): Iterable<StoredUsage>;
  /** Returns the rows of a user, by day, with one search per day. */
  ofUser(scope: string, user: string, period: UsagePeriod): Iterable<StoredUsage>;
  /** Returns up to `limit` rows of all scopes of days before `day`. */
  before(day: string, limit: number): UsageKey[];
  remove(batch: Batch, key: UsageKey): void;
};

export const createUsageTable = (env: Environment): UsageTable => {
  const rows = env.table<StoredUsage>('usage');
  const board = createNoteBoard<UsageSums>();

  function* ofUser(scope: string, user: string, { since, until }: UsagePeriod): Iterable<StoredUsage> {
    if (!isId(scope)) return;
    let key = rows.firstKey({ prefix: [scope], from: [since], to: [until] });
    while (key) {
      const day = String(key[1]);
      yield* rows.values({ prefix: [scope, day, indexed(user)] });
      const next = rows.firstKeyBehind([scope, day]);
      key = next && next[0] === scope && String(next[1]) <= until ? next : undefined;
    }
  }

  return {
    add(batch, key, amounts) {
      const place = keyOf(key);
      const name = JSON.stringify(place);
      const sums = total(board.newest(batch, name) ?? rows.get(place), amounts);
      board.note(batch, name, sums);
      rows.put(batch, place, { ...key, ...sums });
    },
    inPeriod: (scope, { since, until }, after, limit) =>
      isId(scope)
        ? rows.values({
            prefix: [scope],
            from: [since],
            to: [until],
            limit,
            ...(after && { after: keyOf(after).slice(1) }),
          })
        : [],
    ofUser,
    before(day, limit) {
      const found: UsageKey[] = [];
      let key = rows.firstKey({ prefix: [] });
      while (key && found.length < limit) {
        const scope = String(key[0]);
        found.push(...rows.values({ prefix: [scope], to: [dayBefore(day)], limit: limit - found.length }));
        key = rows.firstKeyBehind([scope]);
      }
      return found;
    },
    remove: (batch, key) => rows.remove(batch, keyOf(key)),
  };
};

/** The columns of a shipped row. */
export const usageColumns = ({ scope, day, user }: StoredUsage): Columns => ({ scope, a: day, b: user });

const keyOf = ({ scope, day, user, agent, model }: UsageKey): Key => [
  scope,
  day,
  indexed(user),
  indexed(agent),
  indexed(model),
];

const total = (before: UsageSums | undefined, by: UsageSums): UsageSums => ({
  runs: (before?.runs ?? 0) + by.runs,
  inferences: (before?.inferences ?? 0) + by.inferences,
  input_tokens: (before?.input_tokens ?? 0) + by.input_tokens,
  output_tokens: (before?.output_tokens ?? 0) + by.output_tokens,
  nano_usd: (before?.nano_usd ?? 0) + by.nano_usd,
});

const DAY_MS = 86_400_000;

const dayBefore = (day: string): string => new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);
