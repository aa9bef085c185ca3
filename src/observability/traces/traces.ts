import type { ResolvedAgent } from '../../loop/agent.ts';
import type { TraceFact } from '../../loop/trace-fact.ts';
import { type Clock, seconds } from '../../schema/clock.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { Invalid, NotFound } from '../../schema/outcome.ts';
import type { Run } from '../../schema/run.ts';
import type { EvaluationResult, TraceSummary } from '../../schema/trace.ts';
import type {
  Batch,
  Store,
  TraceFilter,
  TraceHead,
  TracePage,
  TraceReference,
  TraceTable,
} from '../../store/index.ts';
import type { CapturePolicy, TraceContext } from './compose.ts';
import {
  createRecorder,
  end,
  evaluate,
  isKept,
  leave,
  note,
  type Recorder,
  type RecorderDeps,
  write,
} from './recorder.ts';
import { commit, createRetention } from './retention.ts';
import { newSummary } from './summary.ts';

/** The traces of this service: observed agents, read access, and retention. */

export type TraceSettings = {
  observeAll: boolean;
  capture: CapturePolicy;
  sampling: RecorderDeps['sampling'];
  release_tag: string | undefined;
  retentionDays: number;
  pruneIntervalSecs: number;
};

type Deps = {
  store: Store;
  clock: Clock;
  log: Pick<ServiceLog, 'warn'>;
  settings: TraceSettings;
  /**
   * A separate folder for traces. It is written directly after the commit of the store; a crash in between loses the
   * events of that commit.
   */
  sink?: Store | undefined;
  /** Called when a run has more events than may be held in memory. */
  dropped(): void;
};

type Writer = {
  note(agent: ResolvedAgent, fact: TraceFact): void;
  write(batch: Batch, continues: 'now' | 'later'): void;
  leave(batch: Batch): void;
  end(batch: Batch): void;
  /** Called when no further writes will follow. */
  close(): void;
};

/** The trace of a replay, which is written when the replay is over. */
export type Replay = {
  note(agent: ResolvedAgent, fact: TraceFact): void;
  /** Stores the trace with the verdict of a judge, if given. Resolves to whether there were any events. */
  store(verdict?: EvaluationResult): Promise<boolean>;
};

export type Traces = {
  observes(agent: ResolvedAgent): boolean;
  open(run: Run): Writer;
  /** Creates the trace of a run that is not stored; it is kept regardless of sampling (5.1). */
  replay(run: Run, capturesContent: boolean): Replay;
  ended(batch: Batch, run_id: string): void;
  list(filter: TraceFilter): TraceSummary[];
  search: TraceTable['search'];
  /** @throws Invalid, NotFound */
  page(run_id: string, offset: number, limit: number): TracePage;
  /** @throws Invalid, NotFound */
  pin(run_id: string): Promise<void>;
  /** Keeps a trace because of a reference; the batch is that of the referring entity. */
  refer(batch: Batch, run_id: string, by: TraceReference): void;
  /**
   * Prevents the removal until the returned function is called; for callers that read a trace before they refer to it.
   */
  hold(run_id: string): () => void;
  /** Removes traces that are older than the retention, in chunks. */
  prune(): Promise<number>;
  /** Prunes now, and at regular intervals. */
  start(): void;
  stop(): void;
};

const PLUGIN = 'observability';
const NOT_AN_ID = /[/\\\0]/;

export const createTraces = ({ store, sink, clock, log, settings, dropped }: Deps): Traces => {
  const home = sink ?? store;
  const table = home.traces;
  const along = createSideWriter(sink, log);
  const retention = createRetention({ store: home, clock, log, settings });
  const recorderDeps: RecorderDeps = {
    table,
    now: clock.now,
    capture: settings.capture,
    sampling: settings.sampling,
    observes: (agent) => isObserved(agent, settings),
    dropped(run_id) {
      dropped();
      log.warn('trace.buffer_full', { run_id });
    },
  };
  const record = (deps: RecorderDeps, run: Run, head = newHead(run.run_id, clock.now())): Recorder =>
    createRecorder(deps, createTraceContext(run, settings), head);

  return {
    observes: recorderDeps.observes,
    open(run) {
      const known = run.started_at === undefined ? undefined : table.head(run.run_id);
      const recorder = record(recorderDeps, run, known);
      const close = retention.protectLive(run.run_id);
      return {
        note: (agent, fact) => note(recorder, agent, fact),
        write: (batch, continues) => along(batch, (into) => write(recorder, into, continues)),
        leave: (batch) => along(batch, (into) => leave(recorder, into)),
        end: (batch) => along(batch, (into) => end(recorder, into)),
        close,
      };
    },
    replay(run, content) {
      const capture = { ...settings.capture, content };
      const recorder = record({ ...recorderDeps, capture, sampling: undefined, observes: () => true }, run);
      return {
        note: (agent, fact) => note(recorder, agent, fact),
        async store(verdict) {
          if (verdict) evaluate(recorder, verdict);
          await commit(home, (batch) => end(recorder, batch));
          return recorder.head.total > 0;
        },
      };
    },
    ended(batch, run_id) {
      const head = table.head(run_id);
      if (!head || head.state === 'done') return;
      along(batch, (into) => {
        if (head.state === 'dropped' || !isKept(recorderDeps, head.summary)) table.remove(into, run_id);
        else table.write(into, { ...head, state: 'done' }, []);
      });
    },
    list: (filter) => table.list(filter),
    search: table.search,
    page(run_id, offset, limit) {
      checkVisible(table, run_id);
      return table.page(run_id, offset, limit);
    },
    async pin(run_id) {
      checkVisible(table, run_id);
      await commit(home, (batch) => table.refer(batch, run_id, { kind: 'pin', id: 'operator' }));
    },
    refer: (batch, run_id, by) => along(batch, (into) => table.refer(into, run_id, by)),
    hold: retention.hold,
    prune: retention.prune,
    start: retention.start,
    stop: retention.stop,
  };
};

const isObserved = ({ spec }: ResolvedAgent, { observeAll }: TraceSettings): boolean => {
  if (observeAll) return true;
  const { plugin_ids, active_hook_filter: filter } = spec;
  return plugin_ids.includes(PLUGIN) && (filter.length === 0 || filter.includes(PLUGIN));
};

/** Writes with the batch, or directly after it into the separate folder. */
const createSideWriter =
  (sink: Store | undefined, log: Deps['log']) =>
  (batch: Batch, put: (into: Batch) => void): void => {
    if (!sink) {
      put(batch);
      return;
    }
    const own = sink.batch(batch.place);
    put(own);
    if (own.writes.length === 0) return;
    batch.afterwards.push(() => {
      sink.commit(own).catch((err: unknown) => log.warn('trace.write_failed', { err }));
    });
  };

/** @throws Invalid, NotFound */
const checkVisible = (table: Store['traces'], run_id: string): void => {
  if (run_id === '' || run_id === '.' || run_id === '..' || NOT_AN_ID.test(run_id))
    throw new Invalid(`invalid run id: ${run_id}`);
  const head = table.head(run_id);
  if (!head || head.state === 'held' || head.state === 'dropped')
    throw new NotFound(`trace not found: ${run_id}`);
};

const newHead = (run_id: string, now: number): TraceHead => ({
  total: 0,
  state: 'open',
  summary: newSummary(run_id),
  created_at: seconds(now),
  written_at: seconds(now),
});

export const createTraceContext = (
  run: Run,
  { release_tag }: Pick<TraceSettings, 'release_tag'>,
): TraceContext => ({
  run_id: run.run_id,
  thread_id: run.thread_id,
  parent_run_id: run.parent_run_id ?? undefined,
  parent_tool_call_id: run.activation?.trace.parent_tool_call_id,
  release_tag,
});
