import * as oauth from 'oauth4webapi';
import type { Account } from '../schema/account.ts';
import { clientAuthentication, knownClient, requestOptions, withOAuth } from './client.ts';
import { type Tokens, tokensIn } from './code-flow.ts';
import type { OAuthEntry } from './discovery.ts';
import { ConnectionFailure, OAuthRefusal } from './failure.ts';
import type { Reach } from './reach.ts';
import type { Renewed } from './renewed.ts';
import type { Connection, ConnectionRows } from './rows.ts';

/**
 * Renews tokens (identity.md 6.3).
 *
 * Guarantees: a rotated refresh token is committed before the new access token is returned, and kept in memory if that
 * fails. `invalid_grant` ends the connection; every other failure keeps it.
 */
export type RefreshResult = 'ok' | 'expired' | 'failed';

type Renewal = {
  entry: OAuthEntry;
  reach: Reach;
  rows: ConnectionRows;
  renewed: Renewed;
  now: () => number;
  observe: (result: RefreshResult) => void;
  /** Returns the metadata of an issuer. */
  serverOf(issuer: string): Promise<oauth.AuthorizationServer>;
};

/** Returns the connection afterwards, which may be expired. @throws ConnectionFailure for a transient failure */
export const refreshConnection = async (renewal: Renewal, before: Connection): Promise<Connection> => {
  const { entry, reach, now, observe, serverOf } = renewal;
  const { client, refresh_token, resource, issuer } = before;
  if (refresh_token === undefined) return expire(renewal, before);
  try {
    const left = await renewal.renewed.resume(before);
    if (left) return left;
    const as = await serverOf(issuer);
    const tokens = await withOAuth(async () =>
      tokensIn(
        await oauth.processRefreshTokenResponse(
          as,
          client,
          await oauth.refreshTokenGrantRequest(as, client, clientAuthentication(client), refresh_token, {
            additionalParameters: { resource },
            ...requestOptions('the token endpoint', reach),
          }),
        ),
        before.scopes,
        now(),
      ),
    );
    const after = withTokens(before, tokens);
    await renewal.renewed.put(before, after);
    observe('ok');
    return after;
  } catch (error) {
    if (error instanceof OAuthRefusal && error.error === 'invalid_grant') return expire(renewal, before);
    observe('failed');
    throw transient(entry, error);
  }
};

/** The client stays, for the next authorization; the tokens are removed. */
const expire = async ({ rows, observe }: Renewal, before: Connection): Promise<Connection> => {
  const after: Connection = {
    ...before,
    state: 'expired',
    access_token: undefined,
    refresh_token: undefined,
  };
  await rows.put(after);
  observe('expired');
  return after;
};

const withTokens = ({ expires_at: _, ...before }: Connection, tokens: Tokens): Connection => ({
  ...before,
  state: 'connected',
  scopes: [...tokens.scopes],
  ...(tokens.expires_at !== undefined && { expires_at: tokens.expires_at }),
  access_token: tokens.access_token,
  refresh_token: tokens.refresh_token ?? before.refresh_token,
});

const transient = ({ id }: OAuthEntry, error: unknown): ConnectionFailure => {
  const reason = error instanceof ConnectionFailure ? error.message : 'the token could not be stored';
  return new ConnectionFailure('unavailable', `no new token for server '${id}': ${reason}`, { cause: error });
};

/** Requests the token of the service, with `client_credentials`. @throws ConnectionFailure */
export const requestServiceToken = async (
  { entry, reach, rows, now, observe }: Renewal,
  account: Account,
  found: { issuer: string; resource: string; as: oauth.AuthorizationServer; scopes: readonly string[] },
): Promise<Connection> => {
  const { as, issuer, resource, scopes } = found;
  try {
    const client = knownClient({ auth: entry.auth, as, redirectUri: '', clientDocument: undefined, reach });
    if (!client) throw new ConnectionFailure('refused', 'the entry has no client_id');
    const parameters = { resource, ...(scopes.length > 0 && { scope: scopes.join(' ') }) };
    const tokens = await withOAuth(async () =>
      tokensIn(
        await oauth.processClientCredentialsResponse(
          as,
          client,
          await oauth.clientCredentialsGrantRequest(
            as,
            client,
            clientAuthentication(client),
            parameters,
            requestOptions('the token endpoint', reach),
          ),
        ),
        scopes,
        now(),
      ),
    );
    const connection: Connection = {
      ...{
        scope: account.scope,
        user: account.user ?? '',
        server: entry.id,
        url: entry.url,
        issuer,
        resource,
      },
      ...{ state: 'connected', scopes: [...tokens.scopes], connected_at: now(), client },
      ...(tokens.expires_at !== undefined && { expires_at: tokens.expires_at }),
      access_token: tokens.access_token,
      refresh_token: undefined,
    };
    await rows.put(connection);
    observe('ok');
    return connection;
  } catch (error) {
    observe('failed');
    throw transient(entry, error);
  }
};
