import type { CallToolResult, ServerContext, Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { AgentSpec } from '../../schema/agent.ts';
import { type AgentCallDeps, type AgentCaller, callAgent } from './agent-call.ts';
import type { McpProvider } from './provider.ts';

/** Every agent is a tool (mcp.md A8, A9). */

export type AgentToolsDeps = AgentCallDeps & {
  version: string;
  /** Agents that are live; another object after each publication. */
  published(): { readonly ids: readonly string[] };
  uptimeSeconds(): number;
};

const NAME = 'troupe-mcp';

export const createAgentTools = (deps: AgentToolsDeps): McpProvider => {
  const tools = createToolList(deps);
  const isAgent = (name: string): boolean => deps.published().ids.includes(name);
  return {
    info: { name: NAME, version: deps.version },
    capabilities: { tools: { listChanged: true }, logging: {} },
    bind(server, scope) {
      server.setRequestHandler('tools/list', () => ({ tools: tools() }));
      server.setRequestHandler('tools/call', async ({ params }, context) => {
        const { name, arguments: { message } = {} } = params;
        if (!isAgent(name)) return textResult(`Unknown tool: ${name}`, true);
        if (typeof message !== 'string' || message === '') return textResult(NO_MESSAGE, true);
        const { kind, text } = await callAgent(deps, callerOf(scope, context), { agent_id: name, message });
        return textResult(text, kind !== 'ended');
      });
      server.setRequestHandler('health/check', { params: z.unknown() }, () => ({
        status: 'healthy',
        uptime_seconds: deps.uptimeSeconds(),
        server_name: NAME,
        server_version: deps.version,
        tool_count: deps.published().ids.length,
      }));
    },
  };
};

const NO_MESSAGE = "'message' parameter is required and must be non-empty";

const textResult = (text: string, isError: boolean): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError,
});

const callerOf = (scope: string, { mcpReq }: ServerContext): AgentCaller => {
  const token = mcpReq._meta?.progressToken;
  // What the client cannot be told any more, nobody misses.
  const dropped = (): void => {};
  return {
    scope,
    signal: mcpReq.signal,
    log: (level, text, logger) => {
      mcpReq.log(level, text, logger).catch(dropped);
    },
    progress:
      token === undefined
        ? undefined
        : (progress, message) => {
            const params = { progressToken: token, progress, message };
            mcpReq.notify({ method: 'notifications/progress', params }).catch(dropped);
          },
  };
};

/** In the order of their names; made once for each publication. */
const createToolList = ({ published, resolve }: Pick<AgentToolsDeps, 'published' | 'resolve'>) => {
  let of: object | undefined;
  let tools: Tool[] = [];
  const describe = (id: string): string => {
    try {
      return about(resolve(id).spec) || nameless(id);
    } catch {
      return nameless(id);
    }
  };
  return (): Tool[] => {
    const now = published();
    if (of !== now) {
      of = now;
      tools = [...now.ids].sort().map((id) => ({ name: id, description: describe(id), inputSchema: INPUT }));
    }
    return tools;
  };
};

const nameless = (id: string): string => `Agent: ${id}`;

/** A system prompt is internal text, so what is meant for readers goes before it. */
const about = ({ description = '', system_prompt = '' }: AgentSpec): string =>
  shortened(description.trim() || system_prompt);

const MOST_CHARACTERS = 200;

const shortened = (text: string): string => {
  const characters = [...text.slice(0, 2 * MOST_CHARACTERS + 2)];
  if (characters.length <= MOST_CHARACTERS) return text;
  return `${characters.slice(0, MOST_CHARACTERS).join('')}…`;
};

const INPUT: Tool['inputSchema'] = {
  type: 'object',
  properties: { message: { type: 'string', description: 'The user message to send to the agent' } },
  required: ['message'],
};
