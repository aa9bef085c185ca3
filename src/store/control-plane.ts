import { type AuditTable, createAuditTable } from './audit.ts';
import { type Batch, createBatch, type Rows } from './batch.ts';
import { type ConfigTable, createConfigTable } from './config.ts';
import { createDocumentTable, type DocumentTable } from './documents.ts';
import type { Environment } from './environment.ts';
import type { Key } from './keys.ts';
import { createPublicationTable, type PublicationTable } from './publications.ts';
import { createPushConfigTable, type PushConfigTable } from './push-configs.ts';
import type { SealPlain } from './sealed-table.ts';
import { type Cipher, createCipher } from './secrets-cipher.ts';

/**
 * The tables that hold secrets, those of the configuration plane among them, and the key that they are sealed with.
 *
 * Guarantees: a store that was opened with a key once is opened with that key or not at all; a text sealed with it
 * stands in the meta table before the first row is. At the first opening with a key, rows from the time before it
 * are sealed, a piece a commit; an opening that was interrupted goes on at the next one. Pages that LMDB has freed
 * may still hold the old text until they are used again: keep nothing secret in a store before it has its key, or
 * write the secrets anew where they are given out. Changing the key, and giving it up, are not provided for.
 */

export type ControlPlane = {
  readonly config: ConfigTable;
  readonly audit: AuditTable;
  readonly publications: PublicationTable;
  readonly documents: DocumentTable;
  readonly pushConfigs: PushConfigTable;
};

type Sealing = { meta: Rows; cipher: Cipher; tables: readonly SealPlain[] };

/** Rows that one commit seals. */
const PIECE = 500;
const CHECK = ['secrets_check'];
const COMPLETE = ['secrets_sealed'];

/** @throws Unavailable when there are sealed rows, and the key is missing or not theirs */
export const createControlPlane = (
  env: Environment,
  meta: Rows,
  { secretsKey, commit }: { secretsKey: string | undefined; commit(batch: Batch): Promise<void> },
): { tables: ControlPlane; sealAll(): Promise<void> } => {
  const cipher = createCipher(secretsKey);
  checkKey(meta, cipher);
  const config = createConfigTable(env, cipher);
  const audit = createAuditTable(env, cipher);
  const publications = createPublicationTable(env, cipher);
  const documents = createDocumentTable(env, cipher);
  const pushConfigs = createPushConfigTable(env, cipher);
  const sealed = [config, audit, publications, documents, pushConfigs];
  return {
    tables: {
      config: config.table,
      audit: audit.table,
      publications: publications.table,
      documents: documents.table,
      pushConfigs: pushConfigs.table,
    },
    sealAll: () => sealAll({ meta, cipher, tables: sealed.map(({ sealPlain }) => sealPlain) }, commit),
  };
};

const checkKey = (meta: Rows, cipher: Cipher): void => {
  const check = meta.get(CHECK);
  if (typeof check === 'string') cipher.open(check);
  else if (cipher.active) meta.putSync(CHECK, cipher.seal('troupe'));
};

const sealAll = async (
  { meta, cipher, tables }: Sealing,
  commit: (batch: Batch) => Promise<void>,
): Promise<void> => {
  if (!cipher.active || meta.get(COMPLETE) === true) return;
  for (const sealPlain of tables) {
    let after: Key | undefined;
    do {
      const batch = createBatch();
      after = sealPlain(batch, after, PIECE);
      await commit(batch);
    } while (after);
  }
  meta.putSync(COMPLETE, true);
};
