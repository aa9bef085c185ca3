/**
 * The failure of a request to an MCP server, with a message for the model and the operator. `kind` determines the
 * effect on the connection: kinds in `UNHEALTHY` count as connection failures (mcp.md B9); all others are responses or
 * concern the request itself.
 */
export type McpFailureKind =
  /** The server is not connected, or no longer. */
  | 'closed'
  | 'timeout'
  /** A network error, or an HTTP status. */
  | 'transport'
  /** The message violates the protocol. */
  | 'protocol'
  /** The server does not recognize the session; the request was not executed. */
  | 'expired'
  /** The session ended while the response was pending. */
  | 'cut_off'
  /** A JSON-RPC error of the server. */
  | 'server'
  /** A response that cannot be used. */
  | 'unreadable'
  /** The request was not sent. */
  | 'unavailable'
  /** The account has no usable token. */
  | 'unauthorized'
  | 'cancelled';

const UNHEALTHY: ReadonlySet<McpFailureKind> = new Set(['closed', 'timeout', 'transport', 'protocol']);

export class McpFailure extends Error {
  readonly kind: McpFailureKind;
  /** Code of a JSON-RPC error. */
  readonly code: number | undefined;
  /** HTTP status of a rejection. */
  readonly status: number | undefined;
  /** Body of an HTTP rejection. */
  readonly body: string | undefined;

  constructor(
    kind: McpFailureKind,
    message: string,
    {
      code,
      status,
      body,
      ...options
    }: { cause?: unknown; code?: number; status?: number; body?: string } = {},
  ) {
    super(message, options);
    this.name = 'McpFailure';
    this.kind = kind;
    this.code = code;
    this.status = status;
    this.body = body;
  }
}

export const isUnhealthy = ({ kind }: McpFailure): boolean => UNHEALTHY.has(kind);

export const transportFailure = (reason: string, cause?: unknown): McpFailure =>
  new McpFailure('transport', `mcp transport error: ${reason}`, { cause });

export const connectionClosed = (): McpFailure =>
  new McpFailure('closed', 'mcp transport error: connection closed');

export const protocolFailure = (reason: string): McpFailure =>
  new McpFailure('protocol', `mcp protocol error: ${reason}`);

/** @param error a JSON-RPC error */
export const serverFailure = ({ code, message }: { code: number; message: string }): McpFailure =>
  new McpFailure('server', `Server error: MCP Error: ${message}`, { code });

export const timedOut = (ms: number): McpFailure =>
  new McpFailure('timeout', `mcp transport error: no answer within ${ms / 1000} s`);

export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
