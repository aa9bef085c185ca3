import { type App, startApp } from '../../src/app.ts';
import type { AppInput } from '../../src/composition/input.ts';
import type { Settings } from '../../src/settings/index.ts';
import { hasStandby, isCluster } from './mode.ts';
import { type Postgres, startPostgres } from './postgres.ts';

/**
 * Starts services in the process of a test, in a cluster if the mode says so. Services with the same data directory
 * share a database.
 */

type Started = { app: App; url: string; stop(): Promise<void> };

/** The part of a test that a service needs. */
type Scope = { teardown(end: () => Promise<void>): void };

/** Returns how to start the services of a test. */
export const starterOf = (t: Scope): ((input: AppInput) => Promise<Started>) => {
  let server: Promise<Postgres> | undefined;
  const databases = new Map<string, string>();
  const databaseFor = async (dir: string): Promise<string> => {
    server ??= startPostgres(t);
    const postgres = await server;
    const name = databases.get(dir) ?? postgres.createDatabase();
    databases.set(dir, name);
    return postgres.url(name);
  };
  return async (input) =>
    isCluster && input.listen !== false
      ? startMembers(input, await databaseFor(input.settings.storage_dir))
      : startOne(input);
};

/** Returns the address of a new database for services in separate processes, empty in embedded mode. */
export const databaseOf = async (t: Scope): Promise<string> => {
  if (!isCluster) return '';
  const postgres = await startPostgres(t);
  return postgres.url(postgres.createDatabase());
};

const startOne = async (input: AppInput): Promise<Started> => {
  const app = await startApp(input);
  return { app, url: app.url, stop: () => app.stop() };
};

/** Members share the event loop of the test, which a large value can block for seconds. */
const TTL_MS = 60_000;

const startMembers = async (input: AppInput, url: string): Promise<Started> => {
  const settings: Settings = {
    ...input.settings,
    database: { ...input.settings.database, url },
    cluster: { ...input.settings.cluster, lease_ttl_ms: TTL_MS },
  };
  if (!hasStandby) return startOne({ ...input, settings });
  // The port of the settings is that of the standby.
  const http_addr = settings.http_addr.replace(/:\d+$/, ':0');
  const active = await startApp({ ...input, settings: { ...settings, http_addr } });
  const standby = await startApp({ ...input, settings }).catch(async (error) => {
    await active.stop();
    throw error;
  });
  return {
    app: active,
    url: standby.url,
    async stop() {
      // Without another member, the active one ends at once.
      await standby.stop();
      await active.stop();
    },
  };
};
