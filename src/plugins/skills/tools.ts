import { codedError } from '../../tools/coded-error.ts';
import type { Json, Tool, ToolContext, ToolOutput } from '../../tools/tool.ts';
import { type ActivationDeps, activate } from './activation.ts';
import { fillIn } from './arguments.ts';
import { loadResource, type ResourceKind } from './resources.ts';
import { runScript } from './script.ts';
import type { Skill, SkillFolder } from './skill.ts';
import type { SkillSource } from './source.ts';

/**
 * The tools of skills (agent-loop.md 14.3). They validate their arguments themselves, because their errors have codes.
 * `skill` and `skill_script` are exclusive: an activation builds on earlier ones, and scripts of a skill share files.
 */

export type SkillToolDeps = ActivationDeps & {
  skills: SkillSource;
  scriptTimeoutMs: number;
};

type Arguments = Readonly<Record<string, Json>>;

const MAX_SCRIPT_ARGUMENTS = 64;

export const createSkillTools = (deps: SkillToolDeps): Tool[] => [
  skillTool(deps),
  resourceTool(deps),
  scriptTool(deps),
];

const skillTool = (deps: SkillToolDeps): Tool => ({
  descriptor: {
    id: 'skill',
    name: 'Skill',
    description: 'Activates a skill: its instructions are part of every following step.',
    parameters: object(['skill'], {
      skill: text('name of the skill'),
      args: {
        anyOf: [{ type: 'string' }, { type: 'object' }],
        description: 'arguments; `arguments` wins over them',
      },
      arguments: { type: 'object', description: 'arguments by name' },
    }),
    category: 'skills',
  },
  idempotent: true,
  exclusive: true,
  checksOwnArguments: true,
  execute: async (given, context): Promise<ToolOutput> => {
    const args = argumentsOf(given);
    const skill = usable(deps.skills, required(args, 'skill'));
    const instructions = fillIn(skill.spec, args.arguments ?? args.args ?? undefined);
    return {
      data: { activated: true, skill_id: skill.spec.id },
      message: `Launching skill: ${skill.spec.id}`,
      ...activate(skill, instructions, context.state, deps),
    };
  },
});

const resourceTool = ({ skills }: SkillToolDeps): Tool => ({
  descriptor: {
    id: 'load_skill_resource',
    name: 'Load Skill Resource',
    description: 'Reads a file of a skill under references/ (as text) or assets/ (as base64).',
    parameters: object(['skill', 'path'], {
      skill: text('name of the skill'),
      path: text('path in the skill, for example references/guide.md'),
      kind: { type: 'string', enum: ['reference', 'asset'], description: 'default: derived from the path' },
    }),
    category: 'skills',
  },
  idempotent: true,
  exclusive: false,
  checksOwnArguments: true,
  execute: async (given): Promise<ToolOutput> => {
    const args = argumentsOf(given);
    const skill = usable(skills, required(args, 'skill'));
    const path = required(args, 'path');
    const kind = kindOf(args.kind ?? undefined);
    return { data: await loadResource(filesOf(skill, 'resources'), path, kind) };
  },
});

const scriptTool = ({ skills, scriptTimeoutMs }: SkillToolDeps): Tool => ({
  descriptor: {
    id: 'skill_script',
    name: 'Skill Script',
    description: 'Runs a script of a skill under scripts/ and answers its exit code and output.',
    parameters: object(['skill', 'script'], {
      skill: text('name of the skill'),
      script: text('path in the skill, for example scripts/check.py'),
      args: { type: 'array', items: { type: 'string' }, maxItems: MAX_SCRIPT_ARGUMENTS },
    }),
    category: 'skills',
  },
  idempotent: false,
  exclusive: true,
  checksOwnArguments: true,
  execute: async (given, { signal }: ToolContext): Promise<ToolOutput> => {
    const args = argumentsOf(given);
    const skill = usable(skills, required(args, 'skill'));
    const script = required(args, 'script');
    const scriptArgs = scriptArguments(args.args ?? []);
    const files = filesOf(skill, 'scripts');
    return {
      data: await runScript({ skill: files, script, args: scriptArgs, signal, timeoutMs: scriptTimeoutMs }),
    };
  },
});

const object = (required: string[], properties: Record<string, Json>): Record<string, Json> => ({
  type: 'object',
  properties,
  required,
});

const text = (description: string): Json => ({ type: 'string', description });

const invalid = (message: string) => codedError('invalid_arguments', message, 'invalid_arguments');

const argumentsOf = (given: Json): Arguments =>
  typeof given === 'object' && given !== null && !Array.isArray(given) ? given : {};

const required = (args: Arguments, name: string): string => {
  const value = args[name];
  if (typeof value !== 'string' || value.trim() === '') throw invalid(`missing '${name}'`);
  return value;
};

const kindOf = (given: Json | undefined): ResourceKind | undefined => {
  if (given === undefined || given === 'reference' || given === 'asset') return given;
  throw invalid("'kind' must be 'reference' or 'asset'");
};

const scriptArguments = (given: Json): string[] => {
  if (!Array.isArray(given) || !given.every((word) => typeof word === 'string'))
    throw invalid("'args' must be an array of strings");
  if (given.length > MAX_SCRIPT_ARGUMENTS)
    throw invalid(`'args' must have at most ${MAX_SCRIPT_ARGUMENTS} entries, got ${given.length}`);
  if (given.some((word) => word.includes('\0'))) throw invalid("'args' must not contain NUL characters");
  return given;
};

/** A skill hidden from the model is inaccessible to it, including its files and scripts. */
const usable = (skills: SkillSource, id: string): Skill => {
  const skill = skills.get(id);
  if (!skill) throw codedError('unknown_skill', `Unknown skill: ${id}`);
  if ('problem' in skill) throw codedError('invalid_skill_md', `SKILL.md of '${id}': ${skill.problem}`);
  if (!skill.spec.model_invocable)
    throw codedError('model_invocation_disabled', `skill '${id}' cannot be invoked by the model`);
  return skill;
};

const filesOf = ({ spec, folder }: Skill, what: keyof SkillFolder): { id: string; root: string } => {
  if (!folder)
    throw codedError('unsupported_operation', `skill '${spec.id}' has no ${what}: it is no file skill`);
  return { id: spec.id, root: folder.root };
};
