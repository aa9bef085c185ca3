import type { ResolvedAgent } from '../loop/agent.ts';
import type { TraceFact } from '../loop/trace-fact.ts';
import { seconds } from '../schema/clock.ts';
import type { EvaluationResult, TraceEvent, TraceSummary } from '../schema/trace.ts';
import type { Batch, TraceHead, TraceTable } from '../store/index.ts';
import { type CapturePolicy, evaluationEvent, eventsOf, type TraceContext } from './compose.ts';
import { isSampled } from './sampling.ts';
import { follow } from './summary.ts';

/**
 * The trace of one run, as long as this process executes it.
 *
 * Guarantees: an event becomes durable with the commit that makes durable what it tells of, so a run that is taken up
 * again has no event twice. While it is not known whether the trace is kept its events wait in memory, and are written
 * when the run waits, is let go, or ends; a crash loses what waited, and the trace of a run that is taken up behind it
 * begins there. With sampling off nothing waits longer than to the next commit.
 * Costs an object an event, and its text when it is written.
 */

export type RecorderDeps = {
  table: TraceTable;
  now(): number;
  capture: CapturePolicy;
  /** Undefined: everything is kept. */
  sampling: { proportion: number; mostEvents: number } | undefined;
  observes(agent: ResolvedAgent): boolean;
  /** Called once for a run that has more events than may wait. */
  dropped(run_id: string): void;
};

export type Recorder = {
  readonly deps: RecorderDeps;
  readonly context: TraceContext;
  readonly head: TraceHead;
  /** Not written yet. */
  waiting: TraceEvent[];
  /** How many of those that wait are told of by commits that have been made. */
  committed: number;
  /** Asked about last. */
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
  waiting.push(...eventsOf(fact, { agent, context, capture: deps.capture, now: deps.now() }));
  if (!deps.sampling || head.total + waiting.length <= deps.sampling.mostEvents) return;
  recorder.waiting = [];
  recorder.committed = 0;
  head.state = 'dropped';
  deps.dropped(context.run_id);
};

/** What a judge says of the run; a run that left nothing is not judged. */
export const evaluate = ({ deps, context, agent, waiting }: Recorder, verdict: EvaluationResult): void => {
  if (waiting.length > 0) waiting.push(evaluationEvent(verdict, context, agent?.spec.id ?? '', deps.now()));
};

/** With a commit of the run. */
export const write = (recorder: Recorder, batch: Batch, goesOn: 'now' | 'later'): void => {
  recorder.committed = recorder.waiting.length;
  const { sampling } = recorder.deps;
  if (sampling && goesOn === 'now') return;
  if (recorder.waiting.length > 0 || recorder.head.state === 'dropped') {
    put(recorder, batch, sampling ? 'held' : 'open');
  }
};

/** Another execution goes on from the last commit, and finds what was told up to there. */
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

/** One that somebody refers to is kept whatever its run was like. */
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
    head,
    waiting.map((event) => JSON.stringify(event)),
  );
  recorder.waiting = [];
  recorder.committed = 0;
};
