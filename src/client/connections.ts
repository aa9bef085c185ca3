import type {
  Authorization,
  AuthorizationEnd,
  ConnectionList,
  StartedAuthorization,
} from '../schema/authorization.ts';
import { type Connection, call, path } from './connection.ts';

type Options = { signal?: AbortSignal };

/**
 * Connected accounts of users at MCP servers (identity.md 6.2): `client.connections`.
 *
 * A browser that is signed in to the service opens the `url` of the authorization. An app with separate users calls
 * `start` and `confirm` instead, with a credential of the user, as in the example.
 *
 * @example
 * ```ts
 * const begin = async (server: string): Promise<string> => {
 *   const { id } = await client.connections.connect(server);
 *   const { url } = await client.connections.start(id, { return_to: 'https://app.example/connected' });
 *   return url; // for the browser of the user
 * };
 * // The browser returns to https://app.example/connected?authorization=…&code=…
 * const end = async (returned: URLSearchParams): Promise<string> => {
 *   const code = returned.get('code');
 *   if (code === null) return `not connected: ${returned.get('error')}`;
 *   const { server } = await client.connections.confirm(returned.get('authorization') ?? '', { code });
 *   return `${server} is connected`;
 * };
 * ```
 */
export type Connections = {
  /** Lists the connected accounts of a user, by default of the caller. Other users need `manage`. */
  list(of?: { user?: string }, options?: Options): Promise<ConnectionList>;
  /**
   * Offers an authorization to connect an account at a server. Calls that wait for the account share it.
   *
   * @throws NotFound; Unauthorized if the credential may not use the accounts of its user
   */
  connect(server: string, options?: Options): Promise<Authorization>;
  /**
   * Removes an account, and revokes its tokens at the authorization server where that is possible.
   *
   * @throws NotFound
   */
  disconnect(server: string, of?: { user?: string }, options?: Options): Promise<void>;
  /**
   * Starts an authorization from an app, and returns the address for the browser of the user.
   *
   * @param id the `id` of an authorization, or the argument `authorization` of a ticket that waits for an account
   * @param how `return_to`: an address of the service or of an origin that is listed for CORS. The browser is sent there
   * with `authorization` and `code`, or with `error`
   * @throws NotFound, InvalidRequest, Conflict
   */
  start(id: string, how: { return_to: string }, options?: Options): Promise<StartedAuthorization>;
  /**
   * Connects the account with the code that `return_to` has received, and resumes the calls that wait for it.
   *
   * @throws NotFound; Unauthorized for the credential of another user, which drops the tokens
   */
  confirm(id: string, received: { code: string }, options?: Options): Promise<AuthorizationEnd>;
};

export const createConnections = (connection: Connection): Connections => ({
  list: (query = {}, options) => call(connection, 'GET', '/v1/connections', { ...options, query }),
  connect: (server, options) => call(connection, 'POST', '/v1/connections', { ...options, body: { server } }),
  disconnect: (server, query = {}, options) =>
    call(connection, 'DELETE', path`/v1/connections/${server}`, { ...options, query }),
  start: (id, body, options) =>
    call(connection, 'POST', path`/v1/authorizations/${id}/start`, { ...options, body }),
  confirm: (id, body, options) =>
    call(connection, 'POST', path`/v1/authorizations/${id}/confirm`, { ...options, body }),
});
