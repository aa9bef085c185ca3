import { z } from 'zod';
import { Invalid } from './outcome.ts';

/** What is wrong with an entry, in the words of config.md 3. An issue with words of its own keeps them. */

export const problemsOf = (error: z.ZodError, at: readonly PropertyKey[] = []): string[] =>
  error.issues.flatMap((issue) => {
    if (issue.code === 'custom') return [issue.message];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `unknown field '${key}'`);
    const path = z.core.toDotPath([...at, ...issue.path]);
    if (path === '') return [issue.message];
    return [issue.input === undefined ? `missing field '${path}'` : `field '${path}': ${issue.message}`];
  });

export const firstProblem = (error: z.ZodError, at: readonly PropertyKey[]): string =>
  problemsOf(error, at)[0] ?? error.message;

/**
 * @param surface `agent spec`, `model spec`, …
 * @throws Invalid `invalid <surface>: <problem>; …`
 */
export const parseEntry = <Entry>(surface: string, schema: z.ZodType<Entry>, given: unknown): Entry => {
  const parsed = schema.safeParse(given, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new Invalid(`invalid ${surface}: ${problemsOf(parsed.error).join('; ')}`);
};

/**
 * For entries whose rules have a wording that names the surface itself.
 *
 * @throws Invalid the words of the broken rules; for a wrong shape as `parseEntry`
 */
export const parseWorded = <Entry>(surface: string, schema: z.ZodType<Entry>, given: unknown): Entry => {
  const rules = schema.safeParse(given).error?.issues.filter(({ code }) => code === 'custom') ?? [];
  if (rules.length > 0) throw new Invalid(rules.map(({ message }) => message).join('; '));
  return parseEntry(surface, schema, given);
};

/** A text that must say something. */
export const requiredText = (field: string) =>
  z.string().refine((text) => text.trim() !== '', `field '${field}' cannot be empty`);
