import type { ErrorForm } from '../../http/errors.ts';
import { headersOf, internalError, Refusal } from '../../http/errors.ts';
import { reply } from '../../http/reply.ts';
import { Forbidden, Invalid, RateLimited, Unauthorized, Unavailable } from '../../schema/outcome.ts';

/** Errors of the endpoint in the form of MCP, which is always an error object of JSON-RPC (mcp.md A4). */

/** The codes of JSON-RPC. */
export const RPC_CODES = {
  PARSE_ERROR: -32_700,
  INVALID_REQUEST: -32_600,
  METHOD_NOT_FOUND: -32_601,
  INVALID_PARAMS: -32_602,
  INTERNAL_ERROR: -32_603,
} as const;

export const { PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR } = RPC_CODES;

export type RpcId = string | number;

/** A rejection before a method is called, with an HTTP status. */
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

/** Converts all errors below the endpoint, including refusals by the server. */
export const asMcpError = (error: unknown, requestId: string): McpError => {
  if (error instanceof McpError) return error;
  if (error instanceof Refusal) return refused(error);
  if (error instanceof Unauthorized) return new McpError(401, INVALID_REQUEST, error.message);
  if (error instanceof Forbidden) return forbidden(error.message);
  if (error instanceof RateLimited) return new McpError(429, INVALID_REQUEST, error.message);
  if (error instanceof Invalid) return invalidRequest(error.message);
  if (error instanceof Unavailable) return new McpError(503, INTERNAL_ERROR, 'the service cannot answer now');
  return new McpError(500, INTERNAL_ERROR, internalError(requestId));
};

/** A 400 for a body means that it could not be parsed. */
const refused = ({ status, message }: Refusal): McpError =>
  status === 400
    ? new McpError(status, PARSE_ERROR, `${NOT_PARSED}${message}`)
    : new McpError(status, INVALID_REQUEST, message);

export const mcpErrors: ErrorForm = (error, requestId) => {
  const { status, code, message, id } = asMcpError(error, requestId);
  const headers = error instanceof Refusal ? error.headers : (headersOf(error, status) ?? retryAt(status));
  return reply(status, errorObject(code, message, id), headers);
};

const retryAt = (status: number): Record<string, string> | undefined =>
  status === 503 ? { 'retry-after': '1' } : undefined;

/** Prefix of the error for a body that is not JSON. */
export const NOT_PARSED = 'failed to parse JSON-RPC message: ';
