import type { McpStreak } from './mcp-streak.ts';

/** The input, context and events of the connection to an MCP server. Times are in milliseconds. */

export type McpRetry = {
  delayMs: number;
  multiplier: number;
  maxDelayMs: number;
  /** Limits of consecutive attempts: `first` until the server was reached once, `again` afterwards. */
  first: number;
  again: number;
};

export type McpConnectionInput = {
  host: object;
  now(): number;
  /** Number of consecutive failures that ends a connection. */
  threshold: number;
  retry: McpRetry;
  /** Interval of reading the tool list again without a change notification of the server; 0 = never. */
  refreshMs: number;
};

export type McpConnectionContext = McpConnectionInput & {
  /** Whether the server was reached at least once. */
  reached: boolean;
  /** Number of consecutive failed attempts. */
  attempts: number;
  /** Why the last attempt failed, or why there is no connection. */
  error: string | null;
  discovery: McpStreak;
  rpc: McpStreak;
};

export type McpConnectionEvent =
  | { type: 'CALL_SUCCEEDED' }
  | { type: 'CALL_FAILED'; error: string }
  /** The child process has exited, or the stream has ended. */
  | { type: 'LOST'; error: string }
  /** The server reports changed tools, or a caller requests the current list. */
  | { type: 'TOOLS_CHANGED' }
  | { type: 'RESTART' }
  /** The entry was removed: calls in progress may finish. */
  | { type: 'REMOVE' }
  | { type: 'STOP' };
