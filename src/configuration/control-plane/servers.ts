import type { A2aServerSpec } from '../../schema/a2a-server.ts';
import type { AgentSpec } from '../../schema/agent.ts';
import type { BudgetSpec } from '../../schema/budget.ts';
import type { McpServerSpec } from '../../schema/mcp-server.ts';
import type { Tool } from '../../tools/tool.ts';

/** The operations on external servers that a publication uses. It never waits for a server while it holds the lock. */

export type McpServers = {
  /** Opens the first connection of a new or changed entry before it is stored. @throws Error with the reason */
  connect(spec: McpServerSpec): Promise<McpConnection>;
  /** Returns the tools of connected servers by server id. */
  tools(): ReadonlyMap<string, readonly Tool[]>;
  /** Applies the published servers; must not throw. */
  apply(specs: readonly McpServerSpec[]): void;
  /** Keeps the data of servers with an entry, hidden ones included; must not throw. */
  retain(servers: ReadonlySet<string>): void;
  /** Returns tools that are not offered, by server. */
  leftOut(): readonly { server: string; tools: readonly { name: string; reason: string }[] }[];
};

export type McpConnection = {
  tools: readonly Tool[];
  /** Closes the connection if the entry was rejected. Does nothing for a live entry. */
  discard(): void;
};

export type A2aServers = {
  /** Ids of servers that are not entries. */
  readonly own: readonly string[];
  /** Returns the discovered agents; `registry` is the id of the server. */
  discovered(): readonly AgentSpec[];
  apply(specs: readonly A2aServerSpec[]): void;
};

/** Receives the published budgets; must not throw. */
export type Budgets = { apply(specs: readonly BudgetSpec[]): void };
