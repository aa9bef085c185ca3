import { Invalid } from '../../schema/outcome.ts';
import { compileExpression } from '../../schema/regex.ts';
import type { StopCondition } from '../../schema/stop-condition.ts';

/** Limits of the `stop_conditions` of an agent that its schema does not check (agent-loop.md 1.4). */

const MAX = { seconds: 86_400, tokens: 100_000_000, pattern: 1024, window: 64 } as const;

/**
 * Returns the first violated limit, or `undefined`. The caller prepends `invalid agent spec: ` or `invalid agent spec
 * patch: `.
 */
export const stopConditionError = (conditions: readonly StopCondition[]): string | undefined => {
  for (const condition of conditions) {
    const error = errorOf(condition);
    if (error !== undefined) return error;
  }
  return undefined;
};

const errorOf = (condition: StopCondition): string | undefined => {
  switch (condition.type) {
    case 'timeout':
      return above('timeout.seconds', MAX.seconds, condition.seconds);
    case 'token_budget':
      return above('token_budget.max_total', MAX.tokens, condition.max_total);
    case 'loop_detection':
      return above('loop_detection.window', MAX.window, condition.window);
    case 'content_match':
      return patternError(condition.pattern);
    default:
      return undefined;
  }
};

const above = (field: string, limit: number, given: number): string | undefined =>
  given > limit ? `${field} must be <= ${limit}, got ${given}` : undefined;

const patternError = (pattern: string): string | undefined => {
  // Counts characters, not UTF-16 units.
  const tooLong = above('content_match.pattern', MAX.pattern, [...pattern].length);
  if (tooLong !== undefined) return tooLong;
  const compiled = compileExpression(pattern);
  return compiled instanceof Invalid
    ? `content_match.pattern must be valid regex: ${compiled.message}`
    : undefined;
};
