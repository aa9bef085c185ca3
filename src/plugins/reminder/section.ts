import { z } from 'zod';
import { Invalid } from '../../schema/outcome.ts';
import { compileWildcards } from '../permission/wildcard.ts';
import type { Section } from '../plugin.ts';
import { compileField, compileTool, FIELD_OPERATORS } from './match.ts';

/** The section of reminders (agent-loop.md 14.2). Invalid patterns are rejected here rather than during a run. */

const Field = z
  .strictObject({
    path: z.string().meta({ description: 'as in permission rules: a.b, a[0], a[*].c, *' }),
    op: z.enum(FIELD_OPERATORS).default('glob').meta({ description: 'how the field is compared' }),
    value: z.string().meta({ description: 'the text to compare with' }),
  })
  .superRefine((field, context) => refuse(context, () => compileField(field)));

const Text = z.string().superRefine((glob, context) => refuse(context, () => compileWildcards(glob)));

const Fields = z.strictObject({
  fields: z.array(Field).meta({ description: 'conditions on the data, all of which must hold' }),
});

/** Reports the errors of the intended form, which follows from the type of the input. */
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
    status: z
      .enum(['success', 'error', 'pending', 'any'])
      .default('any')
      .meta({ description: 'the status of the result' }),
    content: either(Text, Fields)
      .optional()
      .meta({ description: 'a glob on the text of the result, or conditions on fields of its data' }),
  }),
);

const Rule = z.strictObject({
  name: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'part of the key of the message: a rule with the same name replaces it' }),
  tool: z
    .string()
    .superRefine((tool, context) => refuse(context, () => compileTool(tool)))
    .meta({ description: 'in the language of permission rules' }),
  output: Output.default('any').meta({ description: 'the results that match' }),
  message: z
    .strictObject({
      target: z
        .enum(['system', 'suffix_system', 'session', 'conversation'])
        .meta({ description: 'the position in the request' }),
      content: z.string().min(1).meta({ description: 'the text for the model' }),
      cooldown_turns: z
        .int()
        .nonnegative()
        .default(0)
        .meta({ description: 'steps before the same text is added again' }),
    })
    .meta({ description: 'the context message to add to the next inference' }),
});
export type Rule = z.infer<typeof Rule>;

const Reminders = z.strictObject({
  rules: z.array(Rule).default([]).meta({ description: 'each matching rule adds its message' }),
});
export type Reminders = z.infer<typeof Reminders>;

export const reminderSection: Section<Reminders> = {
  key: 'reminder',
  schema: Reminders,
  display_name: 'Reminders',
  description: 'Adds a message for the model after certain tool results.',
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
