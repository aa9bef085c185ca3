import type { ModelSettings } from '../../schema/model-settings.ts';
import { budgetOf, nearestNamedEffort } from '../effort.ts';
import { isAdaptive, limitsOf, thinksAtAll, thinksByDefault } from './anthropic-models.ts';

/** The thinking settings of a request with the Messages protocol. */
export type Thinking = {
  /** Absent: the request does not mention thinking. */
  type?: 'enabled' | 'adaptive' | 'disabled' | 'between_tools';
  /** Tokens, with `enabled`. */
  budget?: number;
  /** The effort, with `adaptive`. */
  effort?: string;
  /**
   * Whether thinking blocks of earlier completions are sent. The service rejects some of them when the model does not
   * think.
   */
  sendsBlocks: boolean;
};

/** The service rejects a smaller budget. */
const LEAST_BUDGET = 1024;

export const thinkingFor = (effort: ModelSettings['reasoning_effort'] | null, upstream: string): Thinking => {
  if (effort == null) return { sendsBlocks: thinksByDefault(upstream) };
  const name = nearestNamedEffort(effort);
  if (name !== 'none') {
    return isAdaptive(upstream)
      ? { type: 'adaptive', effort: name, sendsBlocks: true }
      : { type: 'enabled', budget: Math.max(LEAST_BUDGET, budgetOf(effort)), sendsBlocks: true };
  }
  if (!thinksAtAll(upstream)) return WITHOUT_THINKING;
  const { alwaysThinks, betweenTools } = limitsOf(upstream);
  if (!alwaysThinks) return { type: 'disabled', sendsBlocks: false };
  // With `between_tools` the service accepts no `block_binding`, so it would reject a block after a changed prefix.
  return betweenTools ? { type: 'between_tools', sendsBlocks: false } : { sendsBlocks: true };
};

/** Used when the history does not allow thinking. */
export const WITHOUT_THINKING: Thinking = { sendsBlocks: false };

export const isThinking = ({ type }: Thinking): boolean => type !== undefined && type !== 'disabled';
