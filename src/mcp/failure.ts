/**
 * Why something asked of an MCP server came to nothing, in words for the model and the operator. `kind` says what it
 * means for the connection: those of `UNHEALTHY` speak against it (mcp.md B9), all others are answers, or are about the
 * question.
 */
export type McpFailureKind =
  /** Nobody is there, or nobody any more. */
  | 'closed'
  | 'timeout'
  /** The network, or a status of HTTP. */
  | 'transport'
  /** What came is not what the protocol says. */
  | 'protocol'
  /** The server does not know the session any more; what was asked has not been done. */
  | 'expired'
  /** The session went while the answer was under way. */
  | 'cut_off'
  /** An answer of its own: an error of JSON-RPC. */
  | 'server'
  /** An answer that cannot be used. */
  | 'unreadable'
  /** It was not asked at all. */
  | 'unavailable'
  | 'cancelled';

const UNHEALTHY: ReadonlySet<McpFailureKind> = new Set(['closed', 'timeout', 'transport', 'protocol']);

export class McpFailure extends Error {
  readonly kind: McpFailureKind;
  /** Of JSON-RPC, where the server has answered with one. */
  readonly code: number | undefined;
  /** Of HTTP, where that says no. */
  readonly status: number | undefined;
  /** Of the refusal over HTTP. */
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

/** @param error of JSON-RPC */
export const serverFailure = ({ code, message }: { code: number; message: string }): McpFailure =>
  new McpFailure('server', `Server error: MCP Error: ${message}`, { code });

export const timedOut = (ms: number): McpFailure =>
  new McpFailure('timeout', `mcp transport error: no answer within ${ms / 1000} s`);

export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
