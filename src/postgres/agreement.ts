import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Connection } from './connection.ts';
import { DatabaseRefused } from './errors.ts';
import { quotedSchema } from './identifier.ts';

/**
 * Settings that all members must have in common (cluster.md 1.1). The first member stores a hash of each value.
 *
 * Guarantees: no value is stored or reported. A hash is slow to compute, so that a short token cannot be guessed from a
 * backup. The key of the secrets is that of the stored rows and never replaced; the other settings may be changed while
 * the cluster has no member.
 */

/** Values that must be the same for all members. The database has a hash of each. */
export type Agreed = {
  /** The key that encrypts stored secrets. */
  secrets_check: string | undefined;
  /** By the names of their variables. */
  settings_hash: Readonly<Record<string, string | undefined>>;
};

export type AgreementOptions = {
  schema: string;
  /** Part of each hash. */
  clusterId: string;
  agreed: Agreed;
  timeoutMs: number;
};

/** @throws DatabaseRefused with the name of a setting that differs */
export const agree = async (connection: Connection, options: AgreementOptions): Promise<void> => {
  const { agreed } = options;
  const key = await secretsCheck(options.clusterId, agreed.secrets_check);
  if ((await storedAs(connection, options, 'secrets_check', key)) !== key) {
    throw new DatabaseRefused('SERVICE_SECRETS_KEY must be the key of the other members: it differs');
  }
  const hashes: Record<string, string> = {};
  for (const [variable, value] of Object.entries(agreed.settings_hash)) {
    hashes[variable] = await hashOf(options, variable, value);
  }
  const given = JSON.stringify(hashes);
  const stored = await storedAs(connection, options, 'settings_hash', given);
  const differing = differenceOf(hashes, stored);
  if (differing === undefined) return;
  if (await replace(connection, options, stored, given)) return;
  throw new DatabaseRefused(`${differing} must be that of the other members: it differs`);
};

const UNSET = 'unset';
const HASH_BYTES = 32;
const hash = promisify<string, string, number, Buffer>(scrypt);

/** Returns the hash of the key of the secrets that the schema of a cluster has. */
export const secretsCheck = (clusterId: string, key: string | undefined): Promise<string> =>
  hashOf({ clusterId }, 'SERVICE_SECRETS_KEY', key);

const hashOf = async (
  { clusterId }: Pick<AgreementOptions, 'clusterId'>,
  variable: string,
  value: string | undefined,
): Promise<string> =>
  value === undefined
    ? UNSET
    : (await hash(value, `${clusterId} ${variable}`, HASH_BYTES)).toString('base64url');

/** Stores the value unless there is one, and returns the stored one. */
const storedAs = async (
  connection: Connection,
  { schema, timeoutMs }: AgreementOptions,
  name: string,
  value: string,
): Promise<string | undefined> => {
  const meta = `${quotedSchema(schema)}."meta"`;
  const insert = `INSERT INTO ${meta} (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`;
  await connection.query({ text: insert, values: [name, value] }, timeoutMs);
  const select = `SELECT value FROM ${meta} WHERE name = $1`;
  const [row] = await connection.query<{ value: string }>({ text: select, values: [name] }, timeoutMs);
  return row?.value;
};

/** Members of another version may store other settings: only those that both have are compared. */
const differenceOf = (
  hashes: Readonly<Record<string, string>>,
  stored: string | undefined,
): string | undefined => {
  const others: unknown = JSON.parse(stored ?? '{}');
  if (typeof others !== 'object' || others === null) return undefined;
  return Object.entries(hashes).find(
    ([variable, value]) => (Reflect.get(others, variable) ?? value) !== value,
  )?.[0];
};

/** Replaces the hashes while the cluster has no member. Returns whether it has. */
const replace = async (
  connection: Connection,
  { schema, timeoutMs }: AgreementOptions,
  stored: string | undefined,
  given: string,
): Promise<boolean> => {
  const inSchema = quotedSchema(schema);
  const text = `UPDATE ${inSchema}."meta" SET value = $1 WHERE name = 'settings_hash' AND value = $2
    AND NOT EXISTS (SELECT FROM ${inSchema}."member" WHERE state <> 'gone') RETURNING name`;
  const values = [given, stored ?? ''];
  return (await connection.query({ text, values }, timeoutMs)).length > 0;
};
