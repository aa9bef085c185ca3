import type { Clock } from '../../schema/clock.ts';
import type { AgentStats, Course } from '../../schema/runtime-stats.ts';
import type { StoredBucket } from '../../store/index.ts';
import { type BucketSpan, type Buckets, createBucketStore } from './buckets.ts';
import { courseOf } from './course.ts';
import { addCutOff, addInference, addRun, addToolCall, figuresOf, pointOf } from './figures.ts';
import type { CutOffRecord, EndedRun, InferenceRecord, ToolRecord } from './records.ts';
import { createRejectedKeys } from './rejected-keys.ts';

/**
 * Statistics of each agent's recent activity (evals-and-traces.md 10), in memory, in buckets of ten minutes for seven
 * days.
 *
 * Guarantees: a snapshot covers whole buckets of wall-clock time up to now; an agent stays known when all its buckets
 * have expired. A clock that is set back drops the records ahead of it. Changed buckets are handed out for persistence
 * (`stats-keeper.ts`), and restored after a restart.
 * Relies on its callers for ids: agents and tools come from configuration, never from model output.
 * Cost: O(1) per event, and at most 1000 agents: past that the one that has been idle for longest is dropped. An agent
 * takes at most 4.3 KB per bucket for inferences and for each tool that it called in it (4.3 MB each for a week without
 * idle time), about 200 bytes for each model, about 400 bytes for a bucket with few events, and nothing for one without.
 * Servers may offer any number of tools: past 1000 in a bucket of an agent the others count as `unknown`. A reading is
 * linear in the buckets of its window.
 */
export type RuntimeStats = {
  inference(agent: string, inference: InferenceRecord): void;
  /** Records an aborted attempt with its estimated tokens. */
  cutOff(agent: string, tokens: CutOffRecord): void;
  tool(agent: string, call: ToolRecord): void;
  /** Counts a suspension of a call, or a decision on a suspended call. */
  suspension(agent: string): void;
  /** Counts a handoff, for the agent that hands the run over. */
  handoff(agent: string): void;
  /** Counts a delegation, for the agent that delegates. */
  delegation(agent: string): void;
  /** Counts an ended run, for the agent that it has at its end. */
  runEnded(agent: string, run: EndedRun): void;
  /** Undefined for an agent without records. */
  snapshot(agent: string, window?: StatsWindow): AgentStats | undefined;
  /** Sorted by agent. */
  list(window?: StatsWindow): AgentStats[];
  /** The course of one agent, or of all agents together, in about `points` points. */
  course(window: StatsWindow, points: number, agent?: string): Course;
  /** Whether a provider rejected its key in the newest inference that shows it. */
  hasRejectedKey(provider: string): boolean;
  /** Returns the buckets that have changed since the last call. */
  takeChanged(): StoredBucket[];
  /**
   * Restores a bucket persisted by this or an earlier process. Buckets outside of the period, or of another length, are
   * ignored.
   */
  restore(bucket: StoredBucket): void;
  /** Starts of the oldest bucket in the period and of the current one, in seconds. */
  span(): { first: number; last: number };
  readonly bucketSeconds: number;
  /** Length of the period: the longest window. */
  readonly keptSeconds: number;
};

/** Without `seconds`, the whole period; without `until` (milliseconds), up to now. */
export type StatsWindow = { seconds?: number | undefined; until?: number | undefined };

type RuntimeStatsOptions = {
  clock: Clock;
  bucketSeconds?: number;
  bucketCount?: number;
  mostAgents?: number;
};

export const createRuntimeStats = ({
  clock,
  bucketSeconds = 600,
  bucketCount = 1008,
  mostAgents = 1000,
}: RuntimeStatsOptions): RuntimeStats => {
  const store = createBucketStore({ clock, bucketSeconds, bucketCount, mostAgents });
  const rejected = createRejectedKeys();
  const keptSeconds = bucketSeconds * bucketCount;

  const count = (counter: 'suspensions' | 'handoffs' | 'delegations') => (agent: string) =>
    store.record(agent, ({ counters }) => {
      counters[counter] += 1;
    });

  const spanOf = ({ seconds = keptSeconds, until }: StatsWindow = {}): BucketSpan =>
    store.window(seconds, until);

  const snapshotOf = (agent_id: string, buckets: Buckets, span: BucketSpan): AgentStats => ({
    agent_id,
    window_seconds: span.count * bucketSeconds,
    bucket_window_seconds: bucketSeconds,
    bucket_count: span.count,
    ...figuresOf(store.within(buckets, span).map(([, bucket]) => bucket)),
  });

  const addInferenceOf = (agent: string, inference: InferenceRecord): void => {
    const at = clock.now();
    rejected.note(inference.provider, inference.error, at);
    store.record(agent, (bucket) => addInference(bucket, inference, at));
  };

  return {
    inference: addInferenceOf,
    cutOff: (agent, cut) => store.record(agent, (bucket) => addCutOff(bucket, cut)),
    tool: (agent, call) => store.record(agent, (bucket) => addToolCall(bucket, call)),
    suspension: count('suspensions'),
    handoff: count('handoffs'),
    delegation: count('delegations'),
    runEnded: (agent, run) => store.record(agent, (bucket) => addRun(bucket, run, clock.now())),
    snapshot(agent, window) {
      const buckets = store.agents.get(agent);
      return buckets && snapshotOf(agent, buckets, spanOf(window));
    },
    list(window) {
      const span = spanOf(window);
      return [...store.agents]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([agent, buckets]) => snapshotOf(agent, buckets, span));
    },
    course(window, points, agent) {
      const span = spanOf(window);
      const agents =
        agent === undefined ? [...store.agents.values()] : [store.agents.get(agent) ?? new Map()];
      const buckets = agents.flatMap((own) => store.within(own, span));
      return courseOf(buckets, span, { most: points, bucketSeconds, figuresOf: pointOf });
    },
    hasRejectedKey: rejected.has,
    takeChanged: store.takeChanged,
    restore(bucket) {
      store.restore(bucket);
      rejected.restore(bucket);
    },
    span: store.span,
    bucketSeconds,
    keptSeconds,
  };
};
