import type { JsonObject } from '../schema/endpoint.ts';
import { mcpToolId } from '../tools/mcp-id.ts';
import type { Json, Tool, ToolContext, ToolOutput } from '../tools/tool.ts';
import type { Connection } from './connection.ts';
import { wordsOf } from './failure.ts';
import type { ToolDefinition } from './listing.ts';

/** The tools of a server as the catalogue has them (mcp.md B7). */

export type Call = (tool: ToolDefinition, args: Json, context: ToolContext) => Promise<ToolOutput>;

/** Those that cannot be offered are left out, with the reason. */
export const toolsOf = (
  { definitions, target, spec }: Pick<Connection, 'definitions' | 'target' | 'spec'>,
  call: Call,
): { tools: readonly Tool[]; problems: readonly string[] } => {
  const tools = new Map<string, Tool>();
  const problems: string[] = [];
  for (const definition of definitions) {
    try {
      const id = mcpToolId(spec.id, definition.name);
      if (tools.has(id)) problems.push(`tool id already registered: ${id}`);
      else tools.set(id, toolOf(definition, { id, server: spec.id, transport: target.kind }, call));
    } catch (error) {
      problems.push(wordsOf(error));
    }
  }
  return { tools: [...tools.values()], problems };
};

const toolOf = (
  definition: ToolDefinition,
  { id, server, transport }: { id: string; server: string; transport: string },
  call: Call,
): Tool => {
  const { name, title, annotations, description, inputSchema, group } = definition;
  const metadata: JsonObject = { 'mcp.server': server, 'mcp.tool': name, 'mcp.transport': transport };
  return {
    descriptor: {
      id,
      name: title ?? annotations?.title ?? name,
      description: description ?? `MCP tool ${name}`,
      parameters: inputSchema,
      category: group ?? null,
      metadata,
    },
    idempotent: false,
    exclusive: false,
    checksOwnArguments: false,
    execute: (args, context) => call(definition, args, context),
  };
};
