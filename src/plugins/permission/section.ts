import { z } from 'zod';
import { Invalid } from '../../schema/outcome.ts';
import type { Section } from '../plugin.ts';
import { Behavior, tryCompileRule } from './policy.ts';

/** The section with the tool permissions of an agent (agent-loop.md 14.1). */

const A_YEAR = 366 * 24 * 3600;

const SectionRule = z
  .strictObject({
    tool: z.string().meta({ description: 'a tool id, a glob, /regex/, or one of these with (arguments)' }),
    behavior: Behavior.meta({ description: 'the decision on matching calls' }),
    scope: z
      .enum(['once', 'session', 'thread', 'project', 'user'])
      .default('project')
      .meta({ description: 'informational, without effect' }),
    timeout_secs: z
      .int()
      .positive()
      .max(A_YEAR)
      .optional()
      .meta({ description: 'how long an ask waits for a decision; without it, indefinitely' }),
    on_timeout: z
      .enum(['deny', 'approve'])
      .optional()
      .meta({ description: 'the decision when the time is over; deny if absent' }),
  })
  .superRefine((rule, context) => {
    const complain = (field: keyof typeof rule, message: string): void =>
      context.addIssue({ code: 'custom', path: [field], message });
    const compiled = tryCompileRule(rule);
    if (compiled instanceof Invalid) complain('tool', compiled.message);
    if (rule.timeout_secs !== undefined && rule.behavior !== 'ask') {
      complain('timeout_secs', 'only a rule with behavior "ask" waits');
    }
    if (rule.on_timeout !== undefined && rule.timeout_secs === undefined) {
      complain('on_timeout', 'needs timeout_secs');
    }
  });

const PermissionSection = z.strictObject({
  default_behavior: Behavior.default('ask').meta({
    description: 'the decision on calls that no rule matches',
  }),
  rules: z.array(SectionRule).default([]).meta({
    description: 'in any order: deny takes precedence over allow, and allow over ask',
  }),
});
type PermissionSection = z.infer<typeof PermissionSection>;

export const permissionSection: Section<PermissionSection> = {
  key: 'permission',
  schema: PermissionSection,
  display_name: 'Permissions',
  description: 'Allow, ask or deny tools',
  category: 'safety',
  editor: 'permission',
  default_value: { default_behavior: 'ask', rules: [] },
};
