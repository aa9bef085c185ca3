import type { ActingAccount } from '../schema/account.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import type { Json, Suspension, ToolContext } from '../tools/tool.ts';

/**
 * The access tokens that requests to a server with `auth` carry. This module only asks for them; the composition binds
 * the source to `src/connections`.
 */
export type TokenSource = {
  /**
   * Returns the token for requests of an account to a server, which a refresh may delay.
   *
   * @param refusal the response to a request with an earlier token; the token is refreshed, or lacks scopes
   * @throws Error with the reason when there is none for now, although the account is connected
   */
  token(account: ActingAccount, spec: McpServerSpec, refusal?: TokenRefusal): Promise<TokenAnswer>;
};

/** `challenge`: the header `WWW-Authenticate`. */
export type TokenRefusal = { token: string; status: 401 | 403; challenge: string | undefined };

export type TokenAnswer =
  | { type: 'token'; token: string }
  | AuthRequired
  /** A connection would not help, such as for a run without a user; the call fails with this message. */
  | { type: 'refused'; message: string };

/** The account is not connected to the server, or its connection has expired. */
export type AuthRequired = {
  type: 'auth_required';
  server: string;
  /** The scopes that an authorization would request. */
  scopes: readonly string[];
};

/**
 * Turns a call without a usable token into a suspension, which ends once the account is connected. The call is then
 * executed again.
 *
 * @throws ToolError when the call cannot wait
 */
export type AwaitAuthorization = (
  needed: AuthRequired,
  call: { tool: string; args: Json; context: ToolContext; account: ActingAccount },
) => Promise<Suspension>;
