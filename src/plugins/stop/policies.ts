import { Invalid } from '../../schema/outcome.ts';
import { compileExpression } from '../../schema/regex.ts';
import type { Termination } from '../../schema/run.ts';
import type { StopCondition } from '../../schema/stop-condition.ts';
import type { Inference, StopStats } from './stats.ts';

/**
 * Stop policies (agent-loop.md 8): decide whether a run ends after an inference.
 *
 * Guarantees: pure; `max_rounds` of the spec is evaluated first, then the conditions in list order, and the first that
 * applies decides. In the last allowed round, a completion without calls is a natural end, and one with calls a stop.
 * Relies on: stats that already include the inference.
 * Costs: patterns are compiled once per agent; a match is linear in the text of the completion.
 */

export type StopVerdict = Extract<Termination, { type: 'natural_end' | 'stopped' }>;

export type StopPolicies = {
  /** Number of completion texts that the stats must keep. */
  readonly texts: number;
  /** Maximum number of inferences of a turn, by the spec and its conditions; 0 = unlimited. */
  readonly mostRounds: number;
  /** @param now milliseconds */
  evaluate(stats: StopStats, inference: Inference, now: number): StopVerdict | undefined;
  /** For a failed inference: without a completion, only the number of failures can end the run. */
  evaluateFailure(stats: StopStats): StopVerdict | undefined;
};

type About = { stats: StopStats; inference: Inference; now: number };
type Policy = (about: About) => StopVerdict | undefined;

export const createStopPolicies = (spec: {
  max_rounds: number;
  stop_conditions?: readonly StopCondition[];
}): StopPolicies => {
  const conditions = spec.stop_conditions ?? [];
  const policies = [maxRounds(spec.max_rounds), ...conditions.map(policyOf)];
  return {
    mostRounds: leastOf([spec.max_rounds, ...conditions.flatMap(roundsOf)]),
    texts: Math.max(0, ...conditions.map(textsOf)),
    evaluate(stats, inference, now) {
      for (const policy of policies) {
        const verdict = policy({ stats, inference, now });
        if (verdict) return verdict;
      }
      return undefined;
    },
    evaluateFailure: ({ consecutive_errors: failed }) =>
      conditions.some((one) => one.type === 'consecutive_errors' && reached(one.max, failed))
        ? stopped('consecutive_errors')
        : undefined,
  };
};

const roundsOf = (condition: StopCondition): number[] =>
  condition.type === 'max_rounds' ? [condition.rounds] : [];

/** A limit of 0 means unlimited. */
const leastOf = (limits: readonly number[]): number => {
  const set = limits.filter((limit) => limit > 0);
  return set.length === 0 ? 0 : Math.min(...set);
};

const policyOf = (condition: StopCondition): Policy => {
  switch (condition.type) {
    case 'max_rounds':
      return maxRounds(condition.rounds);
    case 'timeout':
      return when('timeout', ({ stats, now }) => now - stats.start_time_ms > condition.seconds * 1000);
    case 'token_budget':
      return when(
        'token_budget',
        ({ stats }) => stats.total_input_tokens + stats.total_output_tokens > condition.max_total,
      );
    case 'consecutive_errors':
      return when('consecutive_errors', ({ stats }) => reached(condition.max, stats.consecutive_errors));
    case 'stop_on_tool':
      return when('stop_on_tool', ({ inference }) =>
        inference.calls.some(({ name }) => name === condition.tool_name),
      );
    case 'content_match':
      return contentMatch(condition.pattern);
    case 'loop_detection':
      return loopDetection(textsOf(condition));
  }
};

type Code = Extract<StopVerdict, { type: 'stopped' }>['value']['code'];

const stopped = (code: Code, detail?: string): StopVerdict => ({
  type: 'stopped',
  value: { code, ...(detail !== undefined && { detail }) },
});

const when =
  (code: Code, applies: (about: About) => boolean): Policy =>
  (about) =>
    applies(about) ? stopped(code) : undefined;

/** A limit of 0 means unlimited. */
const reached = (limit: number, value: number): boolean => limit > 0 && value >= limit;

const maxRounds =
  (limit: number): Policy =>
  ({ stats, inference }) => {
    if (!reached(limit, stats.step_count)) return undefined;
    return inference.calls.length === 0 ? { type: 'natural_end' } : stopped('max_rounds');
  };

/** An empty pattern disables the condition. */
const contentMatch = (pattern: string): Policy => {
  if (pattern === '') return () => undefined;
  const compiled = compileExpression(pattern);
  if (compiled instanceof Invalid) return () => stopped('content_match_invalid_regex', compiled.message);
  return when('content_match', ({ inference }) => compiled.test(inference.text));
};

/** Number of completions to compare; a single one is not a loop. */
const textsOf = (condition: StopCondition): number =>
  condition.type === 'loop_detection' ? Math.min(Math.max(condition.window, 2), 64) : 0;

const loopDetection = (window: number): Policy =>
  when('loop_detection', ({ stats }) => {
    const last = stats.recent_response_texts.slice(-window);
    return last.length === window && last.every((text) => text === last[0]);
  });
