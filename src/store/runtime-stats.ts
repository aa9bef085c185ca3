import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import { indexed, type Key } from './keys.ts';

/**
 * What agents did lately, as it is kept through a restart: a row an agent and bucket, under the second at which the
 * bucket begins, so that what has aged out is a range at the front.
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

export type StoredBucket = {
  agent: string;
  /** seconds since the epoch */
  from: number;
  /** How long the bucket is. */
  seconds: number;
  error_count: number;
  input_tokens: number;
  output_tokens: number;
  /** Missing where an earlier version wrote the bucket. */
  cut_off_input_tokens?: number;
  cut_off_output_tokens?: number;
  /** Missing where an earlier version wrote the bucket. */
  cost_usd?: number;
  suspensions: number;
  handoffs: number;
  delegations: number;
  inferences: StoredTally;
  tools: { tool: string; failures: number; durations: StoredTally }[];
};

export type RuntimeStatsTable = {
  /** The oldest first. @throws Integrity */
  all(): Iterable<StoredBucket>;
  put(batch: Batch, bucket: StoredBucket): void;
  /** Removes buckets that begin before `first` or behind `last`. */
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
