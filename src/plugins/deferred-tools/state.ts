import { z } from 'zod';
import { defineState } from '../../tools/state.ts';

/**
 * State that persists on a thread (agent-loop.md 13, 14.4). Only deviations from the section and the priors are stored:
 * promoted tools and used tools. The size is therefore bounded by the tools that a thread has used, and a changed
 * section takes effect on old threads.
 */

const turn = z.int().nonnegative();

export const registryKey = defineState({
  key: 'deferred_tools.registry',
  scope: 'thread',
  schema: z.object({
    /** Ids that `ToolSearch` finds. */
    tools: z.array(z.string()),
    /** Tools hidden from the last request. */
    listed: z.array(z.string()),
  }),
});

const Modes = z.object({
  /** Tool id to the turn in which the tool became visible. */
  promoted: z.record(z.string(), turn),
  /** Deferred tools that the section would show. */
  deferred: z.array(z.string()),
});
export type Modes = z.infer<typeof Modes>;

export const modesKey = defineState({ key: 'deferred_tools.state', scope: 'thread', schema: Modes });

const UsageStats = z.object({
  turns: turn,
  /** Tool id to the number of turns that called the tool. */
  uses: z.record(z.string(), z.int().positive()),
});
export type UsageStats = z.infer<typeof UsageStats>;

export const usageKey = defineState({
  key: 'deferred_tools.usage_stats',
  scope: 'thread',
  schema: UsageStats,
});

const Belief = z.object({
  alpha: z.number(),
  beta: z.number(),
  /** Last turn that used the tool; the counts are as of its end. */
  turn,
});
export type Belief = z.infer<typeof Belief>;

const Beliefs = z.record(z.string(), Belief);
export type Beliefs = z.infer<typeof Beliefs>;

export const beliefsKey = defineState({ key: 'deferred_tools.disc_beta', scope: 'thread', schema: Beliefs });
