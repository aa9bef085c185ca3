import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics/metrics.ts';
import { createObserver } from '../observability/observer.ts';
import { type Otel, startOtel } from '../observability/otel/index.ts';
import { combineListeners } from '../observability/otel/run-listeners.ts';
import { createRuntimeStats, type RuntimeStats } from '../observability/statistics/runtime-stats.ts';
import { createStatsKeeper } from '../observability/statistics/stats-keeper.ts';
import type { Redact } from '../observability/traces/payload.ts';
import { createTraces, type TraceSettings, type Traces } from '../observability/traces/traces.ts';
import type { RunTraces, RuntimeDeps, RuntimeObserver } from '../runtime/deps.ts';
import type { Clock } from '../schema/clock.ts';
import type { Settings } from '../settings/index.ts';
import type { AppInput } from './input.ts';
import type { Stores } from './stores.ts';
import { version } from './version.ts';

/** Connects the observers of runs: statistics of agents, traces and the OpenTelemetry export. Metrics are always on. */

export type Observability = {
  stats?: RuntimeStats;
  traces?: Traces;
  runs: RunTraces | undefined;
  replaySpans?: Otel['replay'];
  observe: RuntimeObserver;
  start(): void;
  /** Call after the last run has ended. */
  stop(): Promise<void>;
};

type Deps = {
  stores: Stores;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  resolve: RuntimeDeps['resolve'];
};

export const startObservability = async (input: AppInput, deps: Deps): Promise<Observability> => {
  const { settings } = input;
  const { stores, clock, log, metrics, resolve } = deps;
  if (settings.observability_disable) {
    const observe = createObserver({ metrics, stats: undefined });
    return { runs: undefined, observe, start() {}, async stop() {} };
  }
  const stats = createRuntimeStats({
    clock,
    bucketSeconds: settings.runtime_stats.bucket_secs,
    bucketCount: settings.runtime_stats.bucket_count,
  });
  const keeper = createStatsKeeper({ stats, store: stores.store, clock, log });
  const traceSettings = traceSettingsOf(settings, input.redactTraces);
  const traces = createTraces({
    store: stores.store,
    sink: stores.sink,
    clock,
    log,
    settings: traceSettings,
    dropped: metrics.traces.dropped,
  });
  const otel = await startOtel(
    input.env ?? {},
    {
      version,
      clock,
      capture: traceSettings.capture,
      release_tag: settings.release_tag,
      prefix: settings.otel_attribute_prefix,
      observes: traces.observes,
      agentOf({ agent_id, resolution_id }) {
        try {
          return resolve(agent_id, resolution_id);
        } catch {
          // The agent was deleted, so whether it was observed cannot be determined.
          return undefined;
        }
      },
    },
    log,
  );
  return {
    stats,
    traces,
    runs: combineListeners(traces, otel?.runs),
    replaySpans: otel?.replay,
    observe: createObserver({ metrics, stats, genAi: otel?.metrics }),
    start() {
      keeper.start();
      traces.start();
    },
    async stop() {
      traces.stop();
      await keeper.stop();
      await otel?.stop();
    },
  };
};

/** The demo profile captures all content and disables sampling by default. */
const traceSettingsOf = (
  { trace, seed, observe_all_agents, release_tag }: Settings,
  redact: Redact | undefined,
): TraceSettings => {
  const isDemo = seed.profile === 'demo';
  return {
    observeAll: observe_all_agents,
    capture: {
      content: trace.capture_content ?? isDemo,
      tool_io: trace.capture_tool_io,
      payload: { fields: trace.tool_io_fields, maxBytes: trace.max_payload_bytes, redact },
    },
    sampling:
      (trace.sampling_disable ?? isDemo)
        ? undefined
        : { proportion: trace.sampling_proportion, mostEvents: trace.buffer_max_events },
    release_tag,
    retentionDays: trace.retention_days,
    pruneIntervalSecs: trace.prune_interval_secs,
  };
};
