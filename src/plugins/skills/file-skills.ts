import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Invalid } from '../../schema/outcome.ts';
import { decodeText } from './decode.ts';
import { FOLDERS, readStart, realFile } from './resources.ts';
import { fileSkill, type Skill, type SkillFolder } from './skill.ts';
import type { BrokenSkill, SkillSet } from './source.ts';

/**
 * Skills of a folder (agent-loop.md 14.3): each directory with a `SKILL.md` is a skill, with the name of the directory
 * as its id. The front matter is YAML with kebab-case keys; keys of other products (`license`, `metadata`) are ignored,
 * and `name` is optional. An unusable skill is reported under its id and does not affect the others.
 */

const MAX_SKILL_MD = 256 * 1024;

const Words = z.union([z.string(), z.array(z.string())]).nullish();

const FrontMatter = z.object({
  name: z.string().nullish(),
  description: z.string().nullish(),
  'allowed-tools': Words,
  'when-to-use': z.string().nullish(),
  arguments: z
    .array(
      z.union([z.string(), z.object({ name: z.string() }).loose()], {
        error: 'an argument is a name or an object with one',
      }),
    )
    .nullish(),
  'argument-hint': z.string().nullish(),
  'user-invocable': z.boolean().nullish(),
  'disable-model-invocation': z.boolean().nullish(),
  model: z.string().nullish(),
  context: z.string().nullish(),
  paths: Words,
});

/**
 * Returns no skills if the folder does not exist.
 *
 * @throws Invalid when the folder cannot be read
 */
export const readSkillFolder = async (folder: string): Promise<SkillSet> => {
  const ids = await directoriesOf(folder);
  const read = await Promise.all(ids.map((id) => readSkill(folder, id)));
  return {
    skills: read.flatMap((found) => (found && 'spec' in found ? found : [])),
    broken: read.flatMap((found) => (found && 'problem' in found ? found : [])),
  };
};

const directoriesOf = async (folder: string): Promise<string[]> => {
  try {
    const entries = await readdir(folder);
    return entries.filter((name) => !name.startsWith('.')).sort();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    if (code === 'ENOENT') return [];
    throw new Invalid(`skills folder ${folder} cannot be read: ${code}`, { cause: error });
  }
};

/** Returns undefined if there is no `SKILL.md`. */
const readSkill = async (folder: string, id: string): Promise<Skill | BrokenSkill | undefined> => {
  const root = await realpath(join(folder, id)).catch(() => undefined);
  if (root === undefined || !(await exists(join(root, 'SKILL.md')))) return undefined;
  try {
    const { matter, body } = splitSkillMd(await skillMdOf(root));
    const about: SkillFolder = {
      root,
      resources: (await hasFiles(root, FOLDERS.reference)) || (await hasFiles(root, FOLDERS.asset)),
      scripts: await hasFiles(root, FOLDERS.script),
    };
    return fileSkill(specOf(id, await frontMatter(matter), body), about);
  } catch (error) {
    return { id, problem: error instanceof Error ? error.message : String(error) };
  }
};

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const skillMdOf = async (root: string): Promise<string> => {
  const file = await realFile(root, 'SKILL.md');
  const { content, bytes } = await readStart({ path: 'SKILL.md', file }, MAX_SKILL_MD);
  if (bytes > content.length) throw new Invalid(`larger than ${MAX_SKILL_MD} bytes`);
  return decodeText(content, { cut: false });
};

const hasFiles = async (root: string, name: string): Promise<boolean> =>
  (await readdir(join(root, name)).catch(() => [])).length > 0;

const splitSkillMd = (text: string): { matter: string; body: string } => {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---');
  if (lines[0]?.trimEnd() !== '---' || end < 0)
    throw new Invalid('does not begin with front matter between two lines `---`');
  return {
    matter: lines.slice(1, end).join('\n'),
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  };
};

const frontMatter = async (matter: string): Promise<z.infer<typeof FrontMatter>> => {
  const { LineCounter, parseDocument } = await import('../../schema/yaml.ts');
  const lines = new LineCounter();
  const document = parseDocument(matter, { prettyErrors: false, lineCounter: lines });
  const [fault] = [...document.errors, ...document.warnings];
  // Adds 1 for the line `---` above the front matter.
  if (fault) throw new Invalid(`line ${lines.linePos(fault.pos[0]).line + 1}: ${fault.message}`);
  const parsed = FrontMatter.safeParse(document.toJS());
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${z.core.toDotPath(path)}: ${message}`,
  );
  throw new Invalid(`front matter: ${problems.join('; ')}`);
};

const specOf = (id: string, given: z.infer<typeof FrontMatter>, body: string): unknown => ({
  id,
  name: given.name ?? id,
  description: given.description ?? undefined,
  instructions_md: body,
  allowed_tools: tokensOf(given['allowed-tools']),
  when_to_use: given['when-to-use'],
  arguments: given.arguments?.map((argument) =>
    typeof argument === 'string' ? { name: argument } : argument,
  ),
  argument_hint: given['argument-hint'],
  user_invocable: given['user-invocable'],
  model_invocable: !given['disable-model-invocation'],
  model_override: given.model,
  context: given.context,
  paths: tokensOf(given.paths),
});

/** Splits a text at blanks, except inside parentheses: `Bash(git *) Read`. */
const tokensOf = (text: z.infer<typeof Words>): string[] => {
  if (typeof text !== 'string') return text ?? [];
  return text.match(/[^\s(]*\([^)]*\)|\S+/g) ?? [];
};
