import { z } from 'zod';
import { describe, type Mount, type MountHead, type Operation } from '../../http/mount.ts';
import { reply } from '../../http/reply.ts';
import type { McpEndpoint } from '../../protocols/mcp/endpoint.ts';
import { mcpErrors } from '../../protocols/mcp/errors.ts';
import type { CallerCheck } from '../../protocols/mcp/origin.ts';

/** The one route of MCP (mcp.md A1). What its methods mean is in `src/protocols/mcp`. */

const PATH = '/v1/mcp';
const TAG = 'MCP';

const ALLOWED = 'POST, DELETE';

export const mcpRoutes = (endpoint: McpEndpoint, check: CallerCheck): Mount => {
  const operationOf = ({ method, names }: MountHead): Operation['handle'] => {
    const namesSession = names('mcp-session-id');
    if (method === 'POST') {
      return ({ scope, body, header }) => endpoint.post({ scope, text: body, header, namesSession });
    }
    if (method === 'DELETE') return ({ scope, header }) => endpoint.end({ scope, header });
    return () => reply(405, undefined, { allow: ALLOWED });
  };
  return {
    path: PATH,
    scope: 'agent-invocation',
    checksHost: true,
    find(head) {
      const refusal = check(head.header('host'), head.header('origin'));
      const handle = refusal ? refusing(refusal) : operationOf(head);
      return { route: PATH, text: head.method === 'POST', handle };
    },
    errors: () => mcpErrors,
    described: DESCRIBED,
  };
};

const refusing = (error: Error) => () => {
  throw error;
};

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

const DESCRIBED = [
  describe('post', PATH, {
    summary:
      'One message of MCP; `initialize` opens a session, whose id later messages name in MCP-Session-Id',
    tag: TAG,
    scope: 'agent-invocation',
    body: RpcMessage,
    responses: {
      200: RpcMessage,
      202: 'taken; there is no answer',
      400: RpcError,
      ...REFUSED,
      413: RpcError,
    },
  }),
  describe('delete', PATH, {
    summary: 'End a session of MCP',
    tag: TAG,
    scope: 'agent-invocation',
    responses: { 204: 'ended', 400: RpcError, ...REFUSED },
  }),
];
