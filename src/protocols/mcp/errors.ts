import type { ErrorForm } from '../../http/errors.ts';
import { CHALLENGE, internalError, Refusal } from '../../http/errors.ts';
import { reply } from '../../http/reply.ts';
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

/** Whatever is thrown below the endpoint, and what the server refuses there. */
export const asMcpError = (error: unknown, requestId: string): McpError => {
  if (error instanceof McpError) return error;
  if (error instanceof Refusal) return refused(error);
  if (error instanceof Unauthorized) return new McpError(401, INVALID_REQUEST, error.message);
  if (error instanceof Invalid) return invalidRequest(error.message);
  if (error instanceof Unavailable) return new McpError(503, INTERNAL_ERROR, 'the service cannot answer now');
  return new McpError(500, INTERNAL_ERROR, internalError(requestId));
};

/** Of a body that was read, only what it is made of can be wrong. */
const refused = ({ status, message }: Refusal): McpError =>
  status === 400
    ? new McpError(status, PARSE_ERROR, `${NOT_PARSED}${message}`)
    : new McpError(status, INVALID_REQUEST, message);

const HEADERS: Readonly<Record<number, Record<string, string>>> = {
  401: CHALLENGE,
  503: { 'retry-after': '1' },
};

export const mcpErrors: ErrorForm = (error, requestId) => {
  const { status, code, message, id } = asMcpError(error, requestId);
  const headers = error instanceof Refusal ? error.headers : HEADERS[status];
  return reply(status, errorObject(code, message, id), headers);
};

/** How the message of every body begins that is no JSON. */
export const NOT_PARSED = 'failed to parse JSON-RPC message: ';
