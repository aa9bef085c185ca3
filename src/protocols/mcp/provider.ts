import type { Implementation, Server, ServerCapabilities, ServerContext } from '@modelcontextprotocol/server';
import type { Principal } from '../../schema/principal.ts';
import type { Reading } from '../../schema/reader.ts';
import type { Sdk } from './sdk.ts';

/** Returns whom a request acts for: requests of one session may have different credentials of one user. */
export type PrincipalOf = (context: Pick<ServerContext, 'mcpReq'>) => Principal;

/** A request whose parameters are not validated yet. */
export type RpcCall = { readonly method: string; readonly params?: unknown };

/** A provider of MCP features, which the protocol core serves with and without sessions. */
export type McpProvider = {
  readonly info: Implementation;
  readonly capabilities: ServerCapabilities;
  /** Rejects a request that only another access token of its user would allow. @throws Forbidden with the OAuth scopes */
  checkScope(principal: Principal, request: RpcCall): void;
  /** Returns what the response to a request reads; undefined if it reads nothing that a grant protects. */
  readingOf(request: RpcCall): Reading | undefined;
  /** Binds the features to a server of one session, or of one request without a session. */
  bind(server: Server, principalOf: PrincipalOf, sdk: Sdk): void;
};
