import { Invalid } from '../schema/outcome.ts';

/** Ids of the tools that MCP servers bring (agent-loop.md 1.3). Different names may lead to the same id. */

export const mcpToolId = (server: string, tool: string): string =>
  `mcp__${component(server, 'server')}__${component(tool, 'tool')}`;

/** What the ids of a server's tools begin with. @throws Invalid when nothing is left of the name */
export const mcpToolPrefix = (server: string): string => `mcp__${component(server, 'server')}__`;

/** @throws Invalid when nothing is left of the name */
const component = (name: string, what: string): string => {
  const id = name.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_|_$/g, '');
  if (id === '') throw new Invalid(`mcp ${what} name '${name}' has no letter and no digit`);
  return id;
};
