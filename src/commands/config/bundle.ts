import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { JsonObject } from '../../schema/json.ts';
import { phrases } from '../../schema/phrases.ts';
import { problemsOf } from '../../schema/problems.ts';
import { parseSettingsFile } from '../../settings/file.ts';
import type { Tree } from '../../settings/tree.ts';
import { Usage } from '../usage.ts';
import { ConfigProblems } from './problems.ts';
import { type Environment, resolveReferences } from './references.ts';

/**
 * A configuration as a document, in YAML or JSON: the entries of each namespace as a list under its name, and under
 * `overrides` the changes of built-in agents and tools. It may be split into the files of a folder.
 *
 * A namespace that is absent is left unchanged; with an empty list, a prune deletes everything configured in it.
 */

/** In the order in which entries may refer to each other. */
export const NAMESPACES = [
  'providers',
  'models',
  'model-pools',
  'mcp-servers',
  'a2a-servers',
  'skills',
  'agents',
  'budgets',
] as const;
export type BundleNamespace = (typeof NAMESPACES)[number];

export const OVERRIDDEN = ['agents', 'tools'] as const;
export type OverriddenNamespace = (typeof OVERRIDDEN)[number];

export type BundleEntry = JsonObject & { id: string };

export type Bundle = Partial<Record<BundleNamespace, BundleEntry[]>> & {
  overrides?: Partial<Record<OverriddenNamespace, Record<string, JsonObject>>>;
};

const Entries = z.array(z.looseObject({ id: z.string().trim().min(1) }).pipe(z.custom<BundleEntry>()));

const Document: z.ZodType<Bundle> = z.strictObject({
  ...Object.fromEntries(NAMESPACES.map((name) => [name, Entries.optional()])),
  overrides: z
    .strictObject({
      agents: z.record(z.string(), JsonObject).optional(),
      tools: z.record(z.string(), JsonObject).optional(),
    })
    .optional(),
});

/**
 * @param path of a file, or of a folder with files that end in .yaml, .yml or .json
 * @throws Usage if the path does not exist, ConfigProblems with all problems found
 */
export const readBundle = async (path: string, env: Environment): Promise<Bundle> => {
  const problems: string[] = [];
  const parts: Bundle[] = [];
  for (const file of filesAt(path)) {
    const found: string[] = [];
    const written = await parseSettingsFile(file, readFileSync(file, 'utf8'), found);
    const tree = resolveReferences(written, env, found);
    parts.push(found.length > 0 ? {} : partOf(tree, found));
    problems.push(...found.map((problem) => (problem.startsWith(file) ? problem : `${file}: ${problem}`)));
  }
  const bundle = merged(parts);
  problems.push(...repeated(bundle));
  if (problems.length > 0) throw new ConfigProblems(problems);
  return bundle;
};

const filesAt = (path: string): string[] => {
  if (!existsSync(path)) throw new Usage(`${path} does not exist`);
  if (!statSync(path).isDirectory()) return [path];
  const files = readdirSync(path).filter((name) => /\.(ya?ml|json)$/.test(name));
  if (files.length === 0) throw new Usage(`${path} contains no .yaml, .yml or .json file`);
  return files.sort().map((name) => join(path, name));
};

const partOf = (tree: Tree, problems: string[]): Bundle => {
  const parsed = Document.safeParse(tree, phrases);
  if (parsed.success) return parsed.data;
  problems.push(...problemsOf(parsed.error));
  return {};
};

const merged = (parts: readonly Bundle[]): Bundle => {
  const bundle: Bundle = {};
  for (const part of parts) {
    for (const name of NAMESPACES) {
      const entries = part[name];
      if (entries) bundle[name] = [...(bundle[name] ?? []), ...entries];
    }
    if (part.overrides) {
      const { agents, tools } = bundle.overrides ?? {};
      bundle.overrides = {
        agents: { ...agents, ...part.overrides.agents },
        tools: { ...tools, ...part.overrides.tools },
      };
    }
  }
  return bundle;
};

const repeated = (bundle: Bundle): string[] => {
  const twice = NAMESPACES.flatMap((name) => {
    const ids = (bundle[name] ?? []).map(({ id }) => id);
    return [...new Set(ids.filter((id, index) => ids.indexOf(id) < index))].map(
      (id) => `${name}/${id}: more than one entry has this id`,
    );
  });
  const both = (bundle.agents ?? [])
    .filter(({ id }) => Object.hasOwn(bundle.overrides?.agents ?? {}, id))
    .map(({ id }) => `agents/${id}: both an entry and an override are given; only one of them is allowed`);
  return [...twice, ...both];
};

export type Format = 'yaml' | 'json';

export const writeDocument = (document: Bundle, format: Format): string =>
  format === 'json' ? `${JSON.stringify(document, null, 2)}\n` : stringify(document, { lineWidth: 0 });
