import type { InferenceEnd } from '../models/model.ts';
import type { StopVerdict } from '../plugins/stop/policies.ts';
import type { Inference } from '../plugins/stop/stats.ts';
import { addTokens, nextStats, startStats, stopStats } from '../plugins/stop/stats.ts';
import type { Tokens } from '../schema/cut-off.ts';
import { addUsd } from '../schema/usd.ts';
import { update } from '../tools/state.ts';
import type { Turn } from './turn.ts';

/** Counts the inferences of a turn for its stop policies (agent-loop.md 8). */

const statsOf = (turn: Turn) => turn.state.view().get(stopStats) ?? startStats(turn.clock.now());

/** The time of a turn starts with its first execution. */
export const startCount = (turn: Turn): void => {
  if (!turn.state.view().get(stopStats)) restartCount(turn);
};

export const count = (turn: Turn, inference: Inference): StopVerdict | undefined => {
  const stats = nextStats(statsOf(turn), inference, turn.agent.stop.texts);
  turn.state.apply([update(stopStats, stats)]);
  return turn.agent.stop.evaluate(stats, inference, turn.clock.now());
};

/** Whether the next inference of the turn is the last one that its agent allows. */
export const isLastRound = (turn: Turn): boolean => {
  const { mostRounds } = turn.agent.stop;
  return mostRounds > 0 && statsOf(turn).step_count + 1 >= mostRounds;
};

export const hasNoRoundLeft = (turn: Turn): boolean => {
  const { mostRounds } = turn.agent.stop;
  return mostRounds > 0 && statsOf(turn).step_count >= mostRounds;
};

export const countFailure = (turn: Turn): StopVerdict | undefined => {
  const stats = nextStats(statsOf(turn), 'failed', turn.agent.stop.texts);
  turn.state.apply([update(stopStats, stats)]);
  return turn.agent.stop.evaluateFailure(stats);
};

/**
 * Tokens of aborted attempts, and of inferences outside of steps, count towards the token budget, which is checked
 * after the next completion.
 */
export const countTokens = (turn: Turn, tokens: Tokens): void =>
  turn.state.apply([update(stopStats, addTokens(statsOf(turn), tokens))]);

/** Counts an inference outside of steps for its run, and for the token budget. */
export const countUsage = (turn: Turn, end: InferenceEnd, model = turn.agent.model.id): void => {
  const { input, output } = chargeInference(turn, end, model);
  if (input + output > 0) countTokens(turn, { input, output });
};

/** Adds a completed inference to the usage of the run. */
export const chargeInference = (
  turn: Turn,
  { usage, cost_usd: usd }: InferenceEnd,
  model: string,
): Tokens => {
  const { prompt_tokens: input = 0, completion_tokens: output = 0 } = usage ?? {};
  turn.inputTokens += input;
  turn.outputTokens += output;
  turn.costUsd = addUsd(turn.costUsd, usd);
  turn.noteUsage({ agent: turn.agent.spec.id, model, inferences: 1, input, output, usd });
  return { input, output };
};

/** Restarts all counters for new user input. */
export const restartCount = (turn: Turn): void =>
  turn.state.apply([update(stopStats, startStats(turn.clock.now()))]);
