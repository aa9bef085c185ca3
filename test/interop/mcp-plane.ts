import type { Test } from 'tap';
import type { McpInventory, McpStatus } from '../../src/schema/mcp-status.ts';
import { type Plane, planeOf } from '../service/config/plane.ts';
import { asks, type Call } from '../service/models.ts';
import { eventually, type RunEventLike, startTroupe, type TroupeOptions } from '../service/troupe.ts';

/** A real service with configured MCP servers, and an agent that uses their tools. */

export type McpPlane = Plane & {
  /** Stores an entry and expects success. */
  add(entry: object): Promise<void>;
  status(id: string): Promise<McpStatus>;
  inventory(id: string): Promise<McpInventory>;
  /** Polls the status until it matches. */
  until(id: string, holds: (status: McpStatus) => boolean): Promise<McpStatus>;
  /** Executes one step of a run of the agent `steps`, and returns the outcome of each call in order. */
  use(...calls: Call[]): Promise<Done[]>;
  /** Resolves once this tool is available to agents. */
  offers(tool: string): Promise<void>;
};

export type Done = RunEventLike & {
  outcome: string;
  result: { data: unknown; message: string | null; status: string; metadata?: Record<string, unknown> };
};

const HELLO = { agentId: 'steps', messages: [{ role: 'user', content: 'Hello' }] };

export const startMcpPlane = async (t: Test, options?: TroupeOptions): Promise<McpPlane> => {
  const plane = planeOf(await startTroupe(t, options));
  const { troupe, get, post } = plane;
  const read = async (path: string) => {
    const { status, body } = await get(path);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  // The responses match the schemas of their routes, which the tests of the routes check.
  const status = async (id: string) => (await read(`/v1/mcp-servers/${id}/status`)) as McpStatus;
  return {
    ...plane,
    async add(entry) {
      const { status, body } = await post('/v1/config/mcp-servers', entry);
      if (status !== 201) throw new Error(`the entry was not stored: ${status} ${JSON.stringify(body)}`);
    },
    status,
    inventory: async (id) => (await read(`/v1/mcp-servers/${id}/inventory`)) as McpInventory,
    until: (id, holds) => eventually(() => status(id), holds),
    async use(...calls) {
      troupe.models.steps.push(asks(...calls));
      const events = await troupe.runToEnd(HELLO);
      return events.filter((event): event is Done => event.event_type === 'tool_call_done');
    },
    async offers(tool) {
      await eventually(
        async () => (await read('/v1/capabilities')).tools,
        (tools) => Array.isArray(tools) && tools.some(({ id }) => id === tool),
      );
    },
  };
};
