import { z } from 'zod';
import type { Tokens } from '../../schema/cut-off.ts';
import type { Usage } from '../../schema/run-event.ts';
import { defineState } from '../../tools/state.ts';

/** What stop policies count (agent-loop.md 8, 13). New user input starts the counters again, a decision does not. */

const count = z.int().nonnegative();

const StopStats = z.object({
  /** Successful inferences. */
  step_count: count,
  /** Those of attempts that broke off are included. */
  total_input_tokens: count,
  total_output_tokens: count,
  start_time_ms: z.int(),
  /** Failed inferences since the last successful one. */
  consecutive_errors: count,
  /** Non-empty answers, oldest first; only as many as a policy looks at. */
  recent_response_texts: z.array(z.string()),
});
export type StopStats = z.infer<typeof StopStats>;

export const stopStats = defineState({
  key: '__runtime.stop_condition_stats',
  scope: 'run',
  schema: StopStats,
});

/** What policies see of an inference. */
export type Inference = { text: string; calls: readonly { name: string }[]; usage: Usage | undefined };

/** @param now milliseconds */
export const startStats = (now: number): StopStats => ({
  step_count: 0,
  total_input_tokens: 0,
  total_output_tokens: 0,
  start_time_ms: now,
  consecutive_errors: 0,
  recent_response_texts: [],
});

/** `keep`: how many answers the policies of the agent look at, `StopPolicies.texts`. */
export const nextStats = (stats: StopStats, inference: Inference | 'failed', keep: number): StopStats => {
  if (inference === 'failed') return { ...stats, consecutive_errors: stats.consecutive_errors + 1 };
  const { text, usage } = inference;
  const texts = text === '' ? stats.recent_response_texts : [...stats.recent_response_texts, text];
  return {
    ...stats,
    step_count: stats.step_count + 1,
    total_input_tokens: stats.total_input_tokens + (usage?.prompt_tokens ?? 0),
    total_output_tokens: stats.total_output_tokens + (usage?.completion_tokens ?? 0),
    consecutive_errors: 0,
    // slice(-0) would keep them all.
    recent_response_texts: keep === 0 ? [] : texts.slice(-keep),
  };
};

/** With the tokens of an attempt that broke off, or of an inference that is no step. */
export const addTokens = (stats: StopStats, { input, output }: Tokens): StopStats => ({
  ...stats,
  total_input_tokens: stats.total_input_tokens + input,
  total_output_tokens: stats.total_output_tokens + output,
});
