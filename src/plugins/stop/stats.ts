import { z } from 'zod';
import type { Tokens } from '../../schema/cut-off.ts';
import type { Usage } from '../../schema/run-event.ts';
import { defineState } from '../../tools/state.ts';

/** Counters for the stop policies (agent-loop.md 8, 13). New user input resets them, a decision does not. */

const count = z.int().nonnegative();

const StopStats = z.object({
  /** Successful inferences. */
  step_count: count,
  /** Includes interrupted attempts. */
  total_input_tokens: count,
  total_output_tokens: count,
  start_time_ms: z.int(),
  /** Failed inferences since the last successful one. */
  consecutive_errors: count,
  /** Non-empty completion texts, oldest first; only as many as a policy compares. */
  recent_response_texts: z.array(z.string()),
});
export type StopStats = z.infer<typeof StopStats>;

export const stopStats = defineState({
  key: '__runtime.stop_condition_stats',
  scope: 'run',
  schema: StopStats,
});

/** The data of an inference that policies evaluate. */
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

/** `keep`: number of texts that the policies of the agent compare, `StopPolicies.texts`. */
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
    // slice(-0) would keep all.
    recent_response_texts: keep === 0 ? [] : texts.slice(-keep),
  };
};

/** Adds the tokens of an interrupted attempt, or of an inference that is not a step. */
export const addTokens = (stats: StopStats, { input, output }: Tokens): StopStats => ({
  ...stats,
  total_input_tokens: stats.total_input_tokens + input,
  total_output_tokens: stats.total_output_tokens + output,
});
