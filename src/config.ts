import type { AppInput, Embedding } from './app-input.ts';
import type { Provider } from './models/model.ts';
import {
  type EntriesInput,
  entriesFrom,
  type Settings,
  SettingsError,
  type SettingsInput,
} from './settings.ts';
import { createLog } from './telemetry/log.ts';

/** What a program says that embeds the service, or a config file that `troupe serve` loads. */
export type TroupeConfig = {
  /** What is left out has its default; see the table in the README. */
  settings?: Omit<SettingsInput, 'entries'>;
  /** Made by `defineProvider`, or described as in a settings file. */
  providers?: readonly AnyProvider[];
} & Omit<EntriesInput, 'providers'> &
  Embedding & {
    /** Gets what would go to stderr: one line of JSON a call, without secrets. */
    log?: { write(line: string): void };
  };

type AnyProvider = Provider | NonNullable<EntriesInput['providers']>[number];

/** The options by name, for whoever does not know the type. */
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
  eventLog: true,
  redactTraces: true,
  listen: true,
  clock: true,
  ids: true,
  log: true,
};

/** @throws SettingsError when there is no such option, or an entry is not legal */
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
