import type { BudgetSubject } from '../schema/budget.ts';
import { RateLimited } from '../schema/outcome.ts';
import type { Batch, BudgetCounterTable } from '../store/index.ts';
import type { Budget } from './budget.ts';
import { type Concurrency, createConcurrency, createNumbers } from './concurrency.ts';
import { type Counters, rowOf } from './counters.ts';
import { createRates, isBucket, type Rate } from './rates.ts';

/**
 * Limits of requests, event streams and runs.
 *
 * Guarantees: what one of the matching budgets refuses is counted by none of them.
 * Cost: without such a budget, the length of an empty list.
 */
export type Admission = Concurrency & {
  apply(budgets: readonly Budget[]): void;
  /** Whether a budget limits requests. */
  limitsRequests(): boolean;
  /** Counts a request. @throws RateLimited */
  request(subject: BudgetSubject): void;
  /** Counts an event stream until the returned function is called. @throws RateLimited */
  openStream(subject: BudgetSubject): () => void;
  /** @throws RateLimited if no run of this subject may be added */
  checkRun(subject: BudgetSubject): void;
  /** @throws RateLimited if no run of this subject may be queued */
  checkQueue(subject: BudgetSubject): void;
  /** Counts a new run; what must outlive the process becomes part of the commit that creates the run. */
  addRun(batch: Batch, subject: BudgetSubject): void;
};

export type AdmissionDeps = {
  counters: Counters;
  stored: Pick<BudgetCounterTable, 'put'>;
  now(): number;
  /** Called for each refusal. */
  limited(budget: string, limit: LimitName): void;
};

export type LimitName = 'requests' | 'open_streams' | 'runs' | 'concurrent_runs' | 'queued_runs';

export const createAdmission = (deps: AdmissionDeps): Admission => {
  const { counters, now } = deps;
  const limits: Limits = { requests: [], open_streams: [], runs: [], concurrent_runs: [], queued_runs: [] };
  const requests = createRates(counters);
  const { fullQueue, notifyRoom, ...concurrency } = createConcurrency({
    concurrent: (subject) => matching(limits.concurrent_runs, subject),
    queued: (subject) => matching(limits.queued_runs, subject),
    limitsRuns: () => limits.concurrent_runs.length > 0,
    limitsQueue: () => limits.queued_runs.length > 0,
  });
  return {
    apply(budgets) {
      for (const name of LIMIT_NAMES) limits[name] = ratesOf(budgets, name);
      notifyRoom();
    },
    limitsRequests: () => limits.requests.length > 0,
    request(subject) {
      const rates = matching(limits.requests, subject);
      if (rates.length === 0) return;
      const at = now();
      const places = rates.map(({ budget }) => budget.placeOf(subject));
      for (const [index, rate] of rates.entries()) {
        const wait = requests.wait(rate, places[index] ?? '', at);
        if (wait !== 0) throw limited(deps, rate, 'requests', wait);
      }
      for (const [index, rate] of rates.entries()) requests.take(rate, places[index] ?? '', at);
    },
    openStream: createOpenStreams(deps, limits),
    ...createRunLimits(deps, limits),
    ...concurrency,
    checkQueue(subject) {
      const rate = fullQueue(subject);
      if (rate) throw limited(deps, rate, 'queued_runs', END_RETRY_MS);
    },
  };
};

type Limits = Record<LimitName, readonly Rate[]>;

const matching = (rates: readonly Rate[], subject: BudgetSubject): readonly Rate[] =>
  rates.length === 0 ? rates : rates.filter(({ budget }) => budget.matches(subject));

/** @param waitMs undefined if it is not known when another one fits */
const limited = (
  deps: Pick<AdmissionDeps, 'limited'>,
  { budget: { spec } }: Rate,
  limit: LimitName,
  waitMs: number | undefined,
): RateLimited => {
  deps.limited(spec.id, limit);
  return new RateLimited(`budget '${spec.id}' allows no more ${TEXTS[limit]} now`, {
    code: 'rate_limited',
    details: { budget: spec.id },
    ...(waitMs !== undefined && { retryAfterSecs: Math.max(1, Math.ceil(waitMs / 1000)) }),
  });
};

const createOpenStreams = (deps: Pick<AdmissionDeps, 'limited'>, limits: Limits): Admission['openStream'] => {
  const open = createNumbers((subject) => matching(limits.open_streams, subject));
  return (subject) => {
    if (limits.open_streams.length === 0) return nothing;
    const rate = open.full(subject);
    if (rate) throw limited(deps, rate, 'open_streams', END_RETRY_MS);
    return open.add(subject);
  };
};

const createRunLimits = (deps: AdmissionDeps, limits: Limits): Pick<Admission, 'checkRun' | 'addRun'> => {
  const { counters, stored, now } = deps;
  const buckets = createRates(counters);

  /** Returns the time until another run fits, as `Rates` does. */
  const waitFor = (rate: Rate, subject: BudgetSubject, at: number): number | undefined => {
    const { budget, limit } = rate;
    if (isBucket(budget)) return buckets.wait(rate, budget.placeOf(subject), at);
    const { runs, to } = counters.claim(budget, subject, at).counter;
    if (runs < limit) return 0;
    return to === undefined ? undefined : to - at;
  };

  return {
    checkRun(subject) {
      for (const rate of matching(limits.runs, subject)) {
        // A root run is the first of its runs.
        if (rate.budget.isPerRun && subject.run === '') continue;
        const wait = waitFor(rate, subject, now());
        if (wait !== 0) throw limited(deps, rate, 'runs', wait);
      }
    },
    addRun(batch, subject) {
      const at = now();
      for (const rate of matching(limits.runs, subject)) {
        if (isBucket(rate.budget)) buckets.take(rate, rate.budget.placeOf(subject), at);
        else {
          const { counter } = counters.claim(rate.budget, subject, at);
          counter.runs += 1;
          stored.put(batch, rowOf(counter, at));
        }
      }
    },
  };
};

const LIMIT_NAMES = [
  'requests',
  'open_streams',
  'runs',
  'concurrent_runs',
  'queued_runs',
] as const satisfies LimitName[];

const TEXTS = {
  requests: 'requests',
  open_streams: 'event streams',
  runs: 'runs',
  concurrent_runs: 'concurrent runs',
  queued_runs: 'queued runs',
} as const satisfies Record<LimitName, string>;

/** When an event stream or a run ends is not known. */
const END_RETRY_MS = 5000;

const nothing = (): void => {};

const ratesOf = (budgets: readonly Budget[], name: LimitName): Rate[] =>
  budgets.flatMap((budget) => {
    const limit = budget.spec.limits[name];
    return limit === undefined ? [] : [{ budget, limit }];
  });
