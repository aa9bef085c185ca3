import { realpathSync } from 'node:fs';
import { Command } from 'commander';
import { Invalid } from '../schema/outcome.ts';
import { settingFlags } from '../settings/index.ts';
import { givenFlags, readSettings, withSettingFlags } from './setting-flags.ts';
import { renderUnit } from './systemd/unit.ts';

/** `troupe systemd`: prints the unit of this installation. Settings given as flags become variables of the unit. */
export const systemdCommand = withSettingFlags(new Command('systemd'))
  .description('print a systemd unit for this installation with the given settings')
  .action(async (options: Record<string, unknown>) => {
    const flags = givenFlags(options);
    // The environment of this process is not that of the unit.
    const settings = await readSettings(flags, {});
    const node = realpathSync(process.execPath);
    const main = realpathSync(process.argv[1] ?? '');
    process.stdout.write(renderUnit({ node, main, settings, variables: variablesOf(flags) }));
    for (const path of [node, main].filter(isAtHome))
      process.stderr.write(
        `troupe: ${path} is in a home folder, which a service may not read: install Node and Troupe elsewhere\n`,
      );
  });

const isAtHome = (path: string): boolean => /^\/(home|root|run\/user)\//.test(path);

/** @throws Invalid for a secret, which every user could read in the unit, and for the data directory */
const variablesOf = (flags: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    settingFlags.flatMap(({ name, env, isSecret }) => {
      const value = flags[name];
      if (value === undefined) return [];
      if (isSecret) throw new Invalid(`--${name} is a secret: put ${env}=… into /etc/troupe.env instead`);
      if (env === 'SERVICE_STORAGE_DIR')
        throw new Invalid(`--${name}: the unit keeps its data in /var/lib/troupe, which systemd makes`);
      return [[env, value]];
    }),
  );
