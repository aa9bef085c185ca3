import { z } from 'zod';
import { Invalid } from './outcome.ts';
import { listed, pathText, phrasesOnce, toProblem } from './phrases.ts';

/** Returns the problems of an entry in the wording of config.md 3. Issues with their own message keep it. */

export const problemsOf = (error: z.ZodError, at: readonly PropertyKey[] = []): string[] =>
  listed(error.issues.map((issue) => problem(issue, at)));

const problem = (issue: z.core.$ZodIssue, at: readonly PropertyKey[]): string => {
  const { path, text, missing } = toProblem(issue, at);
  const place = pathText(path);
  if (missing) return place === '' ? text : `missing field '${place}'`;
  if (issue.code === 'custom' || issue.code === 'unrecognized_keys' || place === '') return text;
  return `field '${place}': ${text}`;
};

export const firstProblem = (error: z.ZodError, at: readonly PropertyKey[]): string =>
  problemsOf(error, at)[0] ?? error.message;

/**
 * @param surface `agent spec`, `model spec`, …
 * @throws Invalid `invalid <surface>: <problem>; …`
 */
export const parseEntry = <Entry>(surface: string, schema: z.ZodType<Entry>, given: unknown): Entry => {
  const parsed = schema.safeParse(given, phrasesOnce);
  if (parsed.success) return parsed.data;
  throw new Invalid(`invalid ${surface}: ${problemsOf(parsed.error).join('; ')}`);
};

/**
 * For entries whose rules have messages that name the surface themselves.
 *
 * @throws Invalid with the messages of the violated rules; for a wrong shape like `parseEntry`
 */
export const parseWorded = <Entry>(surface: string, schema: z.ZodType<Entry>, given: unknown): Entry => {
  const rules =
    schema.safeParse(given, phrasesOnce).error?.issues.filter(({ code }) => code === 'custom') ?? [];
  if (rules.length > 0) throw new Invalid(rules.map(({ message }) => message).join('; '));
  return parseEntry(surface, schema, given);
};

/** A text that must not be blank. */
export const requiredText = (field: string) =>
  z
    .string()
    .refine((text) => text.trim() !== '', `field '${field}' cannot be empty`)
    .meta({ minLength: 1 });
