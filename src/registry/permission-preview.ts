import { type PermissionPreview, previewPermissions } from '../plugins/permission/preview.ts';
import type { AgentSpec } from '../schema/agent.ts';
import { withMcpNames } from '../tools/mcp-names.ts';
import { compileToolRules } from '../tools/tool-rules.ts';

/** What is there for an agent to be allowed. */
export type Offer = {
  /** ids of all registered tools: built-in, of plugins, of MCP servers */
  tools: readonly string[];
  /** ids of the configured MCP servers */
  mcp_servers: readonly string[];
};

/**
 * Which tools an agent has before any call (config.md 6.4).
 *
 * @throws Invalid when its permission section is not legal
 */
export const permissionPreview = (agent: AgentSpec, { tools, mcp_servers }: Offer): PermissionPreview =>
  previewPermissions(agent, tools.filter(compileToolRules(withMcpNames(agent, mcp_servers))));
