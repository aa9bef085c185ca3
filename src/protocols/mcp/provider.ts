import type { Implementation, Server, ServerCapabilities } from '@modelcontextprotocol/server';
import type { Sdk } from './sdk.ts';

/** What is offered over MCP: the protocol core serves any of it, with sessions and without. */
export type McpProvider = {
  readonly info: Implementation;
  readonly capabilities: ServerCapabilities;
  /** Binds what it offers to a server, which is that of one session, or of one request that has none. */
  bind(server: Server, scope: string, sdk: Sdk): void;
};
