import type { AppInput, Embedding } from '../composition/input.ts';
import type { Provider } from '../models/model.ts';
import { createLog } from '../observability/log.ts';
import {
  type EntriesInput,
  entriesFrom,
  type Settings,
  SettingsError,
  type SettingsInput,
} from '../settings/index.ts';

/**
 * Options of `createTroupe`, and the content of a config file that `troupe serve` loads. `models`, `model_pools` and
 * `agents` are entries as in a settings file; they take precedence over seeded ones.
 *
 * @example
 * ```ts
 * const config: TroupeConfig = {
 *   settings: { storage_dir: './data', AdminApiConfig: { bearer_token: 'secret' } },
 *   providers: [{ id: 'openai', adapter: 'openai', adapter_options: { allow_env_credentials: true } }],
 *   models: [{ id: 'fast', provider_id: 'openai', upstream_model: 'gpt-5-mini' }],
 *   agents: [{ id: 'poet', model_id: 'fast', system_prompt: 'Answer in one verse.' }],
 *   env: process.env,
 * };
 * ```
 */
export type TroupeConfig = {
  /** The manual lists all settings with their defaults. */
  settings?: Omit<SettingsInput, 'entries'>;
  /** Created with `defineProvider`, or described as in a settings file. */
  providers?: readonly AnyProvider[];
} & Omit<EntriesInput, 'providers'> &
  Embedding & {
    /** Receives the log instead of stderr: one line of JSON per call, without secrets. */
    log?: { write(line: string): void };
  };

type AnyProvider = Provider | NonNullable<EntriesInput['providers']>[number];

/** Names of all options, for callers without type checking. */
const OPTIONS: Record<keyof TroupeConfig, true> = {
  settings: true,
  providers: true,
  models: true,
  model_pools: true,
  agents: true,
  tools: true,
  plugins: true,
  env: true,
  resolveScope: true,
  authenticate: true,
  eventLog: true,
  redactTraces: true,
  listen: true,
  clock: true,
  ids: true,
  log: true,
};

/** @throws SettingsError for unknown options and invalid entries */
export const appInput = (config: TroupeConfig, settings: Settings): AppInput => {
  const unknown = Object.keys(config).filter((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown.length > 0) {
    const allowed = Object.keys(OPTIONS).join(', ');
    throw new SettingsError(unknown.map((name) => `${name}: not an option; allowed: ${allowed}`));
  }
  const { settings: _, providers = [], models, model_pools, agents, log, ...rest } = config;
  const records = entriesFrom({
    providers: providers.flatMap((provider) => (isProvider(provider) ? [] : provider)),
    models,
    model_pools,
    agents,
  });
  return {
    ...rest,
    settings,
    records,
    providers: providers.filter(isProvider),
    ...(log && { log: createLog({ level: settings.log_level, destination: log }) }),
  };
};

const isProvider = (provider: AnyProvider): provider is Provider => 'model' in provider;
