import { type ActorRefFrom, createActor } from 'xstate';
import {
  type BreakerEvent,
  type BreakerLimits,
  circuitBreakerMachine,
} from '../../machines/circuit-breaker.ts';
import { type Clock, monotonic } from '../schema/clock.ts';
import { createLimiter, type Limiter } from './limiter.ts';

/**
 * One circuit breaker a model, shared by every run of the process (agent-loop.md 11, rule 6).
 *
 * Guarantees: while a breaker is open nobody calls the model; after the cooldown exactly one call does. A call
 * that began before the breaker last changed its state can no longer change it. What one caller fails at, however
 * often, is one failure.
 * Relies on: every permit is used exactly once, however its call ends.
 * Costs: one actor a model, kept as long as the model is configured; one event a failure, mostly none a success.
 */

/** The right to call the model once. */
export type Permit = {
  succeeded(): void;
  /** `by`: who asked; failures of one caller in a row count once. */
  failed(by: string, cause: string): void;
  /** The call ended without saying anything about the model. */
  abandoned(): void;
};

export type BreakerState = {
  /** id of the model */
  model: string;
  state: 'closed' | 'open' | 'half_open';
  /** Callers that failed since the last success, while closed. */
  failed: number;
  /** milliseconds until the model is asked again, while open */
  opensIn?: number;
  /** Why the model failed last. */
  cause?: string;
};

export type Breaker = {
  /** How many calls of the model run at once. */
  readonly limiter: Limiter;
  /** Whether a permit would be given now. */
  admits(): boolean;
  /** `undefined` while the model must not be called. */
  admit(): Permit | undefined;
  state(): BreakerState;
  /** Resolves when the state is another one. */
  changed(): Promise<void>;
};

export type Breakers = {
  of(modelId: string): Breaker;
  /** Forgets those of all other models. Who has one of them goes on with it. */
  keep(modelIds: Iterable<string>): void;
  /** Of every model that was ever asked for and not forgotten, by id. */
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
  /** Counts changes of state, so that a late result is told from a current one. */
  let generation = 0;
  let state: keyof typeof NAMES = 'closed';
  let waiting: (() => void)[] = [];
  actor.subscribe(({ value }) => {
    if (value === state) return;
    // Before the calls that wait for the breaker continue.
    if (value === 'closed') limiter.startSlowly();
    state = value;
    generation += 1;
    const told = waiting;
    waiting = [];
    for (const tell of told) tell();
  });
  actor.start();
  const probe = () => ({ type: 'PROBE', at: now() }) as const;
  const permit = (): Permit => {
    const given = generation;
    const tell = (event: BreakerEvent): void => {
      if (given === generation) actor.send(event);
    };
    return {
      succeeded: () => tell({ type: 'SUCCEED' }),
      abandoned: () => tell({ type: 'ABANDON' }),
      failed: (by, cause) => tell({ type: 'FAIL', at: now(), by, cause }),
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
