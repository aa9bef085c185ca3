import type { ErrorForm } from '../../http/errors.ts';
import { CHALLENGE, internalError, Refusal } from '../../http/errors.ts';
import { type Reply, reply } from '../../http/reply.ts';
import { Invalid, Unauthorized, Unavailable } from '../../schema/outcome.ts';

/** Errors of the endpoint as MCP shows them: always an error object of JSON-RPC (mcp.md A4). */

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
export const INTERNAL_ERROR = -32_603;

export type RpcId = string | number;

/** What is refused before a method is called: with a status of HTTP. */
export class McpError extends Error {
  readonly status: number;
  readonly code: number;
  readonly id: RpcId | null;

  constructor(status: number, code: number, message: string, id: RpcId | null = null) {
    super(message);
    this.name = 'McpError';
    this.status = status;
    this.code = code;
    this.id = id;
  }
}

export const invalidRequest = (message: string, id: RpcId | null = null): McpError =>
  new McpError(400, INVALID_REQUEST, message, id);

export const unknownSession = (): McpError => new McpError(404, INVALID_REQUEST, 'unknown MCP session');

export const forbidden = (message: string): McpError => new McpError(403, INVALID_REQUEST, message);

export const errorObject = (code: number, message: string, id: RpcId | null) => ({
  jsonrpc: '2.0' as const,
  error: { code, message },
  id,
});

const answer = (
  status: number,
  [code, message, id = null]: readonly [code: number, message: string, id?: RpcId | null],
  headers?: Record<string, string>,
): Reply => reply(status, errorObject(code, message, id), headers);

/** Whatever is thrown below the endpoint, and what the server refuses there. */
export const mcpErrors: ErrorForm = (error, requestId) => {
  if (error instanceof McpError) return answer(error.status, [error.code, error.message, error.id]);
  if (error instanceof Refusal) {
    // Of a body that was read, only what it is made of can be wrong.
    const code = error.status === 400 ? PARSE_ERROR : INVALID_REQUEST;
    const text = error.status === 400 ? `${NOT_PARSED}${error.message}` : error.message;
    return answer(error.status, [code, text], error.headers);
  }
  if (error instanceof Unauthorized) return answer(401, [INVALID_REQUEST, error.message], CHALLENGE);
  if (error instanceof Invalid) return answer(400, [INVALID_REQUEST, error.message]);
  if (error instanceof Unavailable) {
    return answer(503, [INTERNAL_ERROR, 'the service cannot answer now'], { 'retry-after': '1' });
  }
  return answer(500, [INTERNAL_ERROR, internalError(requestId)]);
};

/** How the message of every body begins that is no JSON. */
export const NOT_PARSED = 'failed to parse JSON-RPC message: ';
