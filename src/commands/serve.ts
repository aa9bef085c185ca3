import { Command } from 'commander';
import type { App } from '../app.ts';
import { appInput } from '../embedding/config.ts';
import { memberText, modelText, pageOf, renderBanner } from './banner.ts';
import { loadConfigFile } from './config-file.ts';
import { takeEnvironment } from './environment.ts';
import { givenFlags, readSettings, withSettingFlags } from './setting-flags.ts';
import { runUntilSignal } from './until-signal.ts';

/** `troupe serve`: starts the service. Every setting is a flag. */
export const serveCommand = withSettingFlags(new Command('serve'))
  .description('start the service')
  .option('--config <path>', 'module with tools, plugins, providers, agents and settings (TroupeConfig)')
  .action(async (options: Record<string, unknown>) => {
    const config = typeof options.config === 'string' ? await loadConfigFile(options.config) : {};
    const env = takeEnvironment({ keepShared: typeof options.config === 'string' });
    const settings = await readSettings(givenFlags(options), env, config.settings);
    const app = await runUntilSignal(appInput({ env, ...config }, settings));
    process.stdout.write(
      process.stdout.isTTY
        ? `${renderBanner({ app, settings }, pageOf(process.stdout))}\n`
        : `Troupe listens on ${app.url}\n${aboutText(app)}\n`,
    );
  });

const aboutText = (app: App): string => {
  const member = app.member();
  return member && !app.model()
    ? `Member of a cluster: ${memberText(member)}`
    : `Model of the default agent: ${modelText(app.model())}`;
};
