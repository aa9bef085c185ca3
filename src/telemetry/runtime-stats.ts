import type { Clock } from '../schema/clock.ts';
import { cutOffOf, NO_CUT_OFF, type Spent } from '../schema/cut-off.ts';
import type { AgentStats } from '../schema/runtime-stats.ts';
import type { StoredBucket } from '../store/index.ts';
import {
  addDuration,
  createTally,
  type DurationTally,
  keptTally,
  restoredTally,
  summarize,
} from './duration-tally.ts';

/**
 * What each agent did lately (evals-and-traces.md 10), in memory, in buckets of ten minutes for seven days.
 *
 * Guarantees: a snapshot covers whole buckets of wall-clock time up to now; an agent stays known when all its
 * buckets have run out. Relies on its callers for ids: agents and tools come from configuration, never from what
 * a model wrote. A clock that is set back forgets what was recorded ahead of it. What changes is handed out to be
 * kept (`stats-keeper.ts`), and taken back after a restart.
 * Costs O(1) an event, and at most 1000 agents: past that the one that has been idle for longest is forgotten. An
 * agent takes at most 4.3 KB a bucket for inferences and for each tool that it called in it (4.3 MB each when a
 * whole week was busy), about 300 bytes for a bucket with few events, and nothing for one without. Servers may offer
 * any number of tools: past 1000 in a bucket of an agent the others count as `unknown`.
 */
export type RuntimeStats = {
  inference(agent: string, inference: InferenceRecord): void;
  /** An attempt broke off; its tokens are estimated. */
  cutOff(agent: string, tokens: Spent): void;
  tool(agent: string, call: ToolRecord): void;
  /** A call that begins to wait, or that a decision ends the wait of. */
  suspension(agent: string): void;
  /** `agent` gives the run to another one. */
  handoff(agent: string): void;
  /** `agent` has given a task to another one. */
  delegation(agent: string): void;
  /** Of the whole window when none is given; undefined for an agent that nothing was recorded of. */
  snapshot(agent: string, windowSeconds?: number): AgentStats | undefined;
  /** Of the whole window, sorted by agent. */
  list(): AgentStats[];
  /** Buckets that have changed since this was asked last. */
  takeChanged(): StoredBucket[];
  /** As this or an earlier process had it. One outside of what is kept, or of another length, is not taken. */
  restore(bucket: StoredBucket): void;
  /** Where the oldest bucket that counts begins, and the current one; seconds. */
  span(): { first: number; last: number };
  readonly bucketSeconds: number;
};

export type InferenceRecord = {
  durationMs: number;
  failed: boolean;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  usd?: number | undefined;
};

export type ToolRecord = { tool: string; durationMs: number; failed: boolean };

type RuntimeStatsOptions = {
  clock: Clock;
  bucketSeconds?: number;
  bucketCount?: number;
  mostAgents?: number;
};

type ToolTally = { durations: DurationTally; failures: number };

const COUNTERS = [
  'error_count',
  'input_tokens',
  'output_tokens',
  'cut_off_input_tokens',
  'cut_off_output_tokens',
  'cost_usd',
  'suspensions',
  'handoffs',
  'delegations',
] as const;
type Counters = Record<(typeof COUNTERS)[number], number>;

type Bucket = {
  counters: Counters;
  inferences: DurationTally;
  tools: Map<string, ToolTally>;
  /** Since it was handed out last. */
  hasChanged: boolean;
};

const MOST_TOOLS = 1000;
const OTHER_TOOLS = 'unknown';

/** By number of the bucket since the epoch. */
type Buckets = Map<number, Bucket>;

const noCounts = (): Counters => ({
  error_count: 0,
  input_tokens: 0,
  output_tokens: 0,
  cut_off_input_tokens: 0,
  cut_off_output_tokens: 0,
  cost_usd: 0,
  suspensions: 0,
  handoffs: 0,
  delegations: 0,
});

export const createRuntimeStats = ({
  clock,
  bucketSeconds = 600,
  bucketCount = 1008,
  mostAgents = 1000,
}: RuntimeStatsOptions): RuntimeStats => {
  /** The one whose last bucket is the oldest comes first. */
  const agents = new Map<string, Buckets>();
  let swept: number | undefined;

  const currentBucket = (): number => Math.floor(clock.now() / (bucketSeconds * 1000));

  const sweep = (current: number): void => {
    swept = current;
    for (const buckets of agents.values()) {
      for (const index of buckets.keys()) {
        if (index > current || index <= current - bucketCount) buckets.delete(index);
      }
    }
  };

  const putBucket = (agent: string, index: number, bucket: Bucket): Bucket => {
    const buckets: Buckets = agents.get(agent) ?? new Map();
    agents.delete(agent);
    if (agents.size >= mostAgents) for (const idle of [...agents.keys()].slice(0, 1)) agents.delete(idle);
    agents.set(agent, buckets);
    buckets.set(index, bucket);
    return bucket;
  };

  /** An event without an agent belongs to nobody. */
  const record = (agent: string, add: (bucket: Bucket) => void): void => {
    if (agent === '') return;
    const current = currentBucket();
    if (current !== swept) sweep(current);
    const bucket = agents.get(agent)?.get(current) ?? putBucket(agent, current, newBucket());
    bucket.hasChanged = true;
    add(bucket);
  };

  const count = (counter: 'suspensions' | 'handoffs' | 'delegations') => (agent: string) =>
    record(agent, ({ counters }) => {
      counters[counter] += 1;
    });

  const snapshotOf = (agent_id: string, buckets: Buckets, windowSeconds: number): AgentStats => {
    const bucket_count = Math.min(Math.max(1, Math.ceil(windowSeconds / bucketSeconds)), bucketCount);
    const current = currentBucket();
    const inside = [...buckets].flatMap(([index, bucket]) =>
      index <= current && index > current - bucket_count ? [bucket] : [],
    );
    return {
      agent_id,
      window_seconds: bucket_count * bucketSeconds,
      bucket_window_seconds: bucketSeconds,
      bucket_count,
      ...figuresOf(inside),
    };
  };

  const everything = bucketSeconds * bucketCount;
  return {
    inference: (agent, { durationMs, failed, inputTokens = 0, outputTokens = 0, usd = 0 }) =>
      record(agent, ({ counters, inferences }) => {
        addDuration(inferences, durationMs);
        if (failed) counters.error_count += 1;
        counters.input_tokens += Math.max(0, inputTokens);
        counters.output_tokens += Math.max(0, outputTokens);
        counters.cost_usd += usd;
      }),
    cutOff: (agent, { input, output, usd = 0 }) =>
      record(agent, ({ counters }) => {
        counters.cut_off_input_tokens += input;
        counters.cut_off_output_tokens += output;
        counters.cost_usd += usd;
      }),
    tool: (agent, { tool, durationMs, failed }) =>
      record(agent, ({ tools }) => {
        const name = tools.size < MOST_TOOLS || tools.has(tool) ? tool : OTHER_TOOLS;
        const tally = tools.get(name) ?? { durations: createTally(), failures: 0 };
        tools.set(name, tally);
        addDuration(tally.durations, durationMs);
        if (failed) tally.failures += 1;
      }),
    suspension: count('suspensions'),
    handoff: count('handoffs'),
    delegation: count('delegations'),
    snapshot(agent, windowSeconds = everything) {
      const buckets = agents.get(agent);
      return buckets && snapshotOf(agent, buckets, windowSeconds);
    },
    list: () =>
      [...agents]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([agent, buckets]) => snapshotOf(agent, buckets, everything)),
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
      const current = currentBucket();
      const fits = kept.seconds === bucketSeconds && index <= current && index > current - bucketCount;
      if (fits) putBucket(kept.agent, index, restoredBucket(kept));
    },
    span() {
      const current = currentBucket();
      return { first: (current - bucketCount + 1) * bucketSeconds, last: current * bucketSeconds };
    },
    bucketSeconds,
  };
};

const newBucket = (): Bucket => ({
  counters: noCounts(),
  inferences: createTally(),
  tools: new Map(),
  hasChanged: false,
});

const keptBucket = (
  { counters, inferences, tools }: Bucket,
  of: Pick<StoredBucket, 'agent' | 'from' | 'seconds'>,
): StoredBucket => ({
  ...of,
  ...counters,
  inferences: keptTally(inferences),
  tools: [...tools].map(([tool, { failures, durations }]) => ({
    tool,
    failures,
    durations: keptTally(durations),
  })),
});

const restoredBucket = ({ inferences, tools, ...kept }: StoredBucket): Bucket => {
  const counters = noCounts();
  for (const name of COUNTERS) counters[name] = kept[name] ?? 0;
  return {
    counters,
    inferences: restoredTally(inferences),
    tools: new Map(
      tools.map(({ tool, failures, durations }) => [tool, { failures, durations: restoredTally(durations) }]),
    ),
    hasChanged: false,
  };
};

const figuresOf = (buckets: readonly Bucket[]) => {
  const counters = noCounts();
  for (const bucket of buckets) for (const name of COUNTERS) counters[name] += bucket.counters[name];
  const inferences = summarize(buckets.map((bucket) => bucket.inferences));
  const { cut_off_input_tokens, cut_off_output_tokens, ...figures } = counters;
  return {
    ...figures,
    cut_off: cutOffOf({ input: cut_off_input_tokens, output: cut_off_output_tokens }) ?? NO_CUT_OFF,
    inference_count: inferences.count,
    avg_inference_duration_ms: inferences.avg,
    min_inference_duration_ms: inferences.min,
    max_inference_duration_ms: inferences.max,
    p50_inference_duration_ms: inferences.p50,
    p95_inference_duration_ms: inferences.p95,
    p99_inference_duration_ms: inferences.p99,
    inference_duration_histogram: inferences.histogram,
    tool_calls_by_tool: toolsOf(buckets),
  };
};

const toolsOf = (buckets: readonly Bucket[]): AgentStats['tool_calls_by_tool'] => {
  const names = new Set(buckets.flatMap(({ tools }) => [...tools.keys()]));
  return [...names].sort().map((tool) => {
    const tallies = buckets.flatMap(({ tools }) => tools.get(tool) ?? []);
    const calls = summarize(tallies.map(({ durations }) => durations));
    return {
      tool,
      call_count: calls.count,
      failure_count: tallies.reduce((all, { failures }) => all + failures, 0),
      total_duration_ms: calls.total,
      avg_duration_ms: calls.avg,
      min_duration_ms: calls.min,
      max_duration_ms: calls.max,
      p50_duration_ms: calls.p50,
      p95_duration_ms: calls.p95,
      p99_duration_ms: calls.p99,
      duration_histogram: calls.histogram,
    };
  });
};
