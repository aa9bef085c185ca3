import { z } from 'zod';
import type { Family } from '../../http/family.ts';
import { reply, route } from '../../http/route.ts';
import type { McpEndpoint } from '../../protocols/mcp/endpoint.ts';
import { mcpErrors } from '../../protocols/mcp/errors.ts';
import type { CallerCheck } from '../../protocols/mcp/origin.ts';

/** The one path of MCP (mcp.md A1). What its methods mean is in `src/protocols/mcp`. */

const PATH = '/v1/mcp';
const TAG = 'MCP';

export const mcpRoutes = (endpoint: McpEndpoint, check: CallerCheck): Family => ({
  path: PATH,
  scope: 'agent-invocation',
  checksHost: true,
  check: ({ header }) => check(header('host'), header('origin')),
  errors: () => mcpErrors,
  refuse: ({ allowed }) => reply(405, undefined, { allow: allowed.toReversed().join(', ') }),
  routes: [
    route.post(PATH, {
      summary:
        'One message of MCP; `initialize` opens a session, whose id later messages name in MCP-Session-Id',
      tag: TAG,
      scope: 'agent-invocation',
      body: RpcMessage,
      reads: 'text',
      responses: {
        200: RpcMessage,
        202: 'taken; there is no answer',
        400: RpcError,
        ...REFUSED,
        413: RpcError,
      },
      handle: ({ scope, body, header, names }) =>
        // Read as text, so it is one.
        endpoint.post({ scope, text: String(body), header, namesSession: names('mcp-session-id') }),
    }),
    route.delete(PATH, {
      summary: 'End a session of MCP',
      tag: TAG,
      scope: 'agent-invocation',
      responses: { 204: 'ended', 400: RpcError, ...REFUSED },
      handle: ({ scope, header }) => endpoint.end({ scope, header }),
    }),
  ],
});

const RpcMessage = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int()]).optional(),
    method: z.string().optional(),
    params: z.looseObject({}).optional(),
    result: z.looseObject({}).optional(),
    error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
  })
  .meta({ id: 'JsonRpcMessage', description: 'one message of MCP (JSON-RPC 2.0)' });

const RpcError = z
  .object({
    jsonrpc: z.literal('2.0'),
    error: z.object({ code: z.int(), message: z.string() }),
    id: z.union([z.string(), z.int()]).nullable(),
  })
  .meta({ id: 'JsonRpcError' });

const REFUSED = { 401: RpcError, 403: RpcError, 404: RpcError };
