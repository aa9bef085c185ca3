/**
 * Every setting of the service, in one table (settings.md).
 *
 * Guarantees: a flag overrides its variable, a variable the key of the settings file, and a key the default; unknown
 * flags and keys and invalid values stop the start with one message that lists all of them; no message and no help text
 * contains a secret. `Settings` is inferred from the table: each setting is declared once, and the command line, the
 * help and the manual follow.
 * Relies on: its input only. No environment variable or file is read here, so tests pass in everything.
 */
export type { EntriesInput } from './entries.ts';
export { SettingsError } from './error.ts';
export {
  firstSettingsHelp,
  settingFlags,
  settingsHelp,
  settingsMarkdown,
  settingTopics,
  topicHelp,
} from './help.ts';
export { isOnLoopback, listenAddress, tcpAddress } from './kinds.ts';
export { entriesFrom, loadSettings, type SettingsInput, settingsFrom } from './parse.ts';
export { assertShared, assertStartable } from './rules.ts';
export { type Environment, secretVariables, withSecretFiles } from './secret-files.ts';
export type { SettingKey, Settings } from './table.ts';
export { unknownVariables } from './variables.ts';
