import { byIn, usageIn } from '../models/errors.ts';
import type { InferenceRequest } from '../models/model.ts';
import { isCompactionDue, planCompaction } from '../plugins/context/compaction.ts';
import {
  type CompactionEvent,
  type CompactionMarks,
  compactionEnded,
  compactionMarks,
  compactionSkipped,
  compactionStarted,
  NO_COMPACTIONS,
} from '../plugins/context/compaction-marks.ts';
import type { SummaryInference } from '../plugins/context/compactor.ts';
import { foldHistory } from '../plugins/context/fold.ts';
import { update } from '../tools/state.ts';
import { metered, purposeOf } from './allowance.ts';
import { noteLost } from './attempts.ts';
import { observeInference } from './observe-inference.ts';
import { countUsage } from './rounds.ts';
import type { Turn } from './turn.ts';

/**
 * Compaction in parallel to the loop (agent-loop.md 12.3): it starts before an inference without delaying it, and its
 * summary is used from the next step boundary on, of this run or of a later one of the thread.
 */

/** Returns the history with summaries in place of the messages that they cover. */
export const folded = (turn: Turn) => foldHistory([...turn.committed(), ...turn.produced]);

export const beginCompaction = (turn: Turn, request: InferenceRequest): void => {
  const { compactor, agent } = turn;
  if (!compactor || !agent.contextPolicy || !isCompactionDue(request, agent.contextPolicy)) return;
  const marks = turn.state.view().get(compactionMarks) ?? NO_COMPACTIONS;
  const plan = planCompaction(turn.committed(), agent.contextPolicy, marks.tried_to_seq);
  if (plan?.kind === 'skip') recordCompaction(turn, compactionSkipped(marks, plan));
  const model = agent.compaction && metered(turn.account(), { ...purposeOf(agent), ...agent.compaction });
  const task = plan?.kind === 'compact' ? compactor.begin(plan, model) : undefined;
  if (task) turn.logCompaction(compactionStarted(turn.thread_id, task));
};

/** Adds the summary to the history; it covers the messages that it was made from, and none that were added since. */
export const takeCompaction = (turn: Turn): void => {
  const outcome = turn.compactor?.take();
  if (!outcome) return;
  if (outcome.inference) countSummary(turn, outcome.inference);
  const marks = turn.state.view().get(compactionMarks) ?? NO_COMPACTIONS;
  if (outcome.result.kind === 'completed') {
    const { message } = outcome.result;
    turn.produced.push({ ...message, metadata: { ...message.metadata, run_id: turn.run_id } });
  }
  recordCompaction(turn, compactionEnded(turn.thread_id, marks, outcome));
};

/** The run that adds the summary is charged for its tokens, even if an earlier run started it. */
const countSummary = (turn: Turn, { seconds, text, end, error, ...by }: SummaryInference): void => {
  const { id: model } = turn.agent.compaction?.model ?? turn.agent.model;
  const spent = { startedAt: 0, endedAt: seconds * 1000, by };
  if (end) {
    countUsage(turn, end, model);
    observeInference(turn, { ...spent, end, traced: { content: [{ type: 'text', text }] } });
    return;
  }
  const usage = usageIn(error);
  const { prompt_tokens: input = 0, completion_tokens: output = 0 } = usage ?? {};
  const usd = usage && turn.agent.model.costUsd?.(usage, by.upstream, byIn(error));
  if (input + output > 0) noteLost(turn, { input, output, usd }, model);
  observeInference(turn, { ...spent, error, traced: { lost: { input, output, usd } } });
};

const recordCompaction = (
  turn: Turn,
  { marks, event }: { marks: CompactionMarks; event: CompactionEvent },
): void => {
  turn.state.apply([update(compactionMarks, marks)]);
  turn.logCompaction(event);
};
