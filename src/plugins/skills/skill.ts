import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseEntry } from '../../schema/problems.ts';
import { allowedToolProblem, isExactTool } from './allowed-tools.ts';

/**
 * Skill specs (agent-loop.md 2.4, config.md 3.8). A spec is always in canonical form: defaults filled in, empty lists
 * and unset texts absent, keys in the order of the contract. It is therefore stored and returned unchanged, equal
 * skills have equal JSON, and the revision of a skill is the hash of that JSON.
 */

const Argument = z
  .strictObject({
    name: z.string().superRefine((name, context) => report(context, argumentNameProblem(name))),
    description: z.string().nullish(),
    required: z.boolean().nullish().meta({ default: false }),
  })
  .transform(({ name, description, required }) => ({
    name,
    ...(typeof description === 'string' && { description }),
    required: required ?? false,
  }));

/** The limit of other lists of the configuration. */
const MOST = 1000;

const Arguments = z
  .array(Argument)
  .max(MOST)
  .superRefine((list, context) => {
    const names = list.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) < index);
    report(context, twice === undefined ? undefined : `duplicate argument name '${twice}'`);
  });

const text = (field: string, limit = Number.POSITIVE_INFINITY) =>
  z
    .string()
    .superRefine((value, context) => report(context, textProblem(field, value, limit)))
    .meta({ minLength: 1, ...(Number.isFinite(limit) && { maxLength: limit }) });

const Fields = z.strictObject({
  id: z
    .string()
    .superRefine((id, context) => report(context, idProblem(id)))
    .meta({ minLength: 1, maxLength: 64 }),
  name: text('name', 128),
  description: text('description', 1024),
  instructions_md: text('instructions_md'),
  allowed_tools: z.array(z.string()).max(MOST).nullish(),
  when_to_use: text('when_to_use').nullish(),
  arguments: Arguments.nullish(),
  argument_hint: text('argument_hint').nullish(),
  user_invocable: z.boolean().nullish().meta({ default: true }),
  model_invocable: z.boolean().nullish().meta({ default: true }),
  model_override: text('model_override').nullish(),
  context: z.enum(['inline', 'fork']).nullish().meta({ default: 'inline' }),
  paths: z.array(z.string()).max(MOST).nullish(),
});

const canonical = (given: z.output<typeof Fields>) => ({
  id: given.id,
  name: given.name,
  description: given.description,
  instructions_md: given.instructions_md,
  ...(given.allowed_tools && given.allowed_tools.length > 0 && { allowed_tools: given.allowed_tools }),
  ...(typeof given.when_to_use === 'string' && { when_to_use: given.when_to_use }),
  ...(given.arguments && given.arguments.length > 0 && { arguments: given.arguments }),
  ...(typeof given.argument_hint === 'string' && { argument_hint: given.argument_hint }),
  user_invocable: given.user_invocable ?? true,
  model_invocable: given.model_invocable ?? true,
  ...(typeof given.model_override === 'string' && { model_override: given.model_override }),
  context: given.context ?? 'inline',
  ...(given.paths && given.paths.length > 0 && { paths: given.paths }),
});

export type SkillSpec = ReturnType<typeof canonical>;

/** A skill of a folder: its allowed tools may have a scope (`Bash(git *)`), and it may have paths. */
const FileSkill = Fields.superRefine(({ allowed_tools }, context) => {
  for (const token of allowed_tools ?? []) report(context, allowedToolProblem(token, { scoped: true }));
}).transform(canonical);

export const ManagedSkill = Fields.superRefine(({ allowed_tools, paths }, context) => {
  for (const token of allowed_tools ?? []) report(context, allowedToolProblem(token, { scoped: false }));
  if (paths && paths.length > 0)
    report(context, 'paths are not supported for DB-managed skills until resources are persisted');
}).transform(canonical);

/** Folder of a file skill, and which files it has in addition to `SKILL.md`. */
export type SkillFolder = {
  /** real path */
  root: string;
  resources: boolean;
  scripts: boolean;
};

export type Skill = {
  spec: SkillSpec;
  /** Changes with every change of the spec. */
  revision: string;
  /** Absent for managed skills. */
  folder?: SkillFolder;
};

/** @throws Invalid `invalid skill spec: …` */
export const managedSkill = (given: unknown): Skill => skillOf(ManagedSkill, given);

/** @throws Invalid `invalid skill spec: …` */
export const fileSkill = (given: unknown, folder: SkillFolder): Skill => ({
  ...skillOf(FileSkill, given),
  folder,
});

/** Reports allowed tools that are plain ids of unknown tools; each is a problem of the publication. */
export const unknownToolProblems = (
  { id, allowed_tools = [] }: SkillSpec,
  known: (tool: string) => boolean,
): string[] =>
  allowed_tools
    .filter((token) => isExactTool(token) && !known(token))
    .map((token) => `skill '${id}' allowed_tools references unknown tool '${token}'`);

const skillOf = (schema: z.ZodType<SkillSpec>, given: unknown): Skill => {
  const spec = parseEntry('skill spec', schema, given);
  const revision = createHash('sha256').update(JSON.stringify(spec)).digest('base64url');
  return { spec, revision };
};

const report = (context: z.RefinementCtx, problem: string | undefined): void => {
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
};

const characters = (value: string): number => [...value].length;

const textProblem = (field: string, value: string, limit: number): string | undefined => {
  if (value.trim() === '') return `field '${field}' cannot be empty`;
  if (characters(value) > limit) return `field '${field}' must be at most ${limit} characters`;
  return undefined;
};

const idProblem = (id: string): string | undefined => {
  const empty = textProblem('id', id, 64);
  if (empty) return empty;
  if (id !== id.trim()) return "field 'id' must not contain surrounding whitespace";
  if (id !== id.toLowerCase()) return "field 'id' must be lowercase";
  if (!/^[a-z0-9-]+$/.test(id)) return "field 'id' may contain only letters a-z, digits and '-'";
  if (id.startsWith('-') || id.endsWith('-')) return "field 'id' must not start or end with '-'";
  return id.includes('--') ? "field 'id' must not contain '--'" : undefined;
};

const argumentNameProblem = (name: string): string | undefined => {
  if (name.trim() === '') return 'argument name cannot be empty';
  return name === name.trim() ? undefined : `argument name '${name}' must not contain surrounding whitespace`;
};
