import { createHash } from 'node:crypto';
import type { McpRetry } from '../../machines/mcp-types.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import { timerMs } from '../schema/timer.ts';

/** When a server is retried (mcp.md B1, B9) and when its tools are listed again. */

/** Lower bound of all delays. */
const SHORTEST_MS = 10;

/** A server that was never reached may only be late, so it is retried indefinitely. */
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

/**
 * Spreads the refreshes of servers: each has a fixed deviation of up to a tenth of the interval, the same in every
 * process.
 */
export const refreshInterval = (intervalMs: number, server: string): number => {
  const spread = createHash('sha256').update(server).digest().readUInt16BE() / 2 ** 16;
  return timerMs(Math.round(intervalMs * (0.9 + 0.2 * spread)));
};
