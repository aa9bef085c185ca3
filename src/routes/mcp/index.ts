import { z } from 'zod';
import { EVENT_STREAM } from '../../http/described.ts';
import type { Family } from '../../http/family.ts';
import { JSON_TYPE } from '../../http/reply.ts';
import { reply, route } from '../../http/route.ts';
import { type ChallengeFor, challengingErrors } from '../../protocols/mcp/challenge.ts';
import type { McpEndpoint } from '../../protocols/mcp/endpoint.ts';
import { mcpErrors } from '../../protocols/mcp/errors.ts';
import type { CallerCheck } from '../../protocols/mcp/origin.ts';

/** The only path of MCP (mcp.md A1). `src/protocols/mcp` implements its methods. */

const PATH = '/v1/mcp';
const TAG = 'MCP';

export const mcpRoutes = (
  endpoint: McpEndpoint,
  check: CallerCheck,
  challengeFor: ChallengeFor | undefined,
): Family => ({
  path: PATH,
  needs: 'invoke',
  checkHost: check.host,
  check: ({ header }) => check.origin(header('host'), header('origin')),
  errors: challengeFor ? (request) => challengingErrors(challengeFor(request)) : () => mcpErrors,
  refuse: ({ allowed }) => reply(405, undefined, { allow: allowed.toReversed().join(', ') }),
  routes: [
    route.post(PATH, {
      id: 'postMcpMessage',
      headers: ['MCP-Session-Id', 'MCP-Protocol-Version'],
      errors: MCP_ERRORS,
      summary:
        'Send an MCP message; `initialize` opens a session, whose id later messages send in MCP-Session-Id',
      description: 'The methods of the MCP specification; agents are tools.',
      tag: TAG,
      needs: 'invoke',
      body: RpcMessage,
      reads: 'text',
      responses: {
        200: {
          description:
            'The response; as server-sent events if other messages precede it, each in the `data` of one event.',
          content: { [JSON_TYPE]: RpcMessage, [EVENT_STREAM]: RpcMessage },
          headers: { 'MCP-Session-Id': 'Of the session that `initialize` has opened.' },
        },
        202: 'Accepted; the response has no body.',
        404: RpcError,
      },
      handle: ({ principal, body, header, names }) =>
        // `body` is a string because the route reads text.
        endpoint.post({ principal, text: String(body), header, namesSession: names('mcp-session-id') }),
    }),
    route.delete(PATH, {
      id: 'endMcpSession',
      headers: ['MCP-Session-Id', 'MCP-Protocol-Version'],
      errors: MCP_ERRORS,
      summary: 'End an MCP session',
      description: 'Its calls are cancelled. 404 when the session does not exist.',
      tag: TAG,
      needs: 'invoke',
      responses: { 204: 'Ended.', 404: RpcError },
      handle: ({ principal, header }) => endpoint.end({ principal, header }),
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
  .meta({ id: 'JsonRpcError', description: 'An error in the JSON-RPC 2.0 format.' });

const MCP_ERRORS = { schema: RpcError, prefix: 'Mcp' };
