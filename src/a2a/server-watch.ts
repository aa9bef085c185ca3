import { isDeepStrictEqual } from 'node:util';
import type { A2aServerSpec } from '../schema/a2a-server.ts';
import type { AgentSpec } from '../schema/agent.ts';
import { type Clock, monotonic } from '../schema/clock.ts';
import type { CardServer, CardStatus } from './card.ts';
import { agentOfCard } from './card-agent.ts';

/**
 * One server of the configuration, and the agent on its card.
 *
 * Guarantees: what a server has said last is kept while it does not answer, as long as the configuration names the
 * same address; meanwhile it is asked again, less and less often. An answer to what is not asked any more is dropped.
 */
export type ServerWatch = {
  agent(): AgentSpec | undefined;
  /** The configuration says so now, or says so again. */
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
  log: { warn(data: object, text: string): void };
  fetchCard(server: CardServer): Promise<CardStatus>;
  mayConnect(address: string): boolean;
  /** Its agent may be another one now. */
  looked(): void;
};

/** What is said again sooner is not asked again: a publication follows on every agent that is found. */
const FRESH_MS = 15_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;

type Card = Extract<CardStatus, { connected: true }>;

export const watchServer = (first: A2aServerSpec, deps: WatchDeps): ServerWatch => {
  const { clock, timers, log, fetchCard, mayConnect, looked } = deps;
  let spec = first;
  let card: Card | undefined;
  let agent: AgentSpec | undefined;
  let problem: string | undefined;
  let closed = false;
  let asking = false;
  let askedAt = 0;
  let retry: unknown;
  let retryMs = FIRST_RETRY_MS;

  const fail = (why: string): void => {
    if (why !== problem) log.warn({ server: spec.id, problem: why }, 'an A2A server shows no agent');
    problem = why;
    retry = timers.setTimeout(look, retryMs);
    retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
  };

  /** @throws Error */
  const read = (next: Card): void => {
    agent = agentOfCard(next, spec, mayConnect);
    card = next;
  };

  const hear = (status: CardStatus): void => {
    try {
      if (!status.connected) throw new Error(status.last_error);
      read(status);
      problem = undefined;
      retryMs = FIRST_RETRY_MS;
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
    }
  };

  const look = (): void => {
    const asked = spec;
    retry = undefined;
    asking = true;
    fetchCard(asked).then((status) => {
      if (closed || spec !== asked) return;
      asking = false;
      askedAt = monotonic(clock);
      hear(status);
      looked();
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
      // It is asked anyway, and what is wrong is told then.
    }
    look();
  };

  look();
  return {
    agent: () => agent,
    apply(next) {
      if (!isDeepStrictEqual(next, spec)) change(next);
      else if (!asking && retry === undefined && monotonic(clock) - askedAt >= FRESH_MS) look();
    },
    close() {
      closed = true;
      timers.clearTimeout(retry);
    },
  };
};
