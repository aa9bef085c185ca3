import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { TroupeConfig } from '../config.ts';
import { devRecords } from '../registry/seed.ts';
import type { Settings } from '../settings.ts';
import { bannerOf, pageOf, TOKEN_FILE, tryText } from './banner.ts';
import { takeEnvironment } from './environment.ts';
import { givenFlags, readSettings, withSettingFlags } from './setting-flags.ts';
import { runUntilSignal } from './until-signal.ts';

/**
 * `troupe dev`: the first five minutes. Demo agents, scripted answers unless a provider key is in the
 * environment, and an admin token that is made once and kept beside the data.
 */
export const devCommand = withSettingFlags(new Command('dev'))
  .description('start with demo agents, and an admin token made for you')
  .action(async (options: Record<string, unknown>) => {
    const env = takeEnvironment({ keepShared: false });
    const settings = readSettings(givenFlags(options), env, DEV);
    const token = settings.AdminApiConfig.bearer_token ?? (await keptToken(settings.storage_dir));
    settings.AdminApiConfig.bearer_token = token;
    const app = await runUntilSignal({
      settings,
      env,
      records: isReal(settings) ? undefined : devRecords(env, env.SERVICE_SEED_MODEL ?? env.AGENT_MODEL),
    });
    const page = pageOf(process.stdout);
    const shown = { app, settings, admin: { token, isShown: process.stdout.isTTY === true } };
    process.stdout.write(bannerOf(shown, page) + tryText(app, settings, page.paint));
  });

/**
 * What is otherwise than in `serve`, unless it is set. A front end under development has a port of its own, and whoever
 * develops looks at what runs did.
 */
const DEV = {
  seed: { profile: 'demo' },
  AdminApiConfig: { cors_allowed_origins: ['loopback'], expose_trace_routes: true },
} satisfies TroupeConfig['settings'];

const isReal = ({ openai }: Settings): boolean =>
  openai.api_key !== undefined || openai.base_url !== undefined;

/** Readable by its owner only; whoever can read the data folder can read the data anyway. */
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
