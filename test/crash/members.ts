import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { generateKey } from '../../src/store/engine/secrets-cipher.ts';
import { KEY_FILE } from '../../src/store/index.ts';
import { hasStandby } from '../cluster/mode.ts';
import { type Postgres, startPostgres } from '../cluster/postgres.ts';
import { eventually, isActive, serves } from '../cluster/services.ts';
import { defer } from '../http/serve.ts';
import {
  copyInto,
  createFiles,
  createProcess,
  findingsOf,
  linesOf,
  type Service,
  type ServiceOptions,
  type ServiceProcess,
  type Started,
} from './process.ts';

/**
 * A service that consists of members of a cluster. Clients use the address of one member, the front; another one is
 * active at first. Every end is that of the active member, and a start begins what has ended. So each member takes over
 * from the other one in turn, and the address of the clients is that of the active and of a standby member.
 */

export const createClusterService = async (t: Test, options: ServiceOptions): Promise<Service> => {
  const files = await createFiles(t);
  const postgres = await startPostgres(t);
  const database = postgres.createDatabase();
  const url = postgres.url(database);
  const key = generateKey();
  const shared = {
    SERVICE_DATABASE_URL: url,
    SERVICE_SECRETS_KEY: key,
  };
  const create = (name: string): Promise<ServiceProcess> =>
    createProcess(
      t,
      { ...options, env: { ...shared, SERVICE_MEMBER_NAME: name, SERVICE_STORAGE_DIR: '', ...options.env } },
      files,
    );
  const front = await create('front');
  const members = hasStandby ? [await create('other'), front] : [front];
  let copies = 0;
  let came = defer();
  let answers = false;

  const active = (): Promise<ServiceProcess> =>
    eventually('a member is active', async () => {
      for (const member of members) if (await isActive(member)) return member;
      return undefined;
    });
  const activeToEnd = async (): Promise<ServiceProcess> => {
    const ending = await active();
    if (answers) came = defer();
    answers = false;
    return ending;
  };
  const stopped = (): ServiceProcess => {
    const found = members.find((member) => !member.isRunning());
    if (!found) throw new Error('every member is running');
    return found;
  };

  return {
    url: front.url,
    executed: () => linesOf(files.executed),
    up: () => came.promise,
    async start(durability) {
      let started: Started | undefined;
      for (const member of members) {
        if (member.isRunning()) continue;
        started = await member.start(durability);
        if (member !== front) await serves(member);
      }
      if (!started) throw new Error('every member is running');
      await serves(front);
      answers = true;
      came.resolve();
      return started;
    },
    crashes: () => countLost(postgres, database),
    kill: async () => (await activeToEnd()).kill(),
    stop: async () => (await activeToEnd()).stop(),
    killStart: (afterMs) => stopped().killStart(afterMs),
    failStart: () => stopped().failStart(),
    // The form of a backup that has the format of a data directory.
    backup(killAfterMs) {
      copies += 1;
      const folder = join(files.dir, `copy-${copies}`);
      return copyInto(folder, ['copy', url, folder], { killAfterMs, env: shared });
    },
    giveKey: (folder) => writeFileSync(join(folder, KEY_FILE), key),
    examine: (folder) =>
      folder === undefined
        ? findingsOf(['database', 'check'], shared)
        : findingsOf(['doctor', '--storage-dir', folder], { SERVICE_SECRETS_KEY: key }),
  };
};

/** Counts the members that ended without leaving, including those whose processes were too slow for their leases. */
const countLost = (postgres: Postgres, database: string): number =>
  Number(
    postgres.sql(database, `SELECT count(*) FROM troupe.member WHERE state = 'gone' AND reason <> 'left'`),
  );
