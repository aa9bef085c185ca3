import type { ResolvedAgent } from '../loop/agent.ts';
import type { TraceFact } from '../loop/trace-fact.ts';
import { type Clock, seconds } from '../schema/clock.ts';
import { Invalid, NotFound } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import { timerMs } from '../schema/timer.ts';
import type { EvaluationResult, TraceSummary } from '../schema/trace.ts';
import type {
  Batch,
  Expired,
  Store,
  TraceFilter,
  TraceHead,
  TracePage,
  TraceReference,
} from '../store/index.ts';
import type { CapturePolicy, TraceContext } from './compose.ts';
import { createRecorder, end, evaluate, isKept, leave, note, type RecorderDeps, write } from './recorder.ts';
import { newSummary } from './summary.ts';

/** The traces of this service: who is observed, what is read of them, and how long they stay. */

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
  log: { warn(data: object, text: string): void };
  settings: TraceSettings;
  /**
   * A folder of their own. What a commit of the store tells of is written there right behind it; a crash in between
   * loses as much.
   */
  sink?: Store | undefined;
  /** A run had more events than may wait. */
  dropped(): void;
};

type Writer = {
  note(agent: ResolvedAgent, fact: TraceFact): void;
  write(batch: Batch, goesOn: 'now' | 'later'): void;
  leave(batch: Batch): void;
  end(batch: Batch): void;
  /** Nobody writes with it any more. */
  close(): void;
};

/** The trace of a replay: it is written when the replay is over. */
export type Replay = {
  note(agent: ResolvedAgent, fact: TraceFact): void;
  /** With what a judge says of it. Whether there was anything to write. */
  store(verdict?: EvaluationResult): Promise<boolean>;
};

export type Traces = {
  observes(agent: ResolvedAgent): boolean;
  open(run: Run): Writer;
  /** Of a run that nobody keeps, for as long as its trace is kept whatever the sampling says (5.1). */
  replay(run: Run, capturesContent: boolean): Replay;
  ended(batch: Batch, run_id: string): void;
  list(filter: TraceFilter): TraceSummary[];
  /** @throws Invalid, NotFound */
  page(run_id: string, offset: number, limit: number): TracePage;
  /** @throws Invalid, NotFound */
  pin(run_id: string): Promise<void>;
  /** Whoever refers to a trace keeps it; it goes into the commit of the one that refers. */
  refer(batch: Batch, run_id: string, by: TraceReference): void;
  /** Nobody removes it until the returned function is called; for one who reads it before it refers to it. */
  hold(run_id: string): () => void;
  /** Removes what is older than the retention, a part at a time. */
  prune(): Promise<number>;
  /** Prunes now, and again and again. */
  start(): void;
  stop(): void;
};

const PLUGIN = 'observability';
const DAY_SECS = 86_400;
const LOOKED_AT_AT_ONCE = 100;
const NOT_AN_ID = /[/\\\0]/;

export const createTraces = ({ store, sink, clock, log, settings, dropped }: Deps): Traces => {
  const home = sink ?? store;
  const table = home.traces;
  /** Those that a run of this process is at work on. */
  const live = new Set<string>();
  /** How many hold each of them. */
  const holds = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  const observes = ({ spec }: ResolvedAgent): boolean => {
    if (settings.observeAll) return true;
    const { plugin_ids, active_hook_filter: filter } = spec;
    return plugin_ids.includes(PLUGIN) && (filter.length === 0 || filter.includes(PLUGIN));
  };

  const deps: RecorderDeps = {
    table,
    now: clock.now,
    capture: settings.capture,
    sampling: settings.sampling,
    observes,
    dropped(run_id) {
      dropped();
      log.warn({ run_id }, 'the trace of a run is dropped: it has more events than may wait');
    },
  };

  /** With the batch, or right behind it. */
  const along = (batch: Batch, put: (into: Batch) => void): void => {
    if (!sink) {
      put(batch);
      return;
    }
    const own = sink.batch();
    put(own);
    if (own.writes.length === 0) return;
    batch.afterwards.push(() => {
      sink.commit(own).catch((err: unknown) => log.warn({ err }, 'traces are not written'));
    });
  };

  const commit = async (put: (into: Batch) => void): Promise<void> => {
    const batch = home.batch();
    put(batch);
    await home.commit(batch);
  };

  const visible = (run_id: string): TraceHead => {
    if (run_id === '' || run_id === '.' || run_id === '..' || NOT_AN_ID.test(run_id))
      throw new Invalid(`invalid run id: ${run_id}`);
    const head = table.head(run_id);
    if (!head || head.state === 'held' || head.state === 'dropped')
      throw new NotFound(`trace not found: ${run_id}`);
    return head;
  };

  const prune = async (): Promise<number> => {
    const before = seconds(clock.now()) - settings.retentionDays * DAY_SECS;
    let removed = 0;
    let place: Expired['next'];
    do {
      const { run_ids, next } = table.expired(before, LOOKED_AT_AT_ONCE, place);
      const old = run_ids.filter((run_id) => !live.has(run_id) && !holds.has(run_id));
      await commit((batch) => {
        for (const run_id of old) table.remove(batch, run_id);
      });
      // Others have their turn, also where nothing is removed.
      await new Promise(setImmediate);
      removed += old.length;
      place = next;
    } while (place);
    return removed;
  };

  const pruneQuietly = (): void => {
    prune().catch((err: unknown) => log.warn({ err }, 'old traces are not removed'));
  };

  return {
    observes,
    open(run) {
      const known = run.started_at === undefined ? undefined : table.head(run.run_id);
      const recorder = createRecorder(
        deps,
        contextOf(run, settings),
        known ?? newHead(run.run_id, clock.now()),
      );
      live.add(run.run_id);
      return {
        note: (agent, fact) => note(recorder, agent, fact),
        write: (batch, goesOn) => along(batch, (into) => write(recorder, into, goesOn)),
        leave: (batch) => along(batch, (into) => leave(recorder, into)),
        end: (batch) => along(batch, (into) => end(recorder, into)),
        close: () => live.delete(run.run_id),
      };
    },
    replay(run, content) {
      const capture = { ...settings.capture, content };
      const own = { ...deps, capture, sampling: undefined, observes: () => true };
      const recorder = createRecorder(own, contextOf(run, settings), newHead(run.run_id, clock.now()));
      return {
        note: (agent, fact) => note(recorder, agent, fact),
        async store(verdict) {
          if (verdict) evaluate(recorder, verdict);
          await commit((batch) => end(recorder, batch));
          return recorder.head.total > 0;
        },
      };
    },
    ended(batch, run_id) {
      const head = table.head(run_id);
      if (!head || head.state === 'done') return;
      along(batch, (into) => {
        if (head.state === 'dropped' || !isKept(deps, head.summary)) table.remove(into, run_id);
        else table.write(into, { ...head, state: 'done' }, []);
      });
    },
    list: (filter) => table.list(filter),
    page(run_id, offset, limit) {
      visible(run_id);
      return table.page(run_id, offset, limit);
    },
    async pin(run_id) {
      visible(run_id);
      await commit((batch) => table.refer(batch, run_id, { kind: 'pin', id: 'operator' }));
    },
    refer: (batch, run_id, by) => along(batch, (into) => table.refer(into, run_id, by)),
    hold(run_id) {
      holds.set(run_id, (holds.get(run_id) ?? 0) + 1);
      return () => {
        const others = (holds.get(run_id) ?? 0) - 1;
        if (others > 0) holds.set(run_id, others);
        else holds.delete(run_id);
      };
    },
    prune,
    start() {
      pruneQuietly();
      timer = setInterval(pruneQuietly, timerMs(settings.pruneIntervalSecs * 1000)).unref();
    },
    stop: () => clearInterval(timer),
  };
};

const newHead = (run_id: string, now: number): TraceHead => ({
  total: 0,
  state: 'open',
  summary: newSummary(run_id),
  created_at: seconds(now),
  written_at: seconds(now),
});

export const contextOf = (run: Run, { release_tag }: Pick<TraceSettings, 'release_tag'>): TraceContext => ({
  run_id: run.run_id,
  thread_id: run.thread_id,
  parent_run_id: run.parent_run_id ?? undefined,
  parent_tool_call_id: run.activation?.trace.parent_tool_call_id,
  release_tag,
});
