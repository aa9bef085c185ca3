import type { Clock } from '../../schema/clock.ts';
import type { LastRun } from '../../schema/runtime-stats.ts';
import type { StoredBucket } from '../../store/index.ts';
import { createTally, type DurationTally, keptTally, restoredTally } from './duration-tally.ts';
import { keptModels, type ModelTally, restoredModels } from './model-tally.ts';

/**
 * The buckets of agents: spans of wall-clock time with the events that were recorded in them.
 *
 * Guarantees: buckets outside of the period are removed when the next bucket begins. A clock that is set back drops the
 * buckets ahead of it. Past `mostAgents`, the agent that has been idle for longest is dropped.
 */
export type BucketStore = {
  /** Ordered by their last new bucket, oldest first. */
  readonly agents: ReadonlyMap<string, Buckets>;
  /** Passes the current bucket of an agent; an event without an agent is not recorded. */
  record(agent: string, add: (bucket: Bucket) => void): void;
  /** Returns the bucket numbers of a window that ends at `until` (milliseconds), by default now. */
  window(seconds: number, until?: number): BucketSpan;
  within(buckets: Buckets, span: BucketSpan): [index: number, bucket: Bucket][];
  /** Returns the buckets that have changed since the last call. */
  takeChanged(): StoredBucket[];
  /** Ignores buckets outside of the period, or of another length. */
  restore(bucket: StoredBucket): void;
  /** Starts of the oldest bucket in the period and of the current one, in seconds. */
  span(): { first: number; last: number };
};

/** Numbers of the first and the last bucket of a window; `count` includes those that are no longer kept. */
export type BucketSpan = { first: number; last: number; count: number };

export type BucketOptions = {
  clock: Clock;
  bucketSeconds: number;
  bucketCount: number;
  mostAgents: number;
};

type ToolTally = { durations: DurationTally; failures: number };

export const COUNTERS = [
  'error_count',
  'input_tokens',
  'output_tokens',
  'cut_off_input_tokens',
  'cut_off_output_tokens',
  'suspensions',
  'handoffs',
  'delegations',
  'completed_runs',
  'stopped_runs',
  'blocked_runs',
  'failed_runs',
  'cancelled_runs',
] as const;
type Counters = Record<(typeof COUNTERS)[number], number>;

export type Bucket = {
  counters: Counters;
  /** Undefined if no inference had a price. */
  usd: number | undefined;
  inferences: DurationTally;
  tools: Map<string, ToolTally>;
  /** By provider and model. */
  models: Map<string, ModelTally>;
  /** The newest run that ended in this bucket. */
  lastRun: LastRun | undefined;
  /** Whether it changed since the last `takeChanged`. */
  hasChanged: boolean;
};

/** By number of the bucket since the epoch. */
export type Buckets = Map<number, Bucket>;

export const noCounts = (): Counters => ({
  error_count: 0,
  input_tokens: 0,
  output_tokens: 0,
  cut_off_input_tokens: 0,
  cut_off_output_tokens: 0,
  suspensions: 0,
  handoffs: 0,
  delegations: 0,
  completed_runs: 0,
  stopped_runs: 0,
  blocked_runs: 0,
  failed_runs: 0,
  cancelled_runs: 0,
});

export const createBucketStore = ({
  clock,
  bucketSeconds,
  bucketCount,
  mostAgents,
}: BucketOptions): BucketStore => {
  const agents = new Map<string, Buckets>();
  let swept: number | undefined;

  const currentIndex = (): number => Math.floor(clock.now() / (bucketSeconds * 1000));

  const isWithin = (index: number, current: number, count: number): boolean =>
    index <= current && index > current - count;

  const sweep = (current: number): void => {
    swept = current;
    for (const buckets of agents.values()) {
      for (const index of buckets.keys()) if (!isWithin(index, current, bucketCount)) buckets.delete(index);
    }
  };

  const put = (agent: string, index: number, bucket: Bucket): Bucket => {
    const buckets: Buckets = agents.get(agent) ?? new Map();
    agents.delete(agent);
    if (agents.size >= mostAgents) for (const idle of [...agents.keys()].slice(0, 1)) agents.delete(idle);
    agents.set(agent, buckets);
    buckets.set(index, bucket);
    return bucket;
  };

  return {
    agents,
    record(agent, add) {
      if (agent === '') return;
      const current = currentIndex();
      if (current !== swept) sweep(current);
      const bucket = agents.get(agent)?.get(current) ?? put(agent, current, newBucket());
      bucket.hasChanged = true;
      add(bucket);
    },
    window(seconds, until) {
      const current = currentIndex();
      const end = until === undefined ? current : Math.ceil(until / (bucketSeconds * 1000)) - 1;
      const last = Math.min(current, end);
      const count = Math.min(Math.max(1, Math.ceil(seconds / bucketSeconds)), bucketCount);
      return { first: Math.max(last - count, current - bucketCount) + 1, last, count };
    },
    within: (buckets, { first, last }) => [...buckets].filter(([index]) => index >= first && index <= last),
    takeChanged: () =>
      [...agents].flatMap(([agent, buckets]) =>
        [...buckets].flatMap(([index, bucket]) => {
          if (!bucket.hasChanged) return [];
          bucket.hasChanged = false;
          return keptBucket(bucket, { agent, from: index * bucketSeconds, seconds: bucketSeconds });
        }),
      ),
    restore(kept) {
      const index = kept.from / bucketSeconds;
      const fits = kept.seconds === bucketSeconds && isWithin(index, currentIndex(), bucketCount);
      if (fits) put(kept.agent, index, restoredBucket(kept));
    },
    span() {
      const current = currentIndex();
      return { first: (current - bucketCount + 1) * bucketSeconds, last: current * bucketSeconds };
    },
  };
};

const newBucket = (): Bucket => ({
  counters: noCounts(),
  usd: undefined,
  inferences: createTally(),
  tools: new Map(),
  models: new Map(),
  lastRun: undefined,
  hasChanged: false,
});

const keptBucket = (
  { counters, usd, inferences, tools, models, lastRun }: Bucket,
  of: Pick<StoredBucket, 'agent' | 'from' | 'seconds'>,
): StoredBucket => ({
  ...of,
  ...counters,
  ...(usd !== undefined && { cost_usd: usd }),
  inferences: keptTally(inferences),
  tools: [...tools].map(([tool, { failures, durations }]) => ({
    tool,
    failures,
    durations: keptTally(durations),
  })),
  models: keptModels(models),
  ...(lastRun && { last_run: lastRun }),
});

const restoredBucket = (stored: StoredBucket): Bucket => {
  const { inferences, tools, cost_usd: usd, models = [], last_run: lastRun, ...kept } = stored;
  const counters = noCounts();
  for (const name of COUNTERS) counters[name] = kept[name] ?? 0;
  return {
    counters,
    usd,
    inferences: restoredTally(inferences),
    tools: new Map(
      tools.map(({ tool, failures, durations }) => [tool, { failures, durations: restoredTally(durations) }]),
    ),
    models: restoredModels(models),
    lastRun,
    hasChanged: false,
  };
};
