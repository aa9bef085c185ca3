import { z } from 'zod';
import { Actor } from '../../schema/actor.ts';
import { defineState } from '../../tools/state.ts';
import { Behavior } from './policy.ts';

/**
 * Rules from other sources than the section of the agent. The section is never copied here: a rule that is removed from
 * the spec has no effect from the next run on.
 */

/** A rule stored by a decision. */
const GrantedRule = z.strictObject({
  tool: z.string().meta({ description: 'a pattern' }),
  behavior: z.enum(['allow', 'deny']),
  scope: z.enum(['session', 'thread', 'project']),
  decision_id: z.string(),
  reason: z.string().optional(),
  user: z
    .string()
    .optional()
    .meta({ description: 'the user of the run; the rule counts in runs of this user' }),
  author: Actor.optional().meta({ description: 'the user who decided; the rule ends with its grant' }),
  granted_at: z.int().meta({ description: 'milliseconds since the epoch' }),
});
export type GrantedRule = z.infer<typeof GrantedRule>;

export const permissionPolicy = defineState({
  key: 'permission_policy',
  scope: 'thread',
  schema: z.strictObject({
    default_behavior: Behavior.meta({
      description: 'default of the agent when the last rule was granted; only clients read it',
    }),
    rules: z.array(GrantedRule),
  }),
});

/** Tools that skills allow for the rest of a run; a deny of the section or the thread still wins. */
export const permissionOverrides = defineState({
  key: 'permission_overrides',
  scope: 'run',
  hidden: true,
  schema: z.object({ rules: z.array(z.object({ tool: z.string(), behavior: z.literal('allow') })) }),
});
