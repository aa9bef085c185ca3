import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Invalid, Unavailable } from '../../schema/outcome.ts';
import type { Rows } from './batch.ts';
import { reasonOf } from './folder.ts';
import { PRIVATE } from './private-files.ts';
import {
  createCipher,
  createOpenOlder,
  generatedSecret,
  generateKey,
  type OpenOlder,
  secretOf,
} from './secrets-cipher.ts';

/**
 * The key that the secrets of a folder are encrypted with: the setting `secrets_key`, or else a generated key in the
 * file `secrets.key` of the folder. Copies of a store do not contain that file, so a copy alone reveals no secret.
 *
 * Guarantees: a folder is opened with the key that its meta table names, or not at all; nothing is written when the key
 * is missing or wrong. The file is complete and on the disk before anything is encrypted with its key. A folder whose
 * key is in the file accepts a setting instead: its rows are encrypted again, with the setting.
 */

export const KEY_FILE = 'secrets.key';

export type KeySource = 'setting' | 'file';

export type SecretsKey = {
  secret: Buffer;
  source: KeySource;
  /** The secret of the key file, when rows may still be encrypted with it. */
  earlier: Buffer | undefined;
};

const CHECK = ['secrets_check'];
const SOURCE = ['secrets_source'];
const SEALED = ['secrets_sealed'];
const TEXT = 'troupe';
/** The scheme of all rows once the meta table contains this number. */
const SCHEME = 2;

/** Returns the secrets that may open rows, the current one first. */
export const secretsOf = ({ secret, earlier }: SecretsKey): readonly [Buffer, ...Buffer[]] =>
  earlier === undefined ? [secret] : [secret, earlier];

/**
 * Returns the key of a folder, without writing anything. Undefined when there is none yet.
 *
 * @throws Invalid when the setting is blank, Unavailable when the key is missing or not that of the folder
 */
export const findKey = (dir: string, meta: Rows, given: string | undefined): SecretsKey | undefined => {
  const check = meta.get(CHECK);
  const file = readKeyFile(dir);
  if (given !== undefined) return keyOfSetting(dir, given, { check, file, source: sourceIn(meta) });
  if (file !== undefined && opens(check, file)) return { secret: file, source: 'file', earlier: undefined };
  if (check === undefined) return undefined;
  throw sourceIn(meta) === 'file'
    ? wrongFile(dir, file === undefined ? 'is missing' : 'holds another key')
    : new Unavailable(
        `the secrets in '${dir}' are encrypted: set SERVICE_SECRETS_KEY to the key that they have; nothing was changed`,
      );
};

/** Finds the key of a folder, or generates one, and records it in the meta table. */
export const takeKey = (dir: string, meta: Rows, given: string | undefined): SecretsKey => {
  const key = findKey(dir, meta, given) ?? {
    secret: writeKeyFile(dir),
    source: 'file',
    earlier: undefined,
  };
  const isNoted = meta.get(SOURCE) === key.source && isOpenedBy(meta.get(CHECK), [key.secret]) === 'now';
  if (!isNoted) {
    meta.putSync(CHECK, createCipher(key.secret).seal(TEXT, PLACE));
    meta.putSync(SOURCE, key.source);
    if (key.earlier) meta.removeSync(SEALED);
  }
  return key;
};

/** Whether there may be rows that are not sealed with the current key and scheme. */
export const mayHaveOlder = (meta: Rows): boolean => meta.get(SEALED) !== SCHEME;

export const noteAllSealed = (meta: Rows): void => meta.putSync(SEALED, SCHEME);

const PLACE = { table: 'meta', key: CHECK };

type Noted = { check: unknown; file: Buffer | undefined; source: KeySource };

const keyOfSetting = (dir: string, given: string, { check, file, source }: Noted): SecretsKey => {
  if (given.trim() === '')
    throw new Invalid('SERVICE_SECRETS_KEY is blank: set it to a long secret, or unset it');
  const secret = secretOf(given);
  const earlier = file?.equals(secret) ? undefined : file;
  if (opens(check, secret) || opens(check, earlier)) return { secret, source: 'setting', earlier };
  if (source === 'file') throw wrongFile(dir, file === undefined ? 'is missing' : 'holds another key');
  throw new Unavailable(
    `the secrets in '${dir}' cannot be decrypted: SERVICE_SECRETS_KEY is not the key that they have; nothing was changed`,
  );
};

const wrongFile = (dir: string, what: string): Unavailable =>
  new Unavailable(
    `the secrets in '${dir}' are encrypted with the generated key of this folder, and '${join(dir, KEY_FILE)}' ${what}: ` +
      'copy that file from the data directory that these data come from, or name it with SERVICE_SECRETS_KEY_FILE; nothing was changed',
  );

/** In folders of earlier versions, the setting was the only source. */
const sourceIn = (meta: Rows): KeySource => (meta.get(SOURCE) === 'file' ? 'file' : 'setting');

/** A folder without a check accepts any key. */
const opens = (check: unknown, secret: Buffer | undefined): boolean =>
  secret !== undefined && (check === undefined || isOpenedBy(check, [secret]) !== 'no');

const isOpenedBy = (check: unknown, secrets: readonly [Buffer, ...Buffer[]]): 'now' | 'older' | 'no' => {
  if (typeof check !== 'string') return 'no';
  const openOlder: OpenOlder = createOpenOlder(secrets);
  try {
    return openOlder(check, PLACE) === undefined ? 'now' : 'older';
  } catch {
    return 'no';
  }
};

const readKeyFile = (dir: string): Buffer | undefined => {
  const file = join(dir, KEY_FILE);
  const text = contentOf(file);
  if (text === undefined) return undefined;
  const secret = generatedSecret(text.trim());
  if (secret) return secret;
  throw new Unavailable(`'${file}' does not hold a generated key: restore the file from your copy of it`);
};

const contentOf = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new Unavailable(`'${file}' cannot be read (${reasonOf(cause)}): it holds the key of the secrets`, {
      cause,
    });
  }
};

/** Only the owner of the folder writes here, so no other process can have created the file in between. */
const writeKeyFile = (dir: string): Buffer => {
  const file = join(dir, KEY_FILE);
  const unfinished = `${file}.new`;
  const key = generateKey();
  try {
    writeFileSync(unfinished, `${key}\n`, { mode: PRIVATE, flush: true });
    renameSync(unfinished, file);
    flushFolder(dir);
  } catch (cause) {
    throw new Unavailable(
      `'${file}' cannot be written (${reasonOf(cause)}): it must contain the key of the secrets`,
      { cause },
    );
  }
  return secretOf(key);
};

const flushFolder = (dir: string): void => {
  const descriptor = openSync(dir, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};
