import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';

/** Stored credentials by their unsalted SHA-256 digests; a credential is found with one read (identity.md 2). */

export type CredentialRow = { kind: 'key' | 'session'; id: string };

export type CredentialTable = {
  get(digest: string): CredentialRow | undefined;
  put(batch: Batch, digest: string, credential: CredentialRow): void;
  remove(batch: Batch, digest: string): void;
};

export const createCredentialTable = (env: Environment): CredentialTable => {
  const rows = env.table<CredentialRow>('credentials');
  return {
    get: (digest) => rows.get([digest]),
    put: (batch, digest, credential) => rows.put(batch, [digest], credential),
    remove: (batch, digest) => rows.remove(batch, [digest]),
  };
};
