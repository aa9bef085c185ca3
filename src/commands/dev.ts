import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { App } from '../app.ts';
import type { AppInput } from '../composition/input.ts';
import { mergeRecords, NO_RECORDS } from '../configuration/records.ts';
import { devRecords } from '../configuration/seed.ts';
import { appInput, type TroupeConfig } from '../embedding/config.ts';
import { Invalid } from '../schema/outcome.ts';
import { assertShared, type Settings } from '../settings/index.ts';
import { pageOf, renderBanner, TOKEN_FILE, tryText } from './banner.ts';
import { loadConfigFile } from './config-file.ts';
import { takeEnvironment } from './environment.ts';
import { reloadOnEdit } from './reload.ts';
import { givenFlags, readSettings, withSettingFlags } from './setting-flags.ts';
import { serveUntilSignal } from './until-signal.ts';

/**
 * `troupe dev`: a service to get started with: demo agents, scripted completions unless the environment contains a
 * provider key, and an admin token that is generated once and stored in the data directory.
 */
export const devCommand = withSettingFlags(new Command('dev'), { isBrief: true })
  .description('start with demo agents and a generated admin token')
  .option('--config <path>', 'module with tools, plugins, providers, agents and settings (TroupeConfig)')
  .option('--watch', 'restart the service when the config file or a module that it imports changes')
  .action(async ({ config: path, watch = false, ...options }: DevOptions) => {
    if (watch && path === undefined) throw new Invalid('--watch requires --config <path>');
    const env = takeEnvironment({ keepShared: path !== undefined });
    const inputOf = async (config: TroupeConfig): Promise<AppInput> => {
      const settings = await readSettings(givenFlags(options), env, settingsOf(config, watch));
      assertShared(settings);
      settings.AdminApiConfig.bearer_token ??= await keptToken(settings.storage_dir);
      const input = appInput({ env, ...config }, settings);
      const model = env.SERVICE_SEED_MODEL ?? env.AGENT_MODEL;
      const seed = isReal(settings) ? NO_RECORDS : devRecords(env, model);
      return { ...input, records: mergeRecords(seed, input.records ?? NO_RECORDS) };
    };
    const reloading = watch && path !== undefined ? reloadOnEdit(path, inputOf) : undefined;
    const config = reloading ? await reloading.load() : path === undefined ? {} : await loadConfigFile(path);
    const input = await inputOf(config);
    const served = await serveUntilSignal(input);
    showStart(served.app, input.settings);
    reloading?.begin(served);
  });

type DevOptions = Record<string, unknown> & { config?: string; watch?: boolean };

function showStart(app: App, settings: Settings): void {
  const page = pageOf(process.stdout);
  const { bearer_token: token = '' } = settings.AdminApiConfig;
  const shown = { app, settings, admin: { token, isShown: process.stdout.isTTY === true } };
  process.stdout.write(renderBanner(shown, page) + tryText(app, settings, page.paint));
}

/** Defaults that differ from `serve`. A front end under development has a separate port, and developers read traces. */
const DEV = {
  seed: { profile: 'demo' },
  AdminApiConfig: { cors_allowed_origins: ['loopback'], expose_trace_routes: true },
} satisfies TroupeConfig['settings'];

/** A reload does not wait for runs: they resume with the new code. */
const WATCHING = { shutdown_timeout_ms: 0 } satisfies TroupeConfig['settings'];

function settingsOf({ settings = {} }: TroupeConfig, watch: boolean): TroupeConfig['settings'] {
  return {
    ...DEV,
    ...(watch && WATCHING),
    ...settings,
    seed: { ...DEV.seed, ...settings.seed },
    AdminApiConfig: { ...DEV.AdminApiConfig, ...settings.AdminApiConfig },
  };
}

const isReal = ({ openai }: Settings): boolean =>
  openai.api_key !== undefined || openai.base_url !== undefined;

/** Readable by its owner only; a user with access to the data directory can read the data anyway. */
const keptToken = async (dir: string): Promise<string> => {
  const file = join(dir, TOKEN_FILE);
  if (existsSync(file)) {
    const { makePrivate } = await import('../store/index.ts');
    const problem = makePrivate(file);
    if (problem !== undefined) process.stderr.write(`troupe: ${problem}\n`);
    const kept = readFileSync(file, 'utf8').trim();
    if (kept !== '') return kept;
  }
  const token = randomBytes(24).toString('base64url');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  return token;
};
