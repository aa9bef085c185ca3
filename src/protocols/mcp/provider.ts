import type { Implementation, Server, ServerCapabilities } from '@modelcontextprotocol/server';
import type { Sdk } from './sdk.ts';

/** A provider of MCP features, which the protocol core serves with and without sessions. */
export type McpProvider = {
  readonly info: Implementation;
  readonly capabilities: ServerCapabilities;
  /** Binds the features to a server of one session, or of one request without a session. */
  bind(server: Server, scope: string, sdk: Sdk): void;
};
