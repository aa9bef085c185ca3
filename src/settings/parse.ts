import { inspect } from 'node:util';
import type { IssuerInput } from '../schema/issuer.ts';
import { pathText, phrasesOnce, toProblem } from '../schema/phrases.ts';
import { type Entries, type EntriesInput, entryListNames, parseEntries } from './entries.ts';
import { SettingsError } from './error.ts';
import { parseSettingsFile } from './file.ts';
import { settingsFile } from './rows/server.ts';
import { crossProblems } from './rules.ts';
import { flagOf, hasFlag, hasKey, type Setting } from './setting.ts';
import { type Settings, settingRows } from './table.ts';
import { at, nest, type Tree, unknownNames } from './tree.ts';

/**
 * Builds `Settings` from flags, variables and the settings file. Each setting has one source, the first of flag,
 * variable, older variable, key and option of the program; only its value is validated, so a flag can override an
 * invalid file. Blank text counts as not set. All problems of a start are collected and thrown together.
 */
export type SettingsSources = {
  /** By name without the dashes: `http-addr`. */
  flags: Record<string, string>;
  env: Record<string, string | undefined>;
  readFile(path: string): string;
  /** Options of a program that is also started with flags and variables. */
  options?: Omit<SettingsInput, 'entries'>;
};

type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T;

/** Input of the embedding API: any part of the settings; omitted settings have their defaults. */
export type SettingsInput = DeepPartial<Omit<Settings, 'entries' | 'identity'>> & {
  identity?: DeepPartial<Omit<Settings['identity'], 'issuers'>> & { issuers?: readonly IssuerInput[] };
  entries?: EntriesInput;
};

/** A tree of values, its allowed keys, and the names of its positions in messages. */
type Source = {
  tree: Tree;
  keys: readonly string[];
  entriesKey(list: string): string;
  nameOf(key: string): string;
};

/** The value given for a setting, and its source. */
type GivenValue = { where: string; value: unknown };

/** @throws SettingsError with every problem found. */
export const loadSettings = async ({
  flags,
  env,
  readFile,
  options = {},
}: SettingsSources): Promise<Settings> => {
  const atStart = (row: Setting): GivenValue | undefined => flagValue(row, flags) ?? variableValue(row, env);
  const program = programSource(options);
  const problems = [...unknownFlags(flags), ...unknownIn(program)];
  const file = await fileSource(atStart(settingsFile), readFile, problems);
  return settle(file, (row) => atStart(row) ?? treeValue(row, file) ?? treeValue(row, program), problems);
};

/** @throws SettingsError with every problem found. */
export const settingsFrom = (partial: SettingsInput): Settings => {
  const entriesKey = (list: string): string => `entries.${list}`;
  const program = programSource(partial);
  const options = { ...program, keys: [...program.keys, ...entryListNames.map(entriesKey)], entriesKey };
  return settle(options, (row) => treeValue(row, options), []);
};

/** @throws SettingsError with every problem found. */
export const entriesFrom = (lists: EntriesInput): Entries => {
  const problems: string[] = [];
  const tree: Tree = { ...lists };
  const entries = parseEntries(
    (list) => at(tree, list),
    (place) => place,
    problems,
  );
  if (problems.length > 0) throw new SettingsError(problems);
  return entries;
};

const programSource = (tree: object): Source => ({
  tree: { ...tree },
  keys: settingRows.map((row) => row.key),
  entriesKey: (list) => list,
  nameOf: (key) => key,
});

const unknownIn = ({ tree, keys, nameOf }: Source): string[] => unknownNames(tree, keys, nameOf);

const settle = (
  source: Source,
  find: (row: Setting) => GivenValue | undefined,
  earlier: readonly string[],
): Settings => {
  const problems = [...earlier, ...unknownIn(source)];
  const given = new Map(settingRows.map((row) => [row.key, find(row)]));
  const values = settingRows.map((row) => [row.key, validated(row, given.get(row.key), problems)] as const);
  problems.push(...withoutNeeded(given, new Map(values)));
  const entries = parseEntries(
    (list) => at(source.tree, source.entriesKey(list)),
    (place) => source.nameOf(source.entriesKey(place)),
    problems,
  );
  if (problems.length > 0) throw new SettingsError(problems);
  // The cast holds because `Settings` is inferred from the rows: each value has passed the schema of its row, or is its
  // default, and is stored under its key.
  const settings = { ...nest(values), entries } as Settings;
  const conflicts = crossProblems(settings);
  if (conflicts.length > 0) throw new SettingsError(conflicts);
  return settings;
};

/** A program may pass all settings, including those that have their defaults. */
const withoutNeeded = (
  given: ReadonlyMap<string, GivenValue | undefined>,
  values: ReadonlyMap<string, unknown>,
): string[] =>
  settingRows.flatMap((row) => {
    const where = given.get(row.key)?.where;
    const needed = settingRows.find(({ key }) => key === row.needs);
    if (where === undefined || !needed || given.get(needed.key)) return [];
    if (values.get(row.key) === row.default) return [];
    return [`${where}: has no effect without ${needed.env} (${needed.key}); allowed: both or neither`];
  });

const validated = (row: Setting, given: GivenValue | undefined, problems: string[]): unknown => {
  if (!given) return structuredClone(row.default);
  const parsed = row.type.schema().safeParse(given.value, phrasesOnce);
  if (parsed.success) return parsed.data;
  const parts = row.type.parts ? parsed.error.issues.map((issue) => toProblem(issue)) : [];
  if (parts.some(({ path }) => path.length > 0)) {
    problems.push(...parts.map(({ path, text }) => `${given.where}${pathText(path)}: ${text}`));
    return undefined;
  }
  const subject = row.secret ? 'the value' : shown(given.value);
  problems.push(`${given.where}: ${subject} is not allowed; allowed: ${row.type.allowed}`);
  return undefined;
};

/** Formats a value for messages, without the password that a URL may contain. */
const shown = (value: unknown): string =>
  inspect(value, {
    breakLength: Number.POSITIVE_INFINITY,
    maxStringLength: 100,
    maxArrayLength: 10,
  }).replaceAll(/\/\/[^/@\s]*@/g, '//***@');

const givenValue = (row: Setting, where: string, value: unknown): GivenValue | undefined => {
  const meant = typeof value === 'string' ? row.type.fromText(value) : (value ?? undefined);
  return meant === undefined ? undefined : { where, value: meant };
};

const flagValue = (row: Setting, flags: SettingsSources['flags']): GivenValue | undefined =>
  givenValue(row, `--${flagOf(row)}`, flags[flagOf(row)]);

const variableValue = (row: Setting, env: SettingsSources['env']): GivenValue | undefined =>
  [row.env, ...(row.alsoRead ?? [])]
    .map((name) => givenValue(row, name, env[name]))
    .find((given) => given !== undefined);

const treeValue = (row: Setting, { tree, nameOf }: Source): GivenValue | undefined =>
  givenValue(row, nameOf(row.key), at(tree, row.key));

/** The settings file, if one is configured. A read or parse error is collected with the other problems. */
const fileSource = async (
  given: GivenValue | undefined,
  readFile: SettingsSources['readFile'],
  problems: string[],
): Promise<Source> => {
  const path = String(given?.value);
  return {
    tree: given
      ? await parseSettingsFile(path, contentOf(path, given.where, readFile, problems), problems)
      : {},
    keys: [...settingRows.filter(hasKey).map((row) => row.key), ...entryListNames],
    entriesKey: (list) => list,
    nameOf: (key) => `${key} in ${path}`,
  };
};

const contentOf = (
  path: string,
  where: string,
  readFile: SettingsSources['readFile'],
  problems: string[],
): string => {
  try {
    return readFile(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.push(`${where}: ${shown(path)} cannot be read (${reason}); allowed: a JSON or YAML file`);
    return '';
  }
};

const unknownFlags = (flags: SettingsSources['flags']): string[] => {
  const known = new Set(settingRows.filter(hasFlag).map(flagOf));
  return Object.keys(flags)
    .filter((name) => !known.has(name))
    .map((name) => `--${name}: not a setting; allowed: ${[...known].map((flag) => `--${flag}`).join(', ')}`);
};
