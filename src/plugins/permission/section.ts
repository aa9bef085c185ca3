import { z } from 'zod';
import { Invalid } from '../../schema/outcome.ts';
import type { Section } from '../plugin.ts';
import {
  Behavior,
  type CompiledRule,
  compileRule,
  Deciders,
  type Otherwise,
  tryCompileRule,
} from './policy.ts';

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
    deciders: Deciders.optional().meta({
      description:
        'whether any principal with the grant may decide, or only another user than the one behind the run; without it, `default_deciders`',
    }),
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
    if (rule.deciders !== undefined && rule.behavior !== 'ask') {
      complain('deciders', 'only a rule with behavior "ask" is decided');
    }
  });

const PermissionSection = z
  .strictObject({
    default_behavior: Behavior.default('ask').meta({
      description: 'the decision on calls that no rule matches',
    }),
    default_deciders: Deciders.default('any').meta({
      description: 'the users who decide calls that no rule matches, and those of rules without `deciders`',
    }),
    rules: z.array(SectionRule).default([]).meta({
      description:
        'in any order: deny takes precedence over allow, and allow over ask; an ask with `deciders: others` takes precedence over allow',
    }),
  })
  .superRefine(({ rules, default_deciders }, context) => {
    rules.forEach(({ deciders = default_deciders, on_timeout }, index) => {
      if (deciders !== 'others' || on_timeout !== 'approve') return;
      const message = 'a call that others must decide cannot be approved by a time limit';
      context.addIssue({ code: 'custom', path: ['rules', index, 'on_timeout'], message });
    });
  });
type PermissionSection = z.infer<typeof PermissionSection>;

/** Returns the rules of a section, and its defaults. @throws Invalid */
export const compileSection = ({
  rules,
  default_behavior,
  default_deciders = 'any',
}: Pick<PermissionSection, 'rules' | 'default_behavior'> & Partial<PermissionSection>): {
  rules: CompiledRule[];
  otherwise: Otherwise;
} => ({
  rules: rules.map((rule) =>
    compileRule(rule.behavior === 'ask' ? { ...rule, deciders: rule.deciders ?? default_deciders } : rule),
  ),
  otherwise: {
    behavior: default_behavior,
    deciders: default_behavior === 'ask' ? default_deciders : 'any',
  },
});

export const permissionSection: Section<PermissionSection> = {
  key: 'permission',
  schema: PermissionSection,
  display_name: 'Permissions',
  description: 'Allow, ask or deny tools',
  category: 'safety',
  editor: 'permission',
  default_value: { default_behavior: 'ask', rules: [] },
};
