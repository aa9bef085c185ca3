import { readFileSync } from 'node:fs';
import { type Command, Help, Option } from 'commander';
import type { TroupeConfig } from '../embedding/config.ts';
import {
  type Environment,
  firstSettingsHelp,
  loadSettings,
  type SettingKey,
  type Settings,
  settingFlags,
  settingsHelp,
  settingTopics,
  topicHelp,
} from '../settings/index.ts';

/** Settings as flags of a command: flags override variables, and variables override the file. */

const ofSettings = new WeakSet<Option>();

type FlagOptions = {
  /** Settings that the command uses; default: all. */
  keys?: readonly SettingKey[];
  /** Whether the help lists only the settings that a first use may need, unless a topic is given. */
  isBrief?: boolean;
};

export const withSettingFlags = (command: Command, { keys, isBrief = false }: FlagOptions = {}): Command => {
  const uses = (key: SettingKey): boolean => keys?.includes(key) ?? true;
  for (const flag of settingFlags.filter(({ key }) => uses(key))) {
    const option = new Option(`--${flag.name} <${flag.placeholder}>`, flag.help);
    ofSettings.add(option);
    command.addOption(option);
  }
  command.configureHelp({ formatHelp: withoutSettings });
  return keys
    ? command.addHelpText('after', () => `\n${settingsHelp(uses)}`)
    : withTopics(command, isBrief ? briefHelp : settingsHelp);
};

const ALL = 'all';

/** Gives the help of a command with all settings a topic. */
const withTopics = (command: Command, withoutTopic: () => string): Command => {
  const allowed = [ALL, ...settingTopics];
  let settings = withoutTopic;
  return command
    .helpOption(false)
    .addOption(
      new Option('-h, --help [topic]', `display help for command; topics of settings: ${ALL}, server, …`),
    )
    .addHelpText('after', () => `\n${settings()}`)
    .on('option:help', (topic: string | null) => {
      if (topic === ALL) settings = settingsHelp;
      else if (topic !== null && settingTopics.includes(topic)) settings = () => topicHelp(topic);
      else if (topic !== null)
        command.error(`error: --help has no topic '${topic}'; allowed: ${allowed.join(', ')}`);
      command.help();
    });
};

const briefHelp = (): string =>
  `${firstSettingsHelp()}\n\nMore settings: --help <topic>. Topics: ${[ALL, ...settingTopics].join(', ')}.`;

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
