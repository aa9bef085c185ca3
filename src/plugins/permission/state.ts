import { z } from 'zod';
import { defineState } from '../../tools/state.ts';
import { Behavior } from './policy.ts';

/**
 * Rules that do not stand in the agent's section. The section is never copied here: a rule that is taken out of
 * the spec has no effect from the next run on.
 */

/** A rule that a decision asked to keep. */
const GrantedRule = z.strictObject({
  tool: z.string().meta({ description: 'a pattern' }),
  behavior: z.enum(['allow', 'deny']),
  scope: z.enum(['session', 'thread', 'project']),
  decision_id: z.string(),
  reason: z.string().optional(),
  granted_at: z.int().meta({ description: 'milliseconds since the epoch' }),
});
export type GrantedRule = z.infer<typeof GrantedRule>;

export const permissionPolicy = defineState({
  key: 'permission_policy',
  scope: 'thread',
  schema: z.strictObject({
    default_behavior: Behavior.meta({
      description: 'of the agent when the last rule was granted; clients read it, nothing here does',
    }),
    rules: z.array(GrantedRule),
  }),
});

/** What skills allow for the rest of a run; a deny of the section or the thread still wins. */
export const permissionOverrides = defineState({
  key: 'permission_overrides',
  scope: 'run',
  hidden: true,
  schema: z.object({ rules: z.array(z.object({ tool: z.string(), behavior: z.literal('allow') })) }),
});
