/**
 * Every setting of the service, in one table (settings.md).
 *
 * Guarantees: a flag goes over its variable, the variable over the key of the settings file, the key over the
 * default; a flag or key that is unknown and a value that is not legal stop the start, with one message that names all; a secret is never
 * part of a message or of the help. `Settings` is inferred from the table: a setting is written down once, and
 * the command line, the help and the README follow.
 * Relies on: nothing but the input. It reads no environment and no file by itself, so a test hands in all of it.
 */
export type { EntriesInput } from './settings/entries.ts';
export { SettingsError } from './settings/error.ts';
export { settingFlags, settingsHelp, settingsMarkdown } from './settings/help.ts';
export { listenAddress, tcpAddress } from './settings/kinds.ts';
export { entriesFrom, loadSettings, type SettingsInput, settingsFrom } from './settings/parse.ts';
export { assertStartable } from './settings/rules.ts';
export { type Environment, secretVariables, withSecretFiles } from './settings/secret-files.ts';
export type { SettingKey, Settings } from './settings/table.ts';
export { unknownVariables } from './settings/variables.ts';
