import type { Account, ActingAccount } from '../schema/account.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';

/**
 * The interface of connections: accounts of users at the authorization servers of MCP servers (identity.md 6).
 *
 * A connection begins with an authorization: `begin` returns the address for the browser and an attempt, which the
 * caller keeps sealed; `exchange` redeems the code of the callback, and `store` makes its tokens usable. Servers are
 * named by the id of their entry in `mcp-servers`, whose `auth` has the flow `authorization_code`.
 */
export type Connections = {
  /** Returns whether connections of the account to the server are possible, and what an authorization requests. */
  discover(server: string): Promise<AuthorizationFacts>;
  /** Registers a client if there is none, and makes the address that the browser is sent to. Stores nothing. */
  begin(request: AuthorizationRequest): Promise<BegunAuthorization>;
  /**
   * Validates the query of the callback (`state`, `iss`) and redeems its code. Nothing is sent if they do not match, or
   * if the entry has changed since `begin`. A code is redeemed once.
   */
  exchange(attempt: AuthorizationAttempt, callback: URLSearchParams): Promise<GrantedTokens>;
  /**
   * Commits the tokens of an exchange as the connection of the account, and replaces an earlier one. Listeners of
   * `onConnected` are called after the commit.
   */
  store(account: Account, server: string, tokens: GrantedTokens): Promise<void>;
  /** Revokes tokens that will not be stored, such as those of an unconfirmed authorization; never fails. */
  discard(tokens: GrantedTokens): Promise<void>;
  /** Connections of an account to servers that are configured, by server id. */
  list(account: Account): ListedConnection[];
  /** Revokes the tokens at the authorization server where it offers that, and removes the connection. */
  revoke(account: Account, server: string): Promise<boolean>;
  /** Removes all connections of a deleted user. */
  removeAll(account: Account): Promise<void>;
  /**
   * Returns a token that is usable for the next minute; one refresh at a time per connection. The token of a server with
   * `client_credentials` is the same for all accounts.
   */
  token(account: ActingAccount, spec: McpServerSpec, refusal?: TokenRefusal): Promise<ConnectionToken>;
  /** The returned function removes the listener, which must not throw. */
  onConnected(listener: (account: Account, server: string) => void): () => void;
  /** Called when a connection was removed, or ended by the authorization server. */
  onEnded(listener: (account: Account, server: string) => void): () => void;
  /**
   * Applies the published entries: connections of changed ones are removed. Must not throw.
   *
   * @param specs those with `auth`
   */
  apply(specs: readonly McpServerSpec[]): void;
  /** Removes connections to servers that have no entry. Must not throw. */
  retain(servers: ReadonlySet<string>): void;
  /** Resolves when pending writes have ended. */
  close(): Promise<void>;
};

export type AuthorizationFacts = {
  issuer: string;
  /** The resource indicator of the server. */
  resource: string;
  /** The scopes that will be requested. */
  scopes: readonly string[];
  /** Whether the entry does not bound the scopes, so that the user must confirm them before START. */
  confirm_scopes: boolean;
};

export type AuthorizationRequest = {
  server: string;
  redirectUri: string;
  /** The address of `GET /oauth/client.json`; undefined unless it is https. */
  clientDocument: string | undefined;
  /** The scopes that were shown. Others than these are not requested. */
  scopes: readonly string[];
};

export type BegunAuthorization = { url: string; state: string; attempt: AuthorizationAttempt };

/** Contains secrets: the verifier, and perhaps a client secret. It is JSON, and is persisted only sealed. */
export type AuthorizationAttempt = {
  server: string;
  /** The address in the entry of the server. */
  url: string;
  issuer: string;
  resource: string;
  scopes: readonly string[];
  state: string;
  verifier: string;
  redirect_uri: string;
  client: RegisteredClient;
};

export type RegisteredClient = {
  client_id: string;
  client_secret?: string;
  token_endpoint_auth_method: 'none' | 'client_secret_basic' | 'client_secret_post';
};

/** Contains secrets; persisted only sealed. */
export type GrantedTokens = {
  server: string;
  url: string;
  issuer: string;
  resource: string;
  scopes: readonly string[];
  client: RegisteredClient;
  access_token: string;
  refresh_token?: string;
  /** Milliseconds; absent if the authorization server did not report it. */
  expires_at?: number;
};

export type ListedConnection = {
  server: string;
  state: 'connected' | 'expired';
  scopes: readonly string[];
  issuer: string;
  connected_at: number;
  /** Milliseconds; that of the access token. */
  expires_at?: number;
};

/** The response of the MCP server to a request with a token. */
export type TokenRefusal = {
  token: string;
  /** 401: the token is refreshed; 403: it lacks scopes. */
  status: 401 | 403;
  /** The header `WWW-Authenticate`. */
  challenge: string | undefined;
};

export type ConnectionToken =
  | { type: 'token'; token: string }
  /** `none`: never connected, or removed; `expired`: the authorization server ended the connection. */
  | { type: 'none' | 'expired'; scopes: readonly string[] }
  | { type: 'refused'; message: string };
