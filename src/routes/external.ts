import { z } from 'zod';
import { reply, route } from '../http/route.ts';
import { ProviderTest } from '../models/provider-test.ts';
import { liveEntry } from '../registry/config/live-entry.ts';
import { A2aServerSpec } from '../schema/a2a-server.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { JsonObject } from '../schema/json.ts';
import { McpInventory, McpStatus, McpToolsAcceptance } from '../schema/mcp-status.ts';
import { NotFound } from '../schema/outcome.ts';
import { problemsOf } from '../schema/problems.ts';
import { callerOf } from './caller.ts';
import { configOf, EntryParams } from './managed.ts';
import type { Rooms } from './rooms.ts';

/** How the services are that entries name: providers, MCP servers, A2A servers (config.md 12, 13). */

const A2aStatus = z
  .object({
    connected: z.boolean(),
    last_error: z.string().nullable(),
    card_url: z.string().nullable(),
    card: JsonObject.nullable(),
  })
  .meta({ id: 'A2aServerStatus', description: 'Its card, or why there is none.' });

const admin = { tag: 'servers', scope: 'admin', params: EntryParams } as const;
const missing = { 404: ErrorBody };

export const externalRoutes = (
  rooms: Pick<Rooms, 'config' | 'mcp' | 'readCard' | 'testProvider' | 'store'>,
) => [
  route.post('/v1/providers/:id/test', {
    ...admin,
    id: 'testProvider',
    summary: 'Can a stored provider be used? No inference is asked for',
    description:
      'Builds the provider from its stored entry and asks its host whether it is there. `ok: false` comes with the reason.',
    responses: { 200: ProviderTest, ...missing },
    handle: ({ params }) => rooms.testProvider(configOf(rooms).providerSpec(params.id)),
  }),
  ...mcpRoutes(rooms),
  route.get('/v1/a2a-servers/:id/status', {
    ...admin,
    id: 'getA2aServerStatus',
    summary: 'The agent card of an A2A server, or why there is none',
    description: 'Reads the card of the remote server, at most every 15 seconds.',
    responses: { 200: A2aStatus, ...missing },
    handle({ params: { id } }) {
      configOf(rooms);
      const spec = liveEntry(rooms.store, 'a2a-servers', id);
      if (!spec) throw new NotFound(`a2a-server/${id}`);
      const server = A2aServerSpec.safeParse(spec, { reportInput: true });
      if (server.success) return rooms.readCard(server.data);
      // Of an earlier version, or of a hand in the store.
      const last_error = `the stored entry is not legal: ${problemsOf(server.error).join('; ')}`;
      return { connected: false, last_error, card_url: null, card: null };
    },
  }),
];

const mcpRoutes = (rooms: Pick<Rooms, 'config' | 'mcp'>) => [
  route.get('/v1/mcp-servers/:id/status', {
    ...admin,
    id: 'getMcpServerStatus',
    summary: 'How the connection to an MCP server is',
    description: 'Whether it is connected, the last error, and the tools that it has brought.',
    responses: { 200: McpStatus, ...missing },
    handle({ params }) {
      configOf(rooms);
      return rooms.mcp.status(params.id);
    },
  }),
  route.get('/v1/mcp-servers/:id/inventory', {
    ...admin,
    id: 'getMcpServerInventory',
    summary: 'The status of an MCP server, its prompts and its resources',
    description: 'With the name and the transport of the server beside each.',
    responses: { 200: McpInventory, ...missing },
    handle({ params }) {
      configOf(rooms);
      return rooms.mcp.inventory(params.id);
    },
  }),
  route.post('/v1/mcp-servers/:id/tools/accept', {
    ...admin,
    id: 'acceptMcpTools',
    summary: 'Accept definitions of tools that are new or have changed',
    description:
      'Each is named with the digest that `changed_tools` of the status shows, so that only what was looked at is accepted: all of them, or none. With `pin_tools` in its entry the server’s tools are offered from then on.',
    headers: ['X-Service-Actor'],
    body: McpToolsAcceptance,
    responses: { 200: McpStatus, 409: ErrorBody, ...missing },
    async handle({ params: { id }, body: { tools }, ...request }) {
      const caller = callerOf(request);
      const { audit } = configOf(rooms);
      const status = await rooms.mcp.acceptTools(id, tools);
      await audit.record(
        { action: 'tools_accepted', resource: `mcp-servers/${id}`, after: { tools } },
        caller,
      );
      return status;
    },
  }),
  route.post('/v1/mcp-servers/:id/restart', {
    ...admin,
    id: 'restartMcpServer',
    summary: 'Connect to an MCP server anew',
    description: 'Answers before the connection is there: its status tells how it goes.',
    headers: ['X-Service-Actor'],
    responses: { 202: 'empty', ...missing },
    async handle({ params: { id }, ...request }) {
      const caller = callerOf(request);
      const { audit } = configOf(rooms);
      rooms.mcp.restart(id);
      await audit.record({ action: 'restart', resource: `mcp-servers/${id}` }, caller);
      return reply(202);
    },
  }),
];
