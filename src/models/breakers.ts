import { type ActorRefFrom, createActor } from 'xstate';
import {
  type BreakerEvent,
  type BreakerLimits,
  circuitBreakerMachine,
} from '../../machines/circuit-breaker.ts';
import { type Clock, monotonic } from '../schema/clock.ts';
import { createLimiter, type Limiter } from './limiter.ts';

/**
 * One circuit breaker per model, shared by every run of the process (agent-loop.md 11, rule 6).
 *
 * Guarantees: while a breaker is open the model is not called; after the cooldown exactly one call probes it. A call
 * that began before the breaker last changed its state can no longer change it. Consecutive failures of one caller
 * count as one failure.
 * Relies on: every permit is used exactly once, regardless of how its call ends.
 * Cost: one actor per model, kept as long as the model is configured; one event per failure, usually none per success.
 */

/** Permission for one call of the model. */
export type Permit = {
  succeeded(): void;
  /** `by`: the caller; consecutive failures of one caller count once. */
  failed(by: string, cause: string): void;
  /** The call ended without evidence about the model. */
  abandoned(): void;
};

export type BreakerState = {
  /** The id of the model. */
  model: string;
  state: 'closed' | 'open' | 'half_open';
  /** The number of callers that failed since the last success, while closed. */
  failed: number;
  /** Milliseconds until the next probe, while open. */
  opensIn?: number;
  /** The reason for the last failure. */
  cause?: string;
};

export type Breaker = {
  /** Limits the concurrent calls of the model. */
  readonly limiter: Limiter;
  /** Whether `admit` would return a permit now. */
  admits(): boolean;
  /** Returns undefined while the model must not be called. */
  admit(): Permit | undefined;
  state(): BreakerState;
  /** Resolves at the next change of state. */
  changed(): Promise<void>;
};

export type Breakers = {
  of(modelId: string): Breaker;
  /** Removes the breakers of all other models. Callers that hold a removed breaker keep using it. */
  keep(modelIds: Iterable<string>): void;
  /** The states of all breakers that are kept, sorted by model id. */
  states(): BreakerState[];
};

const DEFAULTS: BreakerLimits = { threshold: 5, cooldownMs: 30_000, burstMs: 1000 };

export const createBreakers = (clock: Clock, options: Partial<BreakerLimits> = {}): Breakers => {
  const limits = { ...DEFAULTS, ...options };
  const breakers = new Map<string, Breaker>();
  return {
    of(modelId) {
      const known = breakers.get(modelId);
      if (known) return known;
      const breaker = createBreaker(modelId, clock, limits);
      breakers.set(modelId, breaker);
      return breaker;
    },
    keep(modelIds) {
      const kept = new Set(modelIds);
      for (const id of breakers.keys()) if (!kept.has(id)) breakers.delete(id);
    },
    states: () =>
      [...breakers.values()]
        .map((breaker) => breaker.state())
        .sort((one, other) => (one.model < other.model ? -1 : 1)),
  };
};

const NAMES = { closed: 'closed', open: 'open', halfOpen: 'half_open' } as const;

const createBreaker = (model: string, clock: Clock, limits: BreakerLimits): Breaker => {
  const actor: ActorRefFrom<typeof circuitBreakerMachine> = createActor(circuitBreakerMachine, {
    input: limits,
  });
  const limiter = createLimiter(clock);
  const now = (): number => monotonic(clock);
  /** Number of state changes so far; the results of calls from an earlier generation are ignored. */
  let generation = 0;
  let state: keyof typeof NAMES = 'closed';
  let waiting: (() => void)[] = [];
  actor.subscribe(({ value }) => {
    if (value === state) return;
    // The limiter is set before the calls that wait for the breaker continue.
    if (value === 'closed') limiter.startSlowly();
    state = value;
    generation += 1;
    const callbacks = waiting;
    waiting = [];
    for (const callback of callbacks) callback();
  });
  actor.start();
  const probe = () => ({ type: 'PROBE', at: now() }) as const;
  const permit = (): Permit => {
    const given = generation;
    const report = (event: BreakerEvent): void => {
      if (given === generation) actor.send(event);
    };
    return {
      succeeded: () => report({ type: 'SUCCEED' }),
      abandoned: () => report({ type: 'ABANDON' }),
      failed: (by, cause) => report({ type: 'FAIL', at: now(), by, cause }),
    };
  };
  return {
    limiter,
    admits: () => state === 'closed' || actor.getSnapshot().can(probe()),
    admit() {
      if (state !== 'closed') {
        const cooled = probe();
        if (!actor.getSnapshot().can(cooled)) return undefined;
        actor.send(cooled);
      }
      return permit();
    },
    state() {
      const { failed, cause, openedAt, cooldownMs } = actor.getSnapshot().context;
      return {
        model,
        state: NAMES[state],
        failed: failed.length,
        ...(state === 'open' && { opensIn: Math.max(0, openedAt + cooldownMs - now()) }),
        ...(cause !== undefined && { cause }),
      };
    },
    changed: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
      }),
  };
};
