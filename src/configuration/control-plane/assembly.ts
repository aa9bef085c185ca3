import type { AgentSpec } from '../../schema/agent.ts';
import { agentJson } from '../../schema/agent-json.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { createCatalogue } from '../../tools/catalogue.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Content } from './content.ts';
import { makePart, type Part } from './parts.ts';
import type { A2aServers, McpServers } from './servers.ts';
import { toolPart } from './tool-parts.ts';

/** The parts without records: tools of the process and of MCP servers, and discovered agents. */

export type AssemblyDeps = {
  /** Registered by the embedding program. */
  tools: readonly Tool[];
  mcp: McpServers | undefined;
  a2a: A2aServers | undefined;
};

/** Tools of a server whose entry is being written and not live yet. */
export type Connected = { server: string; tools: readonly Tool[] };

export type Assembled = {
  parts: readonly Part[];
  /** Tools of the connected server with existing ids; they are omitted, as for any other server. */
  conflicts: readonly string[];
};

export type Assembly = {
  assemble(content: Content, connected?: Connected): Assembled;
  /** Returns a currently registered tool. */
  tool(id: string): Tool | undefined;
};

/** @throws Invalid when two registered tools have the same id */
export const createAssembly = ({ tools, mcp, a2a }: AssemblyDeps): Assembly => {
  const registered = createCatalogue(tools);
  return {
    assemble(content, connected) {
      const byServer = mcp?.tools();
      const all = new Map(registered.all().map((tool) => [tool.descriptor.id, tool]));
      const conflicts: string[] = [];
      const add = (tool: Tool): boolean => {
        const { id } = tool.descriptor;
        if (all.has(id)) return false;
        all.set(id, tool);
        return true;
      };
      for (const { id: server } of content.mcpServers) {
        if (server !== connected?.server) byServer?.get(server)?.forEach(add);
      }
      for (const tool of connected?.tools ?? []) if (!add(tool)) conflicts.push(tool.descriptor.id);
      const toolParts = Array.from(all.values(), (tool) =>
        toolPart(tool, content.descriptions.get(tool.descriptor.id)),
      );
      return { parts: [...withFound(content.parts, a2a?.discovered() ?? []), ...toolParts], conflicts };
    },
    tool: (id) =>
      registered.get(id) ??
      Array.from(mcp?.tools().values() ?? [])
        .flat()
        .find(({ descriptor }) => descriptor.id === id),
  };
};

/** Discovered agents are named `<server>/<id>`, and also have their plain id if it is unused. */
const withFound = (parts: readonly Part[], found: readonly AgentSpec[]): readonly Part[] => {
  if (found.length === 0) return parts;
  const taken = new Set(parts.filter(({ kind }) => kind === 'agent').map(({ id }) => id));
  const more: Part[] = [];
  const add = (spec: AgentSpec): void => {
    if (taken.has(spec.id)) return;
    taken.add(spec.id);
    const json: object = agentJson(spec);
    // The written form has no undefined members, so it is JSON.
    more.push(makePart('agent', { id: spec.id, value: json as JsonObject, entry: spec }));
  };
  for (const spec of found) add({ ...spec, id: `${spec.registry}/${spec.id}` });
  for (const spec of found) add(spec);
  return [...parts, ...more];
};
