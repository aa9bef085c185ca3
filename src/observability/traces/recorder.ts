import type { ResolvedAgent } from '../../loop/agent.ts';
import type { TraceFact } from '../../loop/trace-fact.ts';
import { seconds } from '../../schema/clock.ts';
import { maskCredentials, maskCredentialsIn } from '../../schema/redaction/credentials.ts';
import type { EvaluationResult, TraceEvent, TraceSummary } from '../../schema/trace.ts';
import type { Batch, TraceHead, TraceTable } from '../../store/index.ts';
import { type CapturePolicy, composeEvents, evaluationEvent, type TraceContext } from './compose.ts';
import { isSampled } from './sampling.ts';
import { follow } from './summary.ts';

/**
 * Records the trace of one run while this process executes it.
 *
 * Guarantees: an event becomes durable with the commit that it reports, so a resumed run contains no event twice. While
 * it is undecided whether the trace is kept, its events are held in memory, and are written when the run waits, is
 * released, or ends; a crash loses them, and the trace of a run that is resumed after it starts at that point. Without
 * sampling, events are held until the next commit only.
 * Cost: one object per event, and its text when it is written.
 */

export type RecorderDeps = {
  table: TraceTable;
  now(): number;
  capture: CapturePolicy;
  /** Undefined: everything is kept. */
  sampling: { proportion: number; mostEvents: number } | undefined;
  observes(agent: ResolvedAgent): boolean;
  /** Called once for a run that has more events than may be held. */
  dropped(run_id: string): void;
};

export type Recorder = {
  readonly deps: RecorderDeps;
  readonly context: TraceContext;
  readonly head: TraceHead;
  /** Events that are not written yet. */
  waiting: TraceEvent[];
  /** Number of `waiting` events whose commits have been made. */
  committed: number;
  /** The agent of the last check of `isObserved`. */
  agent: ResolvedAgent | undefined;
  isObserved: boolean;
};

export const createRecorder = (deps: RecorderDeps, context: TraceContext, head: TraceHead): Recorder => ({
  deps,
  context,
  head,
  waiting: [],
  committed: 0,
  agent: undefined,
  isObserved: false,
});

export const note = (recorder: Recorder, agent: ResolvedAgent, fact: TraceFact): void => {
  const { deps, context, head, waiting } = recorder;
  if (head.state === 'dropped') return;
  if (agent !== recorder.agent) {
    recorder.agent = agent;
    recorder.isObserved = deps.observes(agent);
  }
  if (!recorder.isObserved) return;
  waiting.push(...composeEvents(fact, { agent, context, capture: deps.capture, now: deps.now() }));
  if (!deps.sampling || head.total + waiting.length <= deps.sampling.mostEvents) return;
  recorder.waiting = [];
  recorder.committed = 0;
  head.state = 'dropped';
  deps.dropped(context.run_id);
};

/** Adds the verdict of a judge on the run; a run without events is not judged. */
export const evaluate = ({ deps, context, agent, waiting }: Recorder, verdict: EvaluationResult): void => {
  if (waiting.length > 0) waiting.push(evaluationEvent(verdict, context, agent?.spec.id ?? '', deps.now()));
};

/** Called with a commit of the run. */
export const write = (recorder: Recorder, batch: Batch, continues: 'now' | 'later'): void => {
  recorder.committed = recorder.waiting.length;
  const { sampling } = recorder.deps;
  if (sampling && continues === 'now') return;
  if (recorder.waiting.length > 0 || recorder.head.state === 'dropped') {
    put(recorder, batch, sampling ? 'held' : 'open');
  }
};

/** Another execution continues from the last commit, so only events up to that commit are kept. */
export const leave = (recorder: Recorder, batch: Batch): void => {
  recorder.waiting = recorder.waiting.slice(0, recorder.committed);
  write(recorder, batch, 'later');
};

export const end = (recorder: Recorder, batch: Batch): void => {
  const { head, waiting, deps, context } = recorder;
  const nothing = head.total + waiting.length === 0;
  const summary = followed(head.summary, waiting);
  if (head.state === 'dropped' || nothing || !isKept(deps, summary)) deps.table.remove(batch, context.run_id);
  else put(recorder, batch, 'done');
};

/** A referenced trace is always kept. */
export const isKept = (
  { sampling, table }: Pick<RecorderDeps, 'sampling' | 'table'>,
  { run_id, final_status, judge_score: judgeScore }: TraceSummary,
): boolean =>
  sampling === undefined ||
  isSampled(run_id, { hasFailed: final_status === 'error', judgeScore }, sampling.proportion) ||
  table.isReferred(run_id);

const followed = (summary: TraceSummary, events: readonly TraceEvent[]): TraceSummary => {
  const after = { ...summary };
  for (const event of events) follow(after, event);
  return after;
};

const put = (recorder: Recorder, batch: Batch, state: TraceHead['state']): void => {
  const { deps, head, waiting } = recorder;
  if (head.state !== 'dropped') head.state = state;
  head.summary = followed(head.summary, waiting);
  head.total += waiting.length;
  head.written_at = seconds(deps.now());
  deps.table.write(
    batch,
    maskCredentialsIn(head),
    // A masked text remains JSON.
    waiting.map((event) => maskCredentials(JSON.stringify(event))),
  );
  recorder.waiting = [];
  recorder.committed = 0;
};
