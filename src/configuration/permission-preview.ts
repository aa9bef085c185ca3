import { type PermissionPreview, previewPermissions } from '../plugins/permission/preview.ts';
import type { AgentSpec } from '../schema/agent.ts';
import { withMcpNames } from '../tools/mcp-names.ts';
import { compileToolRules } from '../tools/tool-rules.ts';

/** The tools that an agent can be permitted to use. */
export type Offer = {
  /** Ids of all registered tools: built-in ones and those of plugins and MCP servers. */
  tools: readonly string[];
  /** Ids of the configured MCP servers. */
  mcp_servers: readonly string[];
};

/**
 * Previews the tool permissions of an agent before any call (config.md 6.4).
 *
 * @throws Invalid when its permission section is invalid
 */
export const permissionPreview = (agent: AgentSpec, { tools, mcp_servers }: Offer): PermissionPreview =>
  previewPermissions(agent, tools.filter(compileToolRules(withMcpNames(agent, mcp_servers))));
