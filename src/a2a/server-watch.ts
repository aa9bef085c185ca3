import { isDeepStrictEqual } from 'node:util';
import type { A2aServerSpec } from '../schema/a2a-server.ts';
import type { AgentSpec } from '../schema/agent.ts';
import { type Clock, monotonic } from '../schema/clock.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import type { CardServer, CardStatus } from './card.ts';
import { agentOfCard } from './card-agent.ts';

/**
 * Watches one configured server and the agent on its card.
 *
 * Guarantees: while a server does not respond, its last agent is kept as long as the configured address stays the same;
 * requests are retried with increasing delays. Responses to outdated requests are ignored.
 */
export type ServerWatch = {
  agent(): AgentSpec | undefined;
  /** Applies the configuration of the server, which may be unchanged. */
  apply(spec: A2aServerSpec): void;
  close(): void;
};

export type Timers = {
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
};

export type WatchDeps = {
  clock: Clock;
  timers: Timers;
  log: Pick<ServiceLog, 'warn'>;
  fetchCard(server: CardServer): Promise<CardStatus>;
  mayConnect(address: string): boolean;
  /** Called when the agent may have changed. */
  changed(): void;
};

/**
 * Minimum age of a result before an unchanged configuration triggers another request, because every discovered agent
 * causes a publication.
 */
const FRESH_MS = 15_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;

type Card = Extract<CardStatus, { connected: true }>;

export const watchServer = (first: A2aServerSpec, deps: WatchDeps): ServerWatch => {
  const { clock, timers, log, fetchCard, mayConnect, changed } = deps;
  let spec = first;
  let card: Card | undefined;
  let agent: AgentSpec | undefined;
  let problem: string | undefined;
  let closed = false;
  let asking = false;
  let requestedAt = 0;
  let retry: unknown;
  let retryMs = FIRST_RETRY_MS;

  const fail = (why: string): void => {
    if (why !== problem) log.warn('a2a.discovery_failed', { server: spec.id, problem: why });
    problem = why;
    retry = timers.setTimeout(fetchStatus, retryMs);
    retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
  };

  /** @throws Error */
  const read = (next: Card): void => {
    agent = agentOfCard(next, spec, mayConnect);
    card = next;
  };

  const applyStatus = (status: CardStatus): void => {
    try {
      if (!status.connected) throw new Error(status.last_error);
      read(status);
      problem = undefined;
      retryMs = FIRST_RETRY_MS;
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
    }
  };

  const fetchStatus = (): void => {
    const requested = spec;
    retry = undefined;
    asking = true;
    fetchCard(requested).then((status) => {
      if (closed || spec !== requested) return;
      asking = false;
      requestedAt = monotonic(clock);
      applyStatus(status);
      changed();
    });
  };

  const change = (next: A2aServerSpec): void => {
    if (next.base_url !== spec.base_url) card = undefined;
    spec = next;
    agent = undefined;
    timers.clearTimeout(retry);
    retryMs = FIRST_RETRY_MS;
    try {
      if (card) read(card);
    } catch {
      // The request below reports the problem.
    }
    fetchStatus();
  };

  fetchStatus();
  return {
    agent: () => agent,
    apply(next) {
      if (!isDeepStrictEqual(next, spec)) change(next);
      else if (!asking && retry === undefined && monotonic(clock) - requestedAt >= FRESH_MS) fetchStatus();
    },
    close() {
      closed = true;
      timers.clearTimeout(retry);
    },
  };
};
