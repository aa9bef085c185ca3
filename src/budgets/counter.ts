import { BUDGET_UNITS, type BudgetUnit, type ReachedLimit } from '../schema/budget.ts';
import type { Budget } from './budget.ts';
import { nanoLimit, usdOf } from './money.ts';

/** One counter of a budget: what one combination of its properties has spent and reserved in one window. */

export type Amount = { tokens: number; nano: number };

/**
 * Amounts that decisions have added to the limits. `ofRuns`: the rest of the amounts for one root run; the part that its
 * runs have spent is in `all`, so that their spending leaves the room of other runs as it is.
 */
export type Added = { readonly all: Amount; readonly ofRuns: Map<string, Amount> };

/** The amounts of a counter that are stored. */
export type StoredAmounts = Amount & {
  runs?: number;
  extra?: Amount;
  ofRuns?: readonly (Amount & { run: string })[];
};

export type Counter = {
  readonly key: CounterKey;
  /** End of the window in milliseconds. */
  readonly to: number | undefined;
  /** Whether it counts one run, and not a window. */
  readonly isOfRun: boolean;
  readonly spent: Amount;
  /** The part of `spent` that commits contain. */
  readonly stored: Amount;
  readonly reserved: Amount;
  readonly added: Added;
  /** The part of `added` that commits contain. */
  readonly storedAdded: Added;
  /** Number of runs that were added; a commit in progress or an earlier one contains it. */
  runs: number;
  /** Number of reservations. */
  holders: number;
  /** Requests that wait for a reservation to be settled, in their order. A call returns whether one has left. */
  readonly waiting: Set<() => boolean>;
  /** Number of shares of `warn_at` that were reported. */
  warned: number;
  /** The limits that were reported as exceeded in this window. */
  readonly exceeded: Map<BudgetUnit, number>;
  /** The limits that leave no room for an inference without input. */
  readonly full: Map<BudgetUnit, number>;
};

export type CounterKey = {
  budget: string;
  identity: string;
  combination: string;
  /** Start of the window in milliseconds. */
  from: number;
};

export const createCounter = (
  key: CounterKey,
  { to, isOfRun }: Pick<Counter, 'to' | 'isOfRun'>,
  { runs = 0, tokens, nano, extra, ofRuns }: StoredAmounts,
): Counter => ({
  key,
  to,
  isOfRun,
  spent: { tokens, nano },
  stored: { tokens, nano },
  reserved: { tokens: 0, nano: 0 },
  added: createAdded(extra, ofRuns),
  storedAdded: createAdded(extra, ofRuns),
  runs,
  holders: 0,
  waiting: new Set(),
  warned: 0,
  exceeded: new Map(),
  full: new Map(),
});

const createAdded = (all: Amount = NOTHING, ofRuns: StoredAmounts['ofRuns'] = []): Added => ({
  all: { tokens: all.tokens, nano: all.nano },
  ofRuns: new Map(ofRuns.map(({ run, tokens, nano }) => [run, { tokens, nano }])),
});

/** A counter with the current version of its entry. `run`: the root run that spends; undefined for a report. */
export type Claim = { readonly budget: Budget; readonly counter: Counter; readonly run?: string };

/** Whether the budget stops or pauses runs; otherwise it only reports. */
export const isBlocking = ({ budget }: Claim): boolean => budget.spec.on_exceeded !== 'observe';

/** Returns the unit whose limit the amount would exceed, in addition to everything spent and reserved. */
export const excessOf = (claim: Claim, amount: Amount): BudgetUnit | undefined =>
  BUDGET_UNITS.find((unit) => {
    const limit = ownLimitOf(claim, unit);
    const { spent, reserved } = claim.counter;
    return limit !== undefined && inUnit(spent, unit) + inUnit(reserved, unit) + inUnit(amount, unit) > limit;
  });

export const hold = ({ reserved }: Counter, { tokens, nano }: Amount, sign: 1 | -1): void => {
  reserved.tokens += sign * tokens;
  reserved.nano += sign * nano;
};

/** Adds a settled amount. An amount for this run only is spent first; returns that part. */
export const charge = ({ counter: { spent, added }, run = '' }: Claim, used: Amount): Amount => {
  spent.tokens += used.tokens;
  spent.nano += used.nano;
  const own = added.ofRuns.get(run);
  if (!own) return NOTHING;
  const part = { tokens: Math.min(own.tokens, used.tokens), nano: Math.min(own.nano, used.nano) };
  spendOwn(added, run, part);
  return part;
};

/** Moves the spent part of the amount for a run to the amount for all runs. */
export const spendOwn = ({ all, ofRuns }: Added, run: string, { tokens, nano }: Amount): void => {
  const own = ofRuns.get(run);
  if (!own) return;
  all.tokens += tokens;
  all.nano += nano;
  own.tokens -= tokens;
  own.nano -= nano;
  if (own.tokens <= 0 && own.nano <= 0) ofRuns.delete(run);
};

/** Adds to the limits, of all runs or of one root run; the row of the counter contains it from then on. */
export const raise = ({ added, storedAdded }: Counter, amount: Amount, run: string | undefined): void => {
  for (const each of [added, storedAdded]) {
    const before = run === undefined ? each.all : (each.ofRuns.get(run) ?? { tokens: 0, nano: 0 });
    before.tokens = Math.min(before.tokens + amount.tokens, Number.MAX_SAFE_INTEGER);
    before.nano = Math.min(before.nano + amount.nano, Number.MAX_SAFE_INTEGER);
    if (run !== undefined) each.ofRuns.set(run, before);
  }
};

const inUnit = (amount: Amount, unit: BudgetUnit): number =>
  unit === 'tokens' ? amount.tokens : amount.nano;

/** Returns the limit in tokens or nano-USD. */
export const limitOf = ({ budget, counter }: Claim, unit: BudgetUnit): number | undefined => {
  const limit = unit === 'tokens' ? budget.tokens : budget.nano;
  return limit === undefined ? undefined : limit + inUnit(counter.added.all, unit);
};

/** Returns the limit for the run of the claim. */
const ownLimitOf = (claim: Claim, unit: BudgetUnit): number | undefined => {
  const limit = limitOf(claim, unit);
  const own = claim.counter.added.ofRuns.get(claim.run ?? '');
  return limit === undefined || !own ? limit : limit + inUnit(own, unit);
};

export const spentOf = ({ counter: { spent } }: Claim, unit: BudgetUnit): number => inUnit(spent, unit);

const shownIn = (unit: BudgetUnit, amount: number): number => (unit === 'tokens' ? amount : usdOf(amount));

export const reachedOf = (claim: Claim, unit: BudgetUnit): ReachedLimit => {
  const { budget, counter } = claim;
  return {
    budget: budget.spec.id,
    unit,
    spent: shownIn(unit, spentOf(claim, unit)),
    limit: shownIn(unit, ownLimitOf(claim, unit) ?? 0),
    ...(counter.to !== undefined && { resets_at: counter.to }),
  };
};

/** Whether a run that waits for the limit may continue: there is more room than before, or another counter applies. */
export const isOver = (claim: Claim, wait: ReachedLimit): boolean => {
  const now = reachedOf(claim, wait.unit);
  return (
    claim.budget.spec.on_exceeded !== 'pause' ||
    limitOf(claim, wait.unit) === undefined ||
    now.resets_at !== wait.resets_at ||
    roomIn(now) > roomIn(wait)
  );
};

const roomIn = ({ unit, limit, spent }: ReachedLimit): number =>
  unit === 'tokens' ? limit - spent : nanoLimit(limit) - nanoLimit(spent);

const NOTHING: Amount = { tokens: 0, nano: 0 };

/** Returns the share of a limit that is spent; 0 without the limit. */
export const spentShare = (claim: Claim, unit: BudgetUnit): number => {
  const limit = limitOf(claim, unit);
  return limit === undefined ? 0 : spentOf(claim, unit) / limit;
};

/** Returns the unit of which the largest share is spent. */
export const fullestUnit = (claim: Claim): BudgetUnit =>
  spentShare(claim, 'tokens') >= spentShare(claim, 'usd') ? 'tokens' : 'usd';
