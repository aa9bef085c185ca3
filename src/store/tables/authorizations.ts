import type {
  AuthorizationHead,
  AuthorizationRow,
  AuthorizationSecrets,
} from '../../schema/authorization.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, isId } from '../engine/keys.ts';
import { createSealedTable, type SealOlder } from '../engine/sealed-table.ts';
import type { Cipher } from '../engine/secrets-cipher.ts';

/**
 * Tries to connect an account to an MCP server, by id (identity.md 6.2). Verifiers, client secrets and unconfirmed
 * tokens are sealed, and bound to the account, the server, its issuer and its resource.
 */

export type AuthorizationTable = {
  /** @throws Unavailable if its secrets cannot be decrypted */
  get(id: string): AuthorizationRow | undefined;
  /** Returns all of them without decrypting their secrets. */
  heads(): Iterable<AuthorizationHead>;
  put(batch: Batch, row: AuthorizationRow): void;
  remove(batch: Batch, id: string): void;
};

const BOUND_TO = ['scope', 'user', 'server', 'issuer', 'resource'] as const;

export const createAuthorizationTable = (
  env: Environment,
  cipher: Cipher,
): { table: AuthorizationTable; sealOlder: SealOlder } => {
  const rows = createSealedTable<AuthorizationHead, AuthorizationSecrets>(
    env,
    'authorizations',
    cipher,
    BOUND_TO,
  );
  const table: AuthorizationTable = {
    get: (id) => (isId(id) ? rows.get([id]) : undefined),
    *heads() {
      for (const { head } of rows.heads({ prefix: [] })) yield head;
    },
    put(batch, { attempt, unconfirmed, ...head }) {
      checkId('authorization id', head.id);
      rows.put(batch, [head.id], head, { ...(attempt && { attempt }), ...(unconfirmed && { unconfirmed }) });
    },
    remove: (batch, id) => rows.remove(batch, [id]),
  };
  return { table, sealOlder: rows.sealOlder };
};
