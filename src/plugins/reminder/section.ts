import { z } from 'zod';
import { Invalid } from '../../schema/outcome.ts';
import { compileWildcards } from '../permission/wildcard.ts';
import type { Section } from '../plugin.ts';
import { compileField, compileTool, FIELD_OPERATORS } from './match.ts';

/** The section of reminders (agent-loop.md 14.2). What cannot be matched is refused here, not in the middle of a run. */

const Field = z
  .strictObject({
    path: z.string().meta({ description: 'as in permission rules: a.b, a[0], a[*].c, *' }),
    op: z.enum(FIELD_OPERATORS).default('glob'),
    value: z.string(),
  })
  .superRefine((field, context) => refuse(context, () => compileField(field)));

const Text = z.string().superRefine((glob, context) => refuse(context, () => compileWildcards(glob)));

const Fields = z.strictObject({ fields: z.array(Field) });

/** Speaks of the form that was meant, which its type tells. */
const either = <Name extends z.ZodType, Form extends z.ZodType>(name: Name, form: Form) =>
  z.union([name, form], {
    error: ({ input, errors }) => {
      const [named = [], formed = []] = errors;
      return (typeof input === 'object' ? formed : named)
        .map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '))
        .join('; ');
    },
  });

const Output = either(
  z.literal('any'),
  z.strictObject({
    status: z.enum(['success', 'error', 'pending', 'any']).default('any'),
    content: either(Text, Fields)
      .optional()
      .meta({ description: 'a glob on the text of the result, or conditions on fields of its data' }),
  }),
);

const Rule = z.strictObject({
  name: z.string().min(1).optional(),
  tool: z
    .string()
    .superRefine((tool, context) => refuse(context, () => compileTool(tool)))
    .meta({ description: 'in the language of permission rules' }),
  output: Output.default('any'),
  message: z.strictObject({
    target: z.enum(['system', 'suffix_system', 'session', 'conversation']),
    content: z.string().min(1),
    cooldown_turns: z.int().nonnegative().default(0),
  }),
});
export type Rule = z.infer<typeof Rule>;

const Reminders = z.strictObject({ rules: z.array(Rule).default([]) });
export type Reminders = z.infer<typeof Reminders>;

export const reminderSection: Section<Reminders> = {
  key: 'reminder',
  schema: Reminders,
  display_name: 'Reminders',
  description: 'Tells the model something after a tool has given a certain result.',
  category: 'behavior',
  editor: 'reminder',
  default_value: { rules: [] },
};

const refuse = (context: z.RefinementCtx, compile: () => unknown): void => {
  try {
    compile();
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    context.addIssue(error.message);
  }
};
