import { z } from 'zod';
import type { Account } from '../schema/account.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import type { Store } from '../store/index.ts';
import type { ConnectionHead, ConnectionRow } from '../store/tables/connections.ts';
import type { OAuthEntry } from './discovery.ts';
import type { GrantedTokens, RegisteredClient } from './types.ts';

/** The stored connections, whose tokens are sealed. */

const Client = z.object({
  client_id: z.string(),
  client_secret: z.string().optional(),
  token_endpoint_auth_method: z.enum(['none', 'client_secret_basic', 'client_secret_post']),
});

const Secrets = z.object({
  client: Client,
  access_token: z.string().optional(),
  refresh_token: z.string().optional(),
});

export type Connection = ConnectionHead & {
  client: RegisteredClient;
  /** Absent for an ended connection. */
  access_token: string | undefined;
  refresh_token: string | undefined;
};

export type ConnectionRows = {
  /** Undefined also for a row that cannot be read, or belongs to an earlier state of the entry. */
  get(account: Account, entry: OAuthEntry): Connection | undefined;
  put(connection: Connection): Promise<void>;
  remove(heads: readonly ConnectionHead[]): Promise<void>;
};

type Deps = { store: Pick<Store, 'connections' | 'batch' | 'commit'>; log: Pick<ServiceLog, 'warn'> };

export const createConnectionRows = ({ store, log }: Deps): ConnectionRows => ({
  get(account, entry) {
    const row = readRow(account, entry.id);
    if (!row) return undefined;
    const secrets = Secrets.safeParse(row.secrets);
    if (!secrets.success) return undefined;
    const { secrets: _, ...head } = row;
    const { client, access_token, refresh_token } = secrets.data;
    const connection = { ...head, client: clientOf(client), access_token, refresh_token };
    return isCurrent(connection, entry) ? connection : undefined;

    function readRow(of: Account, server: string): ConnectionRow | undefined {
      try {
        return store.connections.get(of, server);
      } catch (err) {
        log.warn('connection.unreadable', { err, server });
        return undefined;
      }
    }
  },
  async put({ client, access_token, refresh_token, ...head }) {
    const batch = store.batch('commons');
    store.connections.put(batch, {
      ...head,
      secrets: {
        client: { ...client },
        ...(access_token !== undefined && { access_token }),
        ...(refresh_token !== undefined && { refresh_token }),
      },
    });
    await store.commit(batch, 'input');
  },
  async remove(heads) {
    const batch = store.batch('commons');
    for (const head of heads) store.connections.remove(batch, head);
    await store.commit(batch, 'input');
  },
});

const clientOf = ({ client_secret, ...client }: z.infer<typeof Client>): RegisteredClient => ({
  ...client,
  ...(client_secret !== undefined && { client_secret }),
});

/** Whether a connection was made with the present address, issuer and client of its entry. */
const isCurrent = ({ client, ...head }: Connection, entry: OAuthEntry): boolean =>
  isOfEntry(head, entry) &&
  (entry.auth.client_id === undefined ||
    (client.client_id === entry.auth.client_id && client.client_secret === entry.auth.client_secret));

export const isOfEntry = (
  { url, issuer }: Pick<ConnectionHead, 'url' | 'issuer'>,
  entry: OAuthEntry,
): boolean => url === entry.url && (entry.auth.issuer === undefined || entry.auth.issuer === issuer);

export const connectionOf = (
  { scope, user }: Account,
  { access_token, refresh_token, expires_at, scopes, client, ...tokens }: GrantedTokens,
  now: number,
): Connection => ({
  scope,
  user: user ?? '',
  server: tokens.server,
  url: tokens.url,
  issuer: tokens.issuer,
  resource: tokens.resource,
  state: 'connected',
  scopes: [...scopes],
  connected_at: now,
  ...(expires_at !== undefined && { expires_at }),
  client,
  access_token,
  refresh_token,
});
