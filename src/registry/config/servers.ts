import type { A2aServerSpec } from '../../schema/a2a-server.ts';
import type { AgentSpec } from '../../schema/agent.ts';
import type { McpServerSpec } from '../../schema/mcp-server.ts';
import type { Tool } from '../../tools/tool.ts';

/** What a publication asks of the rooms that talk to other services. It never waits for them under its lock. */

export type McpServers = {
  /**
   * The first connection of an entry that is new or changed, before it is stored. @throws Error that says why not
   */
  connect(spec: McpServerSpec): Promise<McpConnection>;
  /** Tools of the servers that are connected now, by id of the server. */
  tools(): ReadonlyMap<string, readonly Tool[]>;
  /** The servers that have just gone live; must not throw. */
  apply(specs: readonly McpServerSpec[]): void;
  /** The servers that have an entry, hidden ones included; must not throw. */
  retain(servers: ReadonlySet<string>): void;
  /** Tools that are not offered, by server. */
  leftOut(): readonly { server: string; tools: readonly { name: string; reason: string }[] }[];
};

export type McpConnection = {
  tools: readonly Tool[];
  /** The entry was refused after all. Does nothing to one that has gone live. */
  discard(): void;
};

export type A2aServers = {
  /** ids of servers that are no entries. */
  readonly own: readonly string[];
  /** Agents of the servers that are known now; `registry` is the id of the server. */
  discovered(): readonly AgentSpec[];
  apply(specs: readonly A2aServerSpec[]): void;
};
