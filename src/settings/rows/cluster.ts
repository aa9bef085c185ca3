import { databaseUrl, identifier } from '../database-kinds.ts';
import { boolean, integer, label, path, text, url } from '../kinds.ts';
import { setting } from '../setting.ts';

const onlyWithDatabase = { needs: 'database.url' } as const;

export const clusterSettings = [
  setting({
    key: 'database.url',
    env: 'SERVICE_DATABASE_URL',
    type: databaseUrl(),
    secret: true,
    doc: 'PostgreSQL database of a cluster, such as `postgresql://user:password@host/name`; all its members share the data, and `storage_dir` is not used; unset = this process alone, with its data directory',
  }),
  setting({
    key: 'database.schema',
    env: 'SERVICE_DATABASE_SCHEMA',
    type: identifier(),
    default: 'troupe',
    ...onlyWithDatabase,
    doc: 'schema of the database that has the tables; clusters with different schemas can share a database',
  }),
  setting({
    key: 'database.pooled',
    env: 'SERVICE_DATABASE_POOLED',
    type: boolean(),
    default: false,
    ...onlyWithDatabase,
    doc: 'true if a pooler in transaction mode is in front of the database: statements are sent without names',
  }),
  setting({
    key: 'database.pool_size',
    env: 'SERVICE_DATABASE_POOL_SIZE',
    type: integer({ min: 2, max: 64 }),
    default: 8,
    ...onlyWithDatabase,
    doc: 'connections to the database, in addition to one for commits and one for the lease',
  }),
  setting({
    key: 'member.name',
    env: 'SERVICE_MEMBER_NAME',
    type: label(),
    unset: 'the name of the host',
    ...onlyWithDatabase,
    doc: 'name of this process in lists and logs',
  }),
  setting({
    key: 'member.url',
    env: 'SERVICE_MEMBER_URL',
    type: url(),
    unset: 'http_addr if it is a loopback address, otherwise required',
    ...onlyWithDatabase,
    doc: 'address under which other members reach this process',
  }),
  setting({
    key: 'cluster.secret',
    env: 'SERVICE_CLUSTER_SECRET',
    type: text({ min: 32 }),
    secret: true,
    ...onlyWithDatabase,
    doc: 'signs requests between members; the same for all of them; required unless `member.url` is a loopback address',
  }),
  setting({
    key: 'cluster.lease_ttl_ms',
    env: 'SERVICE_LEASE_TTL_MS',
    type: integer({ min: 2000, max: 120_000 }),
    default: 10_000,
    ...onlyWithDatabase,
    doc: 'time after which another member takes over from one that does not respond to the database; the same for all members',
  }),
  setting({
    key: 'cluster.copy_dir',
    env: 'SERVICE_COPY_DIR',
    type: path(),
    unset: 'a new folder for temporary files',
    ...onlyWithDatabase,
    doc: 'directory for the copy of the data that the active member reads; it is emptied at the start',
  }),
] as const;
