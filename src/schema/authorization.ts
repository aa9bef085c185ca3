import type { StateValueFrom } from 'xstate';
import { z } from 'zod';
import type { authorizationMachine } from '../../machines/authorization.ts';
import type { JsonObject } from './json.ts';

/** Authorizations: tries of users to connect their accounts at the servers of tools (identity.md 6.2). */

/** The state of the machine that a record was written in. */
export type AuthorizationState = StateValueFrom<typeof authorizationMachine>;

/**
 * An authorization as stored, without its secrets. It keeps its id when an unsuccessful try is started again, so that
 * the address in a ticket stays valid.
 */
export type AuthorizationHead = {
  readonly id: string;
  readonly scope: string;
  /** Absent for the account of requests without a user. */
  readonly user: string | undefined;
  /** The id of the entry in `mcp-servers`. */
  readonly server: string;
  /** The authorization server of the started try, and the resource that it grants access to. */
  readonly issuer: string | undefined;
  readonly resource: string | undefined;
  readonly state: AuthorizationState;
  readonly scopes: readonly string[];
  /** Times are in milliseconds. */
  readonly offered_at: number;
  readonly started: StartedTry | undefined;
};

/**
 * `browser`: started and finished by browsers that are signed in as the user. `app`: started with another credential of
 * the user, which must confirm the tokens; the browser is sent to `return_to`.
 */
export type StartedTry = { readonly at: number; readonly state_digest: string } & (
  | { readonly by: 'browser' }
  | { readonly by: 'app'; readonly return_to: string }
);

/** Everything of a try that must not be readable in the store. */
export type AuthorizationSecrets = {
  /** The verifier and the client, for the exchange of the code. */
  readonly attempt?: JsonObject;
  /** Tokens that are not usable until the user confirms them, with the digest of the code that confirms them. */
  readonly unconfirmed?: { readonly tokens: JsonObject; readonly code_digest: string };
};

export type AuthorizationRow = AuthorizationHead & AuthorizationSecrets;

/** The arguments of a ticket that waits for a connection. */
export const AuthorizationWait = z
  .object({
    server: z.string().meta({ description: 'id of the MCP server' }),
    scopes: z.array(z.string()).readonly().meta({ description: 'scopes that will be requested' }),
    authorization: z.string().meta({ description: 'id of the authorization' }),
    url: z.string().meta({ description: 'address for the browser of the user' }),
    expires_at: z.int().meta({ description: 'time at which the call is cancelled, in milliseconds' }),
  })
  .meta({ id: 'AuthorizationWait', description: 'The account that a call waits for.' });
export type AuthorizationWait = z.infer<typeof AuthorizationWait>;

/** The reason of a ticket that ends when the user connects an account (identity.md 6.2). */
export const AUTH_REQUIRED = 'mcp:auth_required';

export const Authorization = z
  .object({
    id: z.string(),
    server: z.string(),
    state: z.enum([
      'offered',
      'redirected',
      'exchanging',
      'unconfirmed',
      'connected',
      'declined',
      'failed',
      'expired',
    ]),
    scopes: z.array(z.string()).readonly().meta({ description: 'scopes that will be requested' }),
    url: z.string().meta({ description: 'address for the browser of the user' }),
    expires_at: z.int().meta({ description: 'milliseconds since the epoch' }),
  })
  .meta({ id: 'Authorization', description: 'An authorization to connect an account of the user.' });
/**
 * An authorization to connect an account of the user to an MCP server (identity.md 6.2).
 *
 * @example
 * ```ts
 * const { url }: Authorization = await client.connections.connect('calendar');
 * console.log(`Open ${url}`);
 * ```
 */
export type Authorization = z.infer<typeof Authorization>;

export const StartedAuthorization = z
  .object({ url: z.string().meta({ description: 'address of the authorization server for the browser' }) })
  .meta({ id: 'StartedAuthorization', description: 'A started authorization.' });
/**
 * An authorization that an app has started (identity.md 6.2). The browser of the user continues at `url`.
 *
 * @example
 * ```ts
 * const { id } = await client.connections.connect('calendar');
 * const { url }: StartedAuthorization = await client.connections.start(id, {
 *   return_to: 'https://app.example/connected',
 * });
 * ```
 */
export type StartedAuthorization = z.infer<typeof StartedAuthorization>;

export const AuthorizationEnd = z
  .object({ server: z.string(), state: z.literal('connected') })
  .meta({ id: 'AuthorizationEnd', description: 'A confirmed authorization.' });
/**
 * The end of an authorization that an app has started: the account is connected (identity.md 6.2).
 *
 * @example
 * ```ts
 * const finish = async (returned: URL): Promise<AuthorizationEnd> => {
 *   const { authorization = '', code = '' } = Object.fromEntries(returned.searchParams);
 *   return client.connections.confirm(authorization, { code });
 * };
 * ```
 */
export type AuthorizationEnd = z.infer<typeof AuthorizationEnd>;

export const Connection = z
  .object({
    server: z.string().meta({ description: 'id of the MCP server' }),
    state: z.enum(['connected', 'expired']).meta({
      description: '`expired`: the authorization server has ended it; the next call asks to connect again',
    }),
    scopes: z.array(z.string()).readonly(),
    issuer: z.string().meta({ description: 'the authorization server' }),
    connected_at: z.int().meta({ description: 'milliseconds since the epoch' }),
    expires_at: z
      .int()
      .optional()
      .meta({ description: 'end of the current access token, in milliseconds; it is renewed automatically' }),
  })
  .meta({ id: 'Connection', description: 'A connected account of a user.' });
/**
 * A connected account of a user at an MCP server (identity.md 6.2). Times are milliseconds since the epoch.
 *
 * @example
 * ```ts
 * const describe = ({ server, state, scopes }: Connection): string => `${server}: ${state} (${scopes.join(' ')})`;
 * for (const connection of (await client.connections.list()).items) console.log(describe(connection));
 * ```
 */
export type Connection = z.infer<typeof Connection>;

export const ConnectionList = z
  .object({ items: z.array(Connection) })
  .meta({ id: 'ConnectionList', description: 'The connected accounts of a user, by server id.' });
/**
 * The connected accounts of a user, by server id (identity.md 6.2).
 *
 * @example
 * ```ts
 * const { items }: ConnectionList = await client.connections.list();
 * const expired = items.filter(({ state }) => state === 'expired').map(({ server }) => server);
 * ```
 */
export type ConnectionList = z.infer<typeof ConnectionList>;
