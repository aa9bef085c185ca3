import { join } from 'node:path';
import { type Batch, createBatch, type Rows } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import type { Key } from '../engine/keys.ts';
import type { SealOlder } from '../engine/sealed-table.ts';
import { createCipher, createOpenOlder, NO_CIPHER } from '../engine/secrets-cipher.ts';
import {
  KEY_FILE,
  mayHaveOlder,
  noteAllSealed,
  type SecretsKey,
  secretsOf,
  takeKey,
} from '../engine/secrets-key.ts';
import { type AgentDraftTable, createAgentDraftTable } from './agent-drafts.ts';
import { type AuditTable, createAuditTable } from './audit.ts';
import { type AuthorizationTable, createAuthorizationTable } from './authorizations.ts';
import { type ConfigTable, createConfigTable } from './config.ts';
import { type ConnectionTable, createConnectionTable } from './connections.ts';
import { createDocumentTable, type DocumentTable } from './documents.ts';
import { createPublicationTable, type PublicationTable } from './publications.ts';
import { createPushConfigTable, type PushConfigTable } from './push-configs.ts';

/**
 * The tables that contain secrets, including those of the configuration plane, and the key that they are sealed with.
 *
 * Guarantees: after an opening every row is sealed with the key of the folder and bound to its position. Rows that an
 * earlier version wrote plain or unbound, and rows sealed with an earlier key, are sealed again at the next opening, in
 * commits of `PIECE` rows; an interrupted opening continues at the next one. Pages that LMDB has freed may still
 * contain the old text until they are reused: a copy of the store contains none of them.
 */

export type ControlPlane = {
  readonly config: ConfigTable;
  readonly audit: AuditTable;
  readonly publications: PublicationTable;
  readonly documents: DocumentTable;
  readonly agentDrafts: AgentDraftTable;
  readonly pushConfigs: PushConfigTable;
  readonly connections: ConnectionTable;
  readonly authorizations: AuthorizationTable;
};

/** Number of rows that one commit seals. */
const PIECE = 500;

export type SecretsOptions = {
  dir: string;
  secretsKey: string | undefined;
  holdsSecrets: boolean;
  warn: (problem: string) => void;
  commit(batch: Batch): Promise<void>;
};

/** @throws Unavailable when the key is missing or not that of the folder */
export const createControlPlane = (
  env: Environment,
  meta: Rows,
  options: SecretsOptions,
): { tables: ControlPlane; sealAll(): Promise<void> } => {
  const key = options.holdsSecrets ? takeKey(options.dir, meta, options.secretsKey) : undefined;
  const cipher = key ? createCipher(key.secret) : NO_CIPHER;
  const config = createConfigTable(env, cipher);
  const audit = createAuditTable(env, cipher);
  const publications = createPublicationTable(env, cipher);
  const documents = createDocumentTable(env, cipher);
  const agentDrafts = createAgentDraftTable(env, cipher);
  const pushConfigs = createPushConfigTable(env, cipher);
  const connections = createConnectionTable(env, cipher);
  const authorizations = createAuthorizationTable(env, cipher);
  const sealed = [
    config,
    audit,
    publications,
    documents,
    agentDrafts,
    pushConfigs,
    connections,
    authorizations,
  ];
  return {
    tables: {
      config: config.table,
      audit: audit.table,
      publications: publications.table,
      documents: documents.table,
      agentDrafts: agentDrafts.table,
      pushConfigs: pushConfigs.table,
      connections: connections.table,
      authorizations: authorizations.table,
    },
    async sealAll() {
      if (!key || !mayHaveOlder(meta)) return;
      const tables = sealed.map(({ sealOlder }) => sealOlder);
      warnOf(await sealOlderIn(tables, key, options.commit), key, options);
      noteAllSealed(meta);
    },
  };
};

type Counts = { sealed: number; unreadable: number };

const sealOlderIn = async (
  tables: readonly SealOlder[],
  key: SecretsKey,
  commit: (batch: Batch) => Promise<void>,
): Promise<Counts> => {
  const openOlder = createOpenOlder(secretsOf(key));
  const counts = { sealed: 0, unreadable: 0 };
  for (const sealOlder of tables) {
    let after: Key | undefined;
    do {
      const batch = createBatch('commons');
      const { last, sealed, unreadable } = sealOlder(batch, openOlder, after, PIECE);
      await commit(batch);
      counts.sealed += sealed;
      counts.unreadable += unreadable;
      after = last;
    } while (after);
  }
  return counts;
};

const warnOf = (
  { sealed, unreadable }: Counts,
  { source, earlier }: SecretsKey,
  { dir, warn }: SecretsOptions,
): void => {
  const file = join(dir, KEY_FILE);
  if (sealed > 0 && source === 'file')
    warn(
      `the secrets in '${dir}' are now encrypted with the key in '${file}': keep a copy of that file apart from your backups, which do not contain it`,
    );
  if (sealed > 0 && earlier)
    warn(
      `the secrets in '${dir}' are now encrypted with SERVICE_SECRETS_KEY; '${file}' is only needed for backups from before`,
    );
  if (unreadable > 0)
    warn(
      `rows with secrets in '${dir}' cannot be decrypted and are not changed: ${unreadable}; 'troupe doctor' lists them`,
    );
};
