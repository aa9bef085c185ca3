import { createHash } from 'node:crypto';
import { mcpSegment } from '../schema/mcp-names.ts';
import { Invalid } from '../schema/outcome.ts';

/** Ids of MCP tools (agent-loop.md 1.3). Different names may map to the same id. */

/** @throws Invalid if a sanitized name is empty */
export const mcpToolId = (server: string, tool: string): string => {
  const id = `${mcpToolPrefix(server)}${component(tool)}`;
  if (id.length <= LONGEST) return id;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, HASH);
  return `${id.slice(0, LONGEST - HASH - 1)}_${hash}`;
};

/** Maximum length of function names at model providers. */
const LONGEST = 64;
const HASH = 8;

/** The prefix of all tool ids of a server. @throws Invalid if the sanitized name is empty */
export const mcpToolPrefix = (server: string): string => `mcp__${component(server)}__`;

/** @throws Invalid if the sanitized name is empty */
const component = (name: string): string => {
  const id = mcpSegment(name);
  if (id === '') throw new Invalid(`invalid tool id component after sanitization: ${name}`);
  return id;
};
