import { createHash } from 'node:crypto';
import type { McpRetry } from '../../machines/mcp-connection.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import { timerMs } from '../schema/timer.ts';

/** When a server is tried again (mcp.md B1, B9), and when its tools are read anew. */

/** Nothing is tried faster, whatever an entry says. */
const SHORTEST_MS = 10;

/** A server that nobody has reached yet may only be late, and is looked for without an end. */
const BUILT_IN: McpRetry = { delayMs: 1000, multiplier: 2, maxDelayMs: 16_000, first: Infinity, again: 5 };

export const retryOf = (policy: McpServerSpec['restart_policy']): McpRetry => {
  if (!policy.enabled) return BUILT_IN;
  const attempts = policy.max_attempts ?? Infinity;
  return {
    delayMs: Math.max(policy.delay_ms, SHORTEST_MS),
    multiplier: Math.max(policy.backoff_multiplier, 1),
    maxDelayMs: timerMs(Math.max(policy.max_delay_ms, SHORTEST_MS)),
    first: attempts,
    again: attempts,
  };
};

/** Servers are not all asked at once: each has its own tenth around the interval, the same in every process. */
export const refreshOf = (intervalMs: number, server: string): number => {
  const spread = createHash('sha256').update(server).digest().readUInt16BE() / 2 ** 16;
  return timerMs(Math.round(intervalMs * (0.9 + 0.2 * spread)));
};
