import { z } from 'zod';
import { liveEntry } from '../configuration/control-plane/live-entry.ts';
import { reply, route } from '../http/route.ts';
import { ProviderPreview } from '../models/provider-preview.ts';
import { ProviderTest } from '../models/provider-test.ts';
import { A2aServerSpec } from '../schema/a2a-server.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { JsonObject } from '../schema/json.ts';
import { McpInventory, McpStatus, McpToolsAcceptance } from '../schema/mcp-status.ts';
import { ProviderSpec } from '../schema/model.ts';
import { NotFound } from '../schema/outcome.ts';
import { problemsOf } from '../schema/problems.ts';
import { identifyCaller } from './caller.ts';
import { EntryParams, requireConfig } from './managed.ts';
import type { RouteDeps } from './route-deps.ts';

/** Status of the external services in entries: providers, MCP servers and A2A servers (config.md 12, 13). */

const A2aStatus = z
  .object({
    connected: z.boolean(),
    last_error: z.string().nullable(),
    card_url: z.string().nullable(),
    card: JsonObject.nullable(),
  })
  .meta({ id: 'A2aServerStatus', description: 'The card, or the reason why it is not available.' });

const admin = { tag: 'servers', needs: 'observe', params: EntryParams } as const;
const missing = { 404: ErrorBody };

export const externalRoutes = (
  deps: Pick<RouteDeps, 'config' | 'mcp' | 'readCard' | 'testProvider' | 'previewProvider' | 'store'>,
) => [
  route.post('/v1/providers/:id/test', {
    ...admin,
    needs: 'configure:providers',
    id: 'testProvider',
    summary: 'Test a stored provider without an inference',
    description:
      'Builds the provider from its stored entry and sends a request to its host. `ok: false` contains the reason.',
    responses: { 200: ProviderTest, ...missing },
    handle: ({ params }) => deps.testProvider(requireConfig(deps).providerSpec(params.id)),
  }),
  route.post('/v1/providers/preview', {
    tag: 'servers',
    needs: 'configure:providers',
    id: 'previewProvider',
    summary: 'Test a provider before it is stored, and list its models',
    description:
      'Sends the request of a provider test and returns the models in the response, or those of the catalog if the provider has no list. Nothing is stored.',
    body: ProviderSpec,
    responses: { 200: ProviderPreview, ...missing },
    handle({ body }) {
      requireConfig(deps);
      return deps.previewProvider(body);
    },
  }),
  ...mcpRoutes(deps),
  route.get('/v1/a2a-servers/:id/status', {
    ...admin,
    id: 'getA2aServerStatus',
    summary: 'The agent card of an A2A server',
    description:
      'Reads the card from the remote server at most every 15 seconds; contains the reason if it is not available.',
    responses: { 200: A2aStatus, ...missing },
    handle({ params: { id } }) {
      requireConfig(deps);
      const spec = liveEntry(deps.store, 'a2a-servers', id);
      if (!spec) throw new NotFound(`a2a-server/${id}`);
      const server = A2aServerSpec.safeParse(spec, { reportInput: true });
      if (server.success) return deps.readCard(server.data);
      // The entry was stored by an earlier version or edited manually.
      const last_error = `the stored entry is not legal: ${problemsOf(server.error).join('; ')}`;
      return { connected: false, last_error, card_url: null, card: null };
    },
  }),
];

const mcpRoutes = (deps: Pick<RouteDeps, 'config' | 'mcp'>) => [
  route.get('/v1/mcp-servers/:id/status', {
    ...admin,
    id: 'getMcpServerStatus',
    summary: 'Status of the connection to an MCP server',
    description: 'Connection state, last error and discovered tools.',
    responses: { 200: McpStatus, ...missing },
    handle({ params }) {
      requireConfig(deps);
      return deps.mcp.status(params.id);
    },
  }),
  route.get('/v1/mcp-servers/:id/inventory', {
    ...admin,
    id: 'getMcpServerInventory',
    summary: 'The status of an MCP server, its prompts and its resources',
    description: 'Each with the name and the transport of the server.',
    responses: { 200: McpInventory, ...missing },
    handle({ params }) {
      requireConfig(deps);
      return deps.mcp.inventory(params.id);
    },
  }),
  route.post('/v1/mcp-servers/:id/tools/accept', {
    ...admin,
    needs: 'configure:mcp-servers',
    id: 'acceptMcpTools',
    summary: 'Accept new or changed tool definitions',
    description:
      'Each definition is identified by the digest in `changed_tools` of the status, so that only reviewed definitions are accepted; either all of them are accepted or none. With `pin_tools` in the entry the tools of the server are offered afterwards.',
    headers: ['X-Service-Actor'],
    body: McpToolsAcceptance,
    responses: { 200: McpStatus, 409: ErrorBody, ...missing },
    async handle({ params: { id }, body: { tools }, ...request }) {
      const caller = identifyCaller(request);
      const { audit } = requireConfig(deps);
      const status = await deps.mcp.acceptTools(id, tools);
      await audit.record(
        { action: 'tools_accepted', resource: `mcp-servers/${id}`, after: { tools } },
        caller,
      );
      return status;
    },
  }),
  route.post('/v1/mcp-servers/:id/restart', {
    ...admin,
    needs: 'configure:mcp-servers',
    id: 'restartMcpServer',
    summary: 'Reconnect to an MCP server',
    description: 'Responds before the connection is established; the status shows the progress.',
    headers: ['X-Service-Actor'],
    responses: { 202: 'empty', ...missing },
    async handle({ params: { id }, ...request }) {
      const caller = identifyCaller(request);
      const { audit } = requireConfig(deps);
      deps.mcp.restart(id);
      await audit.record({ action: 'restart', resource: `mcp-servers/${id}` }, caller);
      return reply(202);
    },
  }),
];
