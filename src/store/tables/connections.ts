import type { Account } from '../../schema/account.ts';
import type { JsonObject } from '../../schema/json.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, indexed, isId, type Key } from '../engine/keys.ts';
import { createSealedTable, type SealOlder } from '../engine/sealed-table.ts';
import type { Cipher } from '../engine/secrets-cipher.ts';
import type { Columns } from '../engine/sink.ts';

/**
 * Connections of accounts to MCP servers, by scope, user and server (identity.md 6.3). The tokens are sealed, and bound
 * to the account, the server, its issuer and its resource: in another row, or next to another issuer, they do not open.
 *
 * A server with the flow `client_credentials` has one connection, without an account.
 */

export type ConnectionHead = {
  /** Empty for the connection of a server without an account. */
  scope: string;
  /** Empty for the account without a user. */
  user: string;
  server: string;
  /** The address in the entry of the server. */
  url: string;
  issuer: string;
  resource: string;
  state: 'connected' | 'expired';
  scopes: string[];
  connected_at: number;
  /** Milliseconds; that of the access token. */
  expires_at?: number;
};

/** Validated by its reader. */
export type ConnectionRow = ConnectionHead & { secrets: JsonObject };

export type ConnectionTable = {
  /** @throws Unavailable if its tokens cannot be decrypted */
  get(account: Account, server: string): ConnectionRow | undefined;
  heads(account: Account): ConnectionHead[];
  /** Heads of all connections. */
  all(): Iterable<ConnectionHead>;
  put(batch: Batch, connection: ConnectionRow): void;
  remove(batch: Batch, connection: Pick<ConnectionHead, 'scope' | 'user' | 'server'>): void;
};

const BOUND_TO = ['scope', 'user', 'server', 'url', 'issuer', 'resource'] as const;

export const createConnectionTable = (
  env: Environment,
  cipher: Cipher,
): { table: ConnectionTable; sealOlder: SealOlder } => {
  const rows = createSealedTable<ConnectionHead, Pick<ConnectionRow, 'secrets'>>(
    env,
    'connections',
    cipher,
    BOUND_TO,
  );
  const table: ConnectionTable = {
    get: (account, server) =>
      isOfAccount(account) ? rows.get(keyOf({ ...account, user: account.user ?? '', server })) : undefined,
    heads: (account) =>
      isOfAccount(account)
        ? Array.from(rows.heads({ prefix: accountKey({ ...account, user: account.user ?? '' }) }), headOf)
        : [],
    *all() {
      for (const found of rows.heads({ prefix: [] })) yield headOf(found);
    },
    put(batch, { secrets, ...head }) {
      if (head.scope !== '') checkId('scope', head.scope);
      if (head.user !== '') checkId('user id', head.user);
      rows.put(batch, keyOf(head), head, { secrets });
    },
    remove: (batch, connection) => rows.remove(batch, keyOf(connection)),
  };
  return { table, sealOlder: rows.sealOlder };
};

/** The columns of a shipped row. */
export const connectionColumns = ({ head }: { head: ConnectionHead }): Columns => ({
  scope: head.scope,
  a: head.user,
  b: head.server,
});

const isOfAccount = ({ scope, user }: Account): boolean =>
  (scope === '' || isId(scope)) && (user === undefined || isId(user));

const headOf = ({ head }: { head: ConnectionHead }): ConnectionHead => head;

/** An empty part is `-`, which is no substitute of a text. */
const accountKey = ({ scope, user }: Pick<ConnectionHead, 'scope' | 'user'>): Key => [
  scope === '' ? '-' : indexed(scope),
  user === '' ? '-' : indexed(user),
];

const keyOf = ({ server, ...account }: Pick<ConnectionHead, 'scope' | 'user' | 'server'>): Key => [
  ...accountKey(account),
  indexed(server),
];
