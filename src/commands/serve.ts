import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { type App, type AppInput, startApp } from '../app.ts';
import { appInput, type TroupeConfig } from '../config.ts';
import { loadSettings, type Settings, settingFlags, settingsHelp } from '../settings.ts';
import { loadConfigFile } from './config-file.ts';

/** `troupe serve`: the appliance. Every setting is a flag; flags beat variables, variables beat the file. */

export const withSettingFlags = (command: Command): Command => {
  for (const flag of settingFlags) {
    // Listed by settingsHelp() with everything that belongs to a setting; commander only has to know the name.
    command.addOption(new Option(`--${flag.name} <${flag.placeholder}>`, flag.help).hideHelp());
  }
  return command.addHelpText('after', () => `\n${settingsHelp()}`);
};

/** Flags as they were given, by their name. */
export const givenFlags = (options: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    settingFlags.flatMap(({ name }) => {
      const value = options[new Option(`--${name} <value>`).attributeName()];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );

export const readSettings = (
  flags: Record<string, string>,
  env: NodeJS.ProcessEnv,
  options: TroupeConfig['settings'] = {},
): Settings => loadSettings({ flags, env, readFile: (path) => readFileSync(path, 'utf8'), options });

/** Starts the service and stops it gracefully on SIGINT or SIGTERM; a second signal ends it at once. */
export const runUntilSignal = async (input: AppInput): Promise<App> => {
  const app = await startApp(input);
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) process.exit(1);
    stopping = true;
    await app.stop();
    process.exit(0);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return app;
};

export const serveCommand = withSettingFlags(new Command('serve'))
  .description('start the service')
  .option('--config <path>', 'module with tools, plugins, providers, agents and settings (TroupeConfig)')
  .action(async (options: Record<string, unknown>) => {
    const config = typeof options.config === 'string' ? await loadConfigFile(options.config) : {};
    const settings = readSettings(givenFlags(options), process.env, config.settings);
    const app = await runUntilSignal(appInput({ env: process.env, ...config }, settings));
    process.stdout.write(`Troupe listens on ${app.url}\n`);
  });
