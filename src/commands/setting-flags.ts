import { readFileSync } from 'node:fs';
import { type Command, Help, Option } from 'commander';
import type { TroupeConfig } from '../embedding/config.ts';
import {
  type Environment,
  loadSettings,
  type SettingKey,
  type Settings,
  settingFlags,
  settingsHelp,
} from '../settings/index.ts';

/** Settings as flags of a command: flags override variables, and variables override the file. */

const ofSettings = new WeakSet<Option>();

/** @param keys of the settings that the command uses; default: all */
export const withSettingFlags = (command: Command, keys?: readonly SettingKey[]): Command => {
  const uses = (key: SettingKey): boolean => keys?.includes(key) ?? true;
  for (const flag of settingFlags.filter(({ key }) => uses(key))) {
    const option = new Option(`--${flag.name} <${flag.placeholder}>`, flag.help);
    ofSettings.add(option);
    command.addOption(option);
  }
  return command
    .configureHelp({ formatHelp: withoutSettings })
    .addHelpText('after', () => `\n${settingsHelp(uses)}`);
};

/**
 * settingsHelp() lists the settings with all their details, but the options must exist for suggestions on misspelled
 * names.
 */
const withoutSettings = (command: Command, helper: Help): string => {
  const listed = Object.assign(new Help(), {
    helpWidth: helper.helpWidth,
    visibleOptions: (of: Command) => helper.visibleOptions(of).filter((option) => !ofSettings.has(option)),
  });
  return listed.formatHelp(command, listed);
};

export const givenFlags = (options: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    settingFlags.flatMap(({ name }) => {
      const value = options[new Option(`--${name} <value>`).attributeName()];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );

export const readSettings = (
  flags: Record<string, string>,
  env: Environment,
  options: TroupeConfig['settings'] = {},
): Promise<Settings> => loadSettings({ flags, env, readFile: (path) => readFileSync(path, 'utf8'), options });
