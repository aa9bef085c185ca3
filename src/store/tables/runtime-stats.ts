import type { AgentStats } from '../../schema/runtime-stats.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { indexed, type Key } from '../engine/keys.ts';

/**
 * Persisted statistics of the recent activity of agents: a row per agent and bucket, under the second at which the
 * bucket starts, so that expired buckets are a range at the front.
 */

/** Durations of one kind, in milliseconds. */
export type StoredTally = {
  count: number;
  total: number;
  min: number;
  max: number;
  histogram: number[];
  samples: number[];
  stride: number;
};

/** Inferences of one model. */
export type StoredModel = AgentStats['inferences_by_model'][number];

export type StoredBucket = {
  agent: string;
  /** Seconds since the epoch. */
  from: number;
  /** Length of the bucket. */
  seconds: number;
  error_count: number;
  input_tokens: number;
  output_tokens: number;
  /** Missing in buckets written by earlier versions. */
  cut_off_input_tokens?: number;
  cut_off_output_tokens?: number;
  /** Missing if no inference had a price. */
  cost_usd?: number;
  suspensions: number;
  handoffs: number;
  delegations: number;
  inferences: StoredTally;
  tools: { tool: string; failures: number; durations: StoredTally }[];
  /** These fields are missing in buckets written by earlier versions. */
  completed_runs?: number;
  stopped_runs?: number;
  blocked_runs?: number;
  failed_runs?: number;
  cancelled_runs?: number;
  models?: StoredModel[];
  last_run?: AgentStats['last_run'];
};

export type RuntimeStatsTable = {
  /** Oldest first. @throws Integrity */
  all(): Iterable<StoredBucket>;
  put(batch: Batch, bucket: StoredBucket): void;
  /** Removes buckets that start before `first` or after `last`. */
  keepWithin(batch: Batch, first: number, last: number): void;
  clear(batch: Batch): void;
};

export const createRuntimeStatsTable = (env: Environment): RuntimeStatsTable => {
  const rows = env.table<StoredBucket>('runtime_stats');
  const remove = (batch: Batch, keys: Iterable<Key>): void => {
    for (const key of keys) rows.remove(batch, key);
  };
  return {
    all: () => rows.values({ prefix: [] }),
    put: (batch, bucket) => rows.put(batch, [bucket.from, indexed(bucket.agent)], bucket),
    keepWithin(batch, first, last) {
      remove(batch, rows.keys({ prefix: [], to: [first - 1] }));
      remove(batch, rows.keys({ prefix: [], from: [last + 1] }));
    },
    clear: (batch) => rows.clear(batch, []),
  };
};
