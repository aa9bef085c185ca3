import { createHash } from 'node:crypto';
import { mcpSegment } from '../schema/mcp-names.ts';
import { Invalid } from '../schema/outcome.ts';

/** Ids of the tools that MCP servers bring (agent-loop.md 1.3). Different names may lead to the same id. */

/** @throws Invalid when nothing is left of a name */
export const mcpToolId = (server: string, tool: string): string => {
  const id = `${mcpToolPrefix(server)}${component(tool)}`;
  if (id.length <= LONGEST) return id;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, HASH);
  return `${id.slice(0, LONGEST - HASH - 1)}_${hash}`;
};

/** Of the name of a function, at providers of models. */
const LONGEST = 64;
const HASH = 8;

/** What the ids of a server's tools begin with. @throws Invalid when nothing is left of the name */
export const mcpToolPrefix = (server: string): string => `mcp__${component(server)}__`;

/** @throws Invalid when nothing is left of the name */
const component = (name: string): string => {
  const id = mcpSegment(name);
  if (id === '') throw new Invalid(`invalid tool id component after sanitization: ${name}`);
  return id;
};
