import type { Settings } from '../settings/index.ts';
import { readEnvironment } from './environment.ts';
import { readSettings } from './setting-flags.ts';

/** The settings of commands that use a database without being a member of its cluster. */

const VARIABLES = [
  'SERVICE_DATABASE_URL',
  'SERVICE_DATABASE_SCHEMA',
  'SERVICE_DATABASE_POOLED',
  'SERVICE_LEASE_TTL_MS',
  'SERVICE_SECRETS_KEY',
];

/** Returns the settings of the environment. @param url replaces that of the environment @throws SettingsError */
export const readDatabaseSettings = (url?: string): Promise<Settings> => {
  const env = readEnvironment();
  const used = VARIABLES.map((name) => [name, env[name]] as const);
  return readSettings(
    {},
    { ...Object.fromEntries(used), ...(url !== undefined && { SERVICE_DATABASE_URL: url }) },
  );
};

export const isDatabaseUrl = (text: string): boolean => /^postgres(?:ql)?:\/\//.test(text);
