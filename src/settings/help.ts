import { fileVariableOf } from './secret-files.ts';
import { flagOf, hasFlag, hasKey, type Setting } from './setting.ts';
import { type SettingKey, settingGroups } from './table.ts';

/** Help texts about settings for the command line and the manual, generated from the table. */

const flagIsVisible = 'secret: a flag is visible to every user of the host, prefer the variable';

const units: readonly (readonly [suffix: string, unit: string])[] = [
  ['_ms', 'ms'],
  ['_secs', 'seconds'],
  ['_bytes', 'bytes'],
  ['_days', 'days'],
];

const placeholderOf = (row: Setting): string =>
  row.unit ?? units.find(([suffix]) => row.key.endsWith(suffix))?.[1] ?? row.type.placeholder;

const defaultOf = (row: Setting): string | undefined =>
  row.default === undefined ? row.unset : [row.default].flat().join(', ');

const docOf = (row: Setting): string => {
  const doc = row.secret ? `${row.doc}; ${fileVariableOf(row.env)} names a file that holds it` : row.doc;
  return row.secret && hasFlag(row) ? `${doc} (${flagIsVisible})` : doc;
};

export type SettingFlag = {
  key: SettingKey;
  group: string;
  name: string;
  placeholder: string;
  help: string;
  default: string | undefined;
  env: string;
  isSecret: boolean;
};

/** The flags of the command line. They must not apply defaults, because a variable overrides a default. */
export const settingFlags: readonly SettingFlag[] = settingGroups.flatMap(({ title, rows }) =>
  rows.filter(hasFlag).map((row) => ({
    key: row.key,
    group: title,
    name: flagOf(row),
    placeholder: placeholderOf(row),
    help: docOf(row),
    default: defaultOf(row),
    env: row.env,
    isSecret: row.secret === true,
  })),
);

const namesOf = (row: Setting): string =>
  [row.env, ...(row.alsoRead ?? []), ...(hasKey(row) ? [row.key] : [])].join(', ');

const helpOf = (row: Setting): string => {
  const head = hasFlag(row) ? `--${flagOf(row)} <${placeholderOf(row)}>` : row.env;
  const names = hasFlag(row) ? namesOf(row) : 'variable only';
  return `  ${head}\n      ${docOf(row)}\n      ${names} (default: ${defaultOf(row) ?? 'unset'})`;
};

/** Settings as text for a terminal: all of them, or those that a command uses. */
export const settingsHelp = (uses: (key: SettingKey) => boolean = () => true): string =>
  [
    'Precedence: flag, environment variable, key of the settings file, default.',
    ...settingGroups.flatMap(({ title, rows }) => {
      const used = rows.filter(({ key }) => uses(key));
      return used.length === 0 ? [] : [`${title}:`, ...used.map(helpOf)].join('\n');
    }),
  ].join('\n\n');

const topicOf = (title: string): string => title.toLowerCase().replaceAll(' ', '-');

/** Groups of settings as words of the command line. */
export const settingTopics: readonly string[] = settingGroups.map(({ title }) => topicOf(title));

/** Settings of one topic as text for a terminal. */
export const topicHelp = (topic: string): string => {
  const keys = new Set<string>(
    settingGroups.flatMap(({ title, rows }) => (topicOf(title) === topic ? rows.map(({ key }) => key) : [])),
  );
  return settingsHelp((key) => keys.has(key));
};

/** Settings that a first use may need. */
const FIRST: readonly SettingKey[] = [
  'settings_file',
  'http_addr',
  'storage_dir',
  'openai.api_key',
  'openai.base_url',
  'log_level',
];

export const firstSettingsHelp = (): string => settingsHelp((key) => FIRST.includes(key));

const code = (name: string): string => `\`${name}\``;
const cell = (text: string): string => text.replaceAll('|', '\\|');

const typeOf = (row: Setting): string =>
  [row.type.type, ...(row.unit ? [row.unit] : []), ...(row.secret ? ['*secret*'] : [])].join(', ');

const defaultCell = (row: Setting): string => {
  if (row.default === undefined) return row.unset ?? 'unset';
  return [row.default]
    .flat()
    .map((value) => code(String(value)))
    .join(', ');
};

const meaningOf = (row: Setting): string => {
  const file = row.secret ? `; ${code(fileVariableOf(row.env))} names a file that holds it` : '';
  const others = row.alsoRead ? `; also read ${row.alsoRead.map(code).join(', ')}` : '';
  return `${row.doc}${file}${others}`;
};

const markdownRow = (row: Setting): string => {
  const cells = [
    code(row.env),
    hasFlag(row) ? code(`--${flagOf(row)}`) : '–',
    hasKey(row) ? code(row.key) : '–',
    typeOf(row),
    defaultCell(row),
    meaningOf(row),
  ];
  return `| ${cells.map(cell).join(' | ')} |`;
};

const markdownHead = ['| Variable | Flag | Key | Type | Default | Meaning |', '|---|---|---|---|---|---|'];

/** All settings as the tables of the manual, one per group. */
export const settingsMarkdown = (): string =>
  settingGroups
    .map(({ title, rows }) => [`### ${title}`, '', ...markdownHead, ...rows.map(markdownRow)].join('\n'))
    .join('\n\n');
