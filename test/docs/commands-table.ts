import type { Argument, Command, Option } from 'commander';
import { loadCommands } from '../../src/commands/program.ts';
import { settingFlags } from '../../src/settings/index.ts';
import { code, tableOf } from './fields.ts';

/** The commands of the program with their arguments and options, as sections of the manual. */

const commands = await loadCommands();

const SETTINGS = new Set(settingFlags.map(({ name }) => `--${name}`));

const isSetting = ({ long }: Option): boolean => SETTINGS.has(long ?? '');

const argumentRow = (argument: Argument): string[] => [
  code(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`),
  '–',
  argument.description,
];

function optionRow({ flags, description, defaultValue, argChoices }: Option): string[] {
  const isUnset = defaultValue === undefined || (Array.isArray(defaultValue) && defaultValue.length === 0);
  const choices = argChoices ? `: ${argChoices.map(code).join(', ')}` : '';
  return [code(flags), isUnset ? '–' : code(String(defaultValue)), `${description}${choices}`];
}

/** Settings are documented on a separate page. */
function settingsOf({ options }: Command): string[] {
  const settings = options.filter(isSetting);
  if (settings.length === 0) return [];
  if (settings.length === SETTINGS.size)
    return ['Every [setting](settings.md) is an option in addition.', ''];
  const names = settings.map(({ long = '' }) => code(long));
  return [`[Settings](settings.md) that are options: ${names.join(', ')}.`, ''];
}

function sectionOf(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  const rows = [
    ...command.registeredArguments.map(argumentRow),
    ...command.options.filter((option) => !isSetting(option)).map(optionRow),
  ];
  const description = command.description();
  return [
    `### ${code(name)}`,
    '',
    `${description.charAt(0).toUpperCase()}${description.slice(1)}.`,
    '',
    ...(rows.length > 0 ? [tableOf(['Argument or option', 'Default', 'Meaning'], rows), ''] : []),
    ...settingsOf(command),
    ...command.commands.flatMap((each) => sectionOf(each, name)),
  ];
}

export const commandsMarkdown = (): string =>
  commands
    .flatMap((command) => sectionOf(command, 'troupe'))
    .join('\n')
    .trim();
