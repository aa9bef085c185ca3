import type { JsonObject } from '../schema/endpoint.ts';
import { schemaForModel } from '../schema/model-tool.ts';
import { mcpToolId } from '../tools/mcp-id.ts';
import type { Json, Suspension, Tool, ToolContext, ToolOutput } from '../tools/tool.ts';
import type { Connection } from './connection.ts';
import { wordsOf } from './failure.ts';
import type { LeftOut } from './left-out.ts';
import type { ToolDefinition } from './listing.ts';

/** Converts the tools of a server for the catalog (mcp.md B7). */

export type Call = (
  tool: ToolDefinition,
  args: Json,
  context: ToolContext,
) => Promise<ToolOutput | Suspension>;

type Offered = {
  tools: readonly Tool[];
  offered: readonly ToolDefinition[];
  leftOut: readonly LeftOut[];
  /** Reasons to reject an entry that is being written. */
  refusals: readonly string[];
};

/** `changedAt` returns milliseconds, or 0 for an original definition. */
type Making = { call: Call; changedAt(name: string): number };

/** Omits unusable tools, with the reason. */
export const createTools = (
  { target, spec }: Pick<Connection, 'target' | 'spec'>,
  definitions: readonly ToolDefinition[],
  making: Making,
): Offered => {
  const tools = new Map<string, { tool: Tool; definition: ToolDefinition }>();
  const leftOut: LeftOut[] = [];
  const refusals: string[] = [];
  const leave = ({ name }: ToolDefinition, reason: string): void => void leftOut.push({ name, reason });
  const refuse = (definition: ToolDefinition, reason: string): void => {
    refusals.push(reason);
    leave(definition, reason);
  };
  for (const definition of definitions) {
    const unfit = unfitBecause(definition);
    const id = idOf(spec.id, definition.name);
    if (typeof id !== 'string') refuse(definition, id.reason);
    else if (unfit !== undefined) leave(definition, unfit);
    else if (tools.has(id)) refuse(definition, `tool id already registered: ${id}`);
    else {
      const tool = toolOf(definition, { id, server: spec.id, transport: target.kind }, making);
      tools.set(id, { tool, definition });
    }
  }
  const made = [...tools.values()];
  return {
    tools: made.map(({ tool }) => tool),
    offered: made.map(({ definition }) => definition),
    leftOut,
    refusals,
  };
};

const idOf = (server: string, name: string): string | { reason: string } => {
  try {
    return mcpToolId(server, name);
  } catch (error) {
    return { reason: wordsOf(error) };
  }
};

/** Returns undefined for a usable tool. */
const unfitBecause = ({ inputSchema, execution }: ToolDefinition): string | undefined => {
  if (execution?.taskSupport === 'required')
    return 'the server executes it as a task only, and tasks are not supported';
  const fitted = schemaForModel(inputSchema);
  return 'problem' in fitted ? fitted.problem : undefined;
};

const toolOf = (
  definition: ToolDefinition,
  { id, server, transport }: { id: string; server: string; transport: string },
  { call, changedAt }: Making,
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
    changed_at: changedAt(name),
    execute: (args, context) => call(definition, args, context),
  };
};
