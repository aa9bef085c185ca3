import type { McpStreak } from '../../machines/mcp-streak.ts';
import { seconds } from '../schema/clock.ts';
import type { McpState, McpStatus } from '../schema/mcp-status.ts';
import { type Connection, masked } from './connection.ts';
import type { LeftOut } from './left-out.ts';
import type { Offer } from './offer.ts';
import { pendingTools } from './pins.ts';

/** A server whose connections belong to accounts: whether one of them is open, and whether the tools are known. */
export type Shared = { isConnected: boolean; isListed: boolean };

/** The status of a connection, read from its actor without waiting (mcp.md B11). */
export const statusOf = (connection: Connection, offer: Offer, shared?: Shared): McpStatus => {
  const snapshot = connection.actor.getSnapshot();
  const { discovery, rpc, error } = snapshot.context;
  const isListed = shared?.isListed ?? snapshot.hasTag('listed');
  return {
    connected: shared?.isConnected ?? snapshot.hasTag('connected'),
    last_error: error ?? lastError([discovery, rpc]),
    tools: isListed ? shownTools(offer) : [],
    consecutive_failures: Math.max(discovery.failures, rpc.failures),
    last_attempt_at: latest(discovery.lastAttemptAt, rpc.lastAttemptAt),
    last_success_at: latest(discovery.lastSuccessAt, rpc.lastSuccessAt),
    reconnecting: snapshot.hasTag('reconnecting'),
    permanently_failed: snapshot.hasTag('permanently_failed'),
    session_generation: connection.generation,
    transport_reconnect_count: connection.reconnects,
    last_init_at: connection.initializedAt === undefined ? null : seconds(connection.initializedAt),
    left_out: isListed ? shownLeftOut(connection, offer) : [],
    changed_tools: pendingTools(offer.records).map(({ seen_at, ...tool }) => ({
      ...tool,
      seen_at: seconds(seen_at),
      held: connection.spec.pin_tools,
    })),
  };
};

/** Omits secrets of the entry. */
export const shownLeftOut = (connection: Connection, { leftOut }: Offer): LeftOut[] =>
  leftOut.map(({ name, reason }) => ({
    name: masked(connection, name),
    reason: masked(connection, reason),
  }));

const shownTools = ({ offered }: Offer): McpStatus['tools'] =>
  offered
    .map(({ name, description }) => ({ name, description: description ?? null }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));

const lastError = (streaks: readonly McpStreak[]): string | null =>
  streaks.filter(({ failures }) => failures > 0).sort((one, other) => other.failedAt - one.failedAt)[0]
    ?.lastError ?? null;

const latest = (...times: (number | null)[]): number | null => {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : seconds(Math.max(...known));
};

/** States by the outermost state of the machine. */
const STATES: Readonly<Record<string, McpState>> = {
  connecting: 'connecting',
  ready: 'ready',
  detaching: 'reconnecting',
  disconnected: 'disconnected',
  restarting: 'reconnecting',
  reconnecting: 'reconnecting',
  givenUp: 'given_up',
};

/** Returns the state as named in metrics. */
export const stateOf = ({ actor }: Pick<Connection, 'actor'>): McpState => {
  const { value } = actor.getSnapshot();
  const [outermost = ''] = typeof value === 'string' ? [value] : Object.keys(value);
  return STATES[outermost] ?? 'stopping';
};
