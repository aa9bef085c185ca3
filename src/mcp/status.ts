import type { McpStreak } from '../../machines/mcp-connection.ts';
import { seconds } from '../schema/clock.ts';
import type { McpStatus } from '../schema/mcp-status.ts';
import type { Connection } from './connection.ts';

/** How a connection is, as its actor says at once (mcp.md B11). */
export const statusOf = (connection: Connection): McpStatus => {
  const snapshot = connection.actor.getSnapshot();
  const { discovery, rpc, error } = snapshot.context;
  return {
    connected: snapshot.hasTag('connected'),
    last_error: error ?? lastError([discovery, rpc]),
    tools: snapshot.hasTag('listed') ? shownTools(connection) : [],
    consecutive_failures: Math.max(discovery.failures, rpc.failures),
    last_attempt_at: latest(discovery.lastAttemptAt, rpc.lastAttemptAt),
    last_success_at: latest(discovery.lastSuccessAt, rpc.lastSuccessAt),
    reconnecting: snapshot.hasTag('reconnecting'),
    permanently_failed: snapshot.hasTag('permanently_failed'),
    session_generation: connection.generation,
    transport_reconnect_count: connection.reconnects,
    last_init_at: connection.initializedAt === undefined ? null : seconds(connection.initializedAt),
  };
};

const shownTools = ({ definitions }: Connection): McpStatus['tools'] =>
  definitions
    .map(({ name, description }) => ({ name, description: description ?? null }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));

const lastError = (streaks: readonly McpStreak[]): string | null =>
  streaks.filter(({ failures }) => failures > 0).sort((one, other) => other.failedAt - one.failedAt)[0]
    ?.lastError ?? null;

const latest = (...times: (number | null)[]): number | null => {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : seconds(Math.max(...known));
};

/** What metrics call the state that it is in. */
export const STATES = [
  'connecting',
  'ready',
  'disconnected',
  'reconnecting',
  'given_up',
  'stopping',
] as const;

export const stateOf = ({ actor }: Connection): (typeof STATES)[number] => {
  const snapshot = actor.getSnapshot();
  if (snapshot.hasTag('connected')) return 'ready';
  if (snapshot.hasTag('reconnecting')) return 'reconnecting';
  if (snapshot.hasTag('permanently_failed')) return 'given_up';
  if (snapshot.matches('connecting')) return 'connecting';
  return snapshot.matches('disconnected') ? 'disconnected' : 'stopping';
};
