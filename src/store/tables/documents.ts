import type { JsonObject } from '../../schema/endpoint.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, isId } from '../engine/keys.ts';
import { createSealedTable, type SealOlder } from '../engine/sealed-table.ts';
import type { Cipher } from '../engine/secrets-cipher.ts';

/** Singleton settings, each under its name (the assistant's, config.md 11.1); sealed like the configuration. */

export type DocumentTable = {
  get(name: string): JsonObject | undefined;
  put(batch: Batch, name: string, value: JsonObject): void;
};

export const createDocumentTable = (
  env: Environment,
  cipher: Cipher,
): { table: DocumentTable; sealOlder: SealOlder } => {
  const rows = createSealedTable<{ name: string }, { value: JsonObject }>(env, 'documents', cipher);
  const table: DocumentTable = {
    get: (name) => (isId(name) ? rows.get([name])?.value : undefined),
    put(batch, name, value) {
      checkId('name', name);
      rows.put(batch, [name], { name }, { value });
    },
  };
  return { table, sealOlder: rows.sealOlder };
};
