import { type ActorRefFrom, createActor } from 'xstate';
import { type BreakerLimits, circuitBreakerMachine } from '../../machines/circuit-breaker.ts';
import type { Clock } from '../schema/clock.ts';
import { ModelError } from './errors.ts';
import type { Model } from './model.ts';

/**
 * One circuit breaker a model, shared by every run of the process (agent-loop.md 11, rule 6).
 *
 * Guarantees: while a breaker is open nobody calls the model; after the cooldown exactly one call does. A call
 * that began before the breaker last changed its state can no longer change it.
 * Relies on: every permit is used exactly once, however its call ends.
 * Costs: one actor a model, kept for the life of the process; one event a failure, mostly none a success.
 */

/** The right to call the model once. */
export type Permit = {
  succeeded(): void;
  failed(): void;
  /** The call ended without saying anything about the model. */
  abandoned(): void;
};

export type Breaker = {
  /** Whether a permit would be given now. */
  admits(): boolean;
  /** `undefined` while the model must not be called. */
  admit(): Permit | undefined;
};

export type Breakers = { of(modelId: string): Breaker };

const DEFAULTS: BreakerLimits = { threshold: 5, cooldownMs: 30_000 };

export const createBreakers = (clock: Clock, limits: BreakerLimits = DEFAULTS): Breakers => {
  const breakers = new Map<string, Breaker>();
  return {
    of(modelId) {
      const known = breakers.get(modelId);
      if (known) return known;
      const breaker = createBreaker(clock, limits);
      breakers.set(modelId, breaker);
      return breaker;
    },
  };
};

const createBreaker = (clock: Clock, limits: BreakerLimits): Breaker => {
  const actor: ActorRefFrom<typeof circuitBreakerMachine> = createActor(circuitBreakerMachine, {
    input: limits,
  });
  /** Counts changes of state, so that a late result is told from a current one. */
  let generation = 0;
  let state: unknown;
  actor.subscribe(({ value }) => {
    if (value !== state) generation += 1;
    state = value;
  });
  actor.start();
  const probe = () => ({ type: 'PROBE', at: clock.now() }) as const;
  const permit = (): Permit => {
    const given = generation;
    const report = (tell: () => void) => (): void => {
      if (given === generation) tell();
    };
    return {
      succeeded: report(() => actor.send({ type: 'SUCCEED' })),
      abandoned: report(() => actor.send({ type: 'ABANDON' })),
      failed: report(() => actor.send({ type: 'FAIL', at: clock.now() })),
    };
  };
  return {
    admits: () => state === 'closed' || actor.getSnapshot().can(probe()),
    admit() {
      if (state !== 'closed') {
        const cooled = probe();
        if (!actor.getSnapshot().can(cooled)) return undefined;
        actor.send(cooled);
      }
      return permit();
    },
  };
};

/**
 * The model behind its breaker. A failure counts when it may pass (agent-loop.md 10.1); a request that the
 * provider refuses shows that the provider works. An open breaker fails with what `refusal` says.
 */
export const guarded = (model: Model, breaker: Breaker, refusal: () => ModelError): Model => ({
  ...model,
  async stream(request, sink, signal) {
    const permit = breaker.admit();
    if (!permit) throw refusal();
    try {
      const end = await model.stream(request, sink, signal);
      permit.succeeded();
      return end;
    } catch (error) {
      settle(permit, error);
      throw error;
    }
  },
});

const REFUSED: ReadonlySet<string> = new Set(['invalid_request', 'context_overflow', 'content_filtered']);

const settle = (permit: Permit, error: unknown): void => {
  if (!(error instanceof ModelError)) permit.abandoned();
  else if (error.transient) permit.failed();
  else if (REFUSED.has(error.class)) permit.succeeded();
  else permit.abandoned();
};
