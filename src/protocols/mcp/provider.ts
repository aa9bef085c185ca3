import type { Implementation, Server, ServerCapabilities, ServerContext } from '@modelcontextprotocol/server';
import type { Principal } from '../../schema/principal.ts';
import type { Sdk } from './sdk.ts';

/** Returns whom a request acts for: requests of one session may have different credentials of one user. */
export type PrincipalOf = (context: Pick<ServerContext, 'mcpReq'>) => Principal;

/** A provider of MCP features, which the protocol core serves with and without sessions. */
export type McpProvider = {
  readonly info: Implementation;
  readonly capabilities: ServerCapabilities;
  /** Binds the features to a server of one session, or of one request without a session. */
  bind(server: Server, principalOf: PrincipalOf, sdk: Sdk): void;
};
