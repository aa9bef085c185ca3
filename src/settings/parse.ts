import { inspect } from 'node:util';
import { type Entries, type EntriesInput, entryListNames, parseEntries } from './entries.ts';
import { SettingsError } from './error.ts';
import { parseSettingsFile } from './file.ts';
import { settingsFile } from './rows/server.ts';
import { crossProblems } from './rules.ts';
import { flagOf, hasFlag, hasKey, type Setting } from './setting.ts';
import { type Settings, settingRows } from './table.ts';
import { at, nest, type Tree, unknownNames } from './tree.ts';

/**
 * From flags, variables and the settings file to `Settings`. One source speaks for a setting, the first of flag,
 * variable, older variable, key and option of the program; only that one is judged, so that a flag can mend a broken file. Text that is
 * blank says nothing. All problems of a start are collected and thrown together.
 */
export type SettingsSources = {
  /** By name without the dashes: `http-addr`. */
  flags: Record<string, string>;
  env: Record<string, string | undefined>;
  readFile(path: string): string;
  /** What a program says, where one starts the service with flags and variables too. */
  options?: Omit<SettingsInput, 'entries'>;
};

type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T;

/** What the embedding API takes: any part of the settings; what is left out has its default. */
export type SettingsInput = DeepPartial<Omit<Settings, 'entries'>> & { entries?: EntriesInput };

/** A tree of values, the keys that may be in it, and how messages call a place in it. */
type Source = {
  tree: Tree;
  keys: readonly string[];
  entriesKey(list: string): string;
  nameOf(key: string): string;
};

/** What was said for a setting, and where. */
type Said = { where: string; value: unknown };

/** @throws SettingsError with every problem found. */
export const loadSettings = ({ flags, env, readFile, options = {} }: SettingsSources): Settings => {
  const atStart = (row: Setting): Said | undefined => saidByFlag(row, flags) ?? saidByVariable(row, env);
  const program = programSource(options);
  const problems = [...unknownFlags(flags), ...unknownIn(program)];
  const file = fileSource(atStart(settingsFile), readFile, problems);
  return settle(file, (row) => atStart(row) ?? saidInTree(row, file) ?? saidInTree(row, program), problems);
};

/** @throws SettingsError with every problem found. */
export const settingsFrom = (partial: SettingsInput): Settings => {
  const entriesKey = (list: string): string => `entries.${list}`;
  const program = programSource(partial);
  const options = { ...program, keys: [...program.keys, ...entryListNames.map(entriesKey)], entriesKey };
  return settle(options, (row) => saidInTree(row, options), []);
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
  find: (row: Setting) => Said | undefined,
  earlier: readonly string[],
): Settings => {
  const problems = [...earlier, ...unknownIn(source)];
  const values = settingRows.map((row) => [row.key, judged(row, find(row), problems)] as const);
  const entries = parseEntries(
    (list) => at(source.tree, source.entriesKey(list)),
    (place) => source.nameOf(source.entriesKey(place)),
    problems,
  );
  if (problems.length > 0) throw new SettingsError(problems);
  // The cast holds because `Settings` is inferred from the rows: each value has passed the schema of its row, or
  // is its default, and lies under its key.
  const settings = { ...nest(values), entries } as Settings;
  const conflicts = crossProblems(settings);
  if (conflicts.length > 0) throw new SettingsError(conflicts);
  return settings;
};

const judged = (row: Setting, said: Said | undefined, problems: string[]): unknown => {
  if (!said) return structuredClone(row.default);
  const parsed = row.type.schema.safeParse(said.value);
  if (parsed.success) return parsed.data;
  const subject = row.secret ? 'the value' : shown(said.value);
  problems.push(`${said.where}: ${subject} is not allowed; allowed: ${row.type.allowed}`);
  return undefined;
};

/** A value as messages show it. The password that a URL may carry is not shown either. */
const shown = (value: unknown): string =>
  inspect(value, {
    breakLength: Number.POSITIVE_INFINITY,
    maxStringLength: 100,
    maxArrayLength: 10,
  }).replaceAll(/\/\/[^/@\s]*@/g, '//***@');

const saidAs = (row: Setting, where: string, value: unknown): Said | undefined => {
  const meant = typeof value === 'string' ? row.type.fromText(value) : (value ?? undefined);
  return meant === undefined ? undefined : { where, value: meant };
};

const saidByFlag = (row: Setting, flags: SettingsSources['flags']): Said | undefined =>
  saidAs(row, `--${flagOf(row)}`, flags[flagOf(row)]);

const saidByVariable = (row: Setting, env: SettingsSources['env']): Said | undefined =>
  [row.env, ...(row.alsoRead ?? [])]
    .map((name) => saidAs(row, name, env[name]))
    .find((said) => said !== undefined);

const saidInTree = (row: Setting, { tree, nameOf }: Source): Said | undefined =>
  saidAs(row, nameOf(row.key), at(tree, row.key));

/** The settings file, if one was named. What cannot be read or understood is a problem beside the others. */
const fileSource = (
  said: Said | undefined,
  readFile: SettingsSources['readFile'],
  problems: string[],
): Source => {
  const path = String(said?.value);
  return {
    tree: said ? parseSettingsFile(path, contentOf(path, said.where, readFile, problems), problems) : {},
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
