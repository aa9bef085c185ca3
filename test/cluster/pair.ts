import { type App, startApp } from '../../src/app.ts';
import type { AppInput } from '../../src/composition/input.ts';
import type { Settings } from '../../src/settings/index.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';

/**
 * Runs tests of a service against a cluster: with `TROUPE_TEST_CLUSTER=1`, each service is a member with a standby, whose
 * address is that of the service. Services with the same data directory share a database.
 */
export const isCluster = process.env.TROUPE_TEST_CLUSTER === '1' && NO_POSTGRES === false;

type Started = { app: App; url: string; stop(): Promise<void> };

/** The part of a test that a service needs. */
type Scope = { teardown(end: () => Promise<void>): void };

/** Returns how to start the services of a test. */
export const starterOf = (t: Scope): ((input: AppInput) => Promise<Started>) => {
  let server: Promise<Postgres> | undefined;
  const databases = new Map<string, string>();
  const databaseOf = async (dir: string): Promise<string> => {
    server ??= startPostgres(t);
    const postgres = await server;
    const name = databases.get(dir) ?? postgres.createDatabase();
    databases.set(dir, name);
    return postgres.url(name);
  };
  return async (input) =>
    isCluster && input.listen !== false
      ? startPair(input, await databaseOf(input.settings.storage_dir))
      : startOne(input);
};

const startOne = async (input: AppInput): Promise<Started> => {
  const app = await startApp(input);
  return { app, url: app.url, stop: () => app.stop() };
};

const TTL_MS = 10_000;

const startPair = async (input: AppInput, url: string): Promise<Started> => {
  const settings: Settings = {
    ...input.settings,
    database: { ...input.settings.database, url },
    cluster: { ...input.settings.cluster, lease_ttl_ms: TTL_MS },
  };
  const active = await startApp({ ...input, settings });
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
