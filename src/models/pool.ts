import type { PoolSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import type { Breakers } from './breakers.ts';
import { ModelError } from './errors.ts';
import { callGuarded } from './guarded.ts';
import type { InferenceEnd, InferenceRequest, Model, Structured } from './model.ts';
import { isRetried, retryOpening, type WatchedSink, watchSink } from './opening.ts';
import { createMembership } from './pool-members.ts';
import type { Pause, Random, RetrySettings } from './retry.ts';

/**
 * Several models behind one id (agent-loop.md 11).
 *
 * Guarantees: a session stays with its member until that member is given up; a member is asked at most once an
 * inference, besides its retries; a member whose breaker is open, or that is quarantined, is not asked; nothing
 * is asked again after the sink has heard something. Whoever answered is named in the end.
 * Relies on: breakers are shared by every pool and model of the process.
 * Costs: one call a delta; one hash a member an inference; memory for at most 10,000 sessions, of
 * a deterministic pool only for those that are not at home.
 */

/** What a pool has for a provider. */
export const POOL = 'pool';

export type Pool = {
  id: string;
  /** The pool as a model, for an agent with these settings. */
  model(settings: RetrySettings): Model;
};

export type PoolDeps = {
  spec: PoolSpec;
  /** By id; every member of the spec is there. */
  models: ReadonlyMap<string, Model>;
  breakers: Breakers;
  pause: Pause;
  random: Random;
  /** The longest wait that a provider may ask for. */
  maxRetryAfterMs: number;
};

type Call = { request: InferenceRequest; watched: WatchedSink; signal: AbortSignal };

/** @throws Invalid when a member has no model */
export const createPool = ({ spec, models, breakers, pause, random, maxRetryAfterMs }: PoolDeps): Pool => {
  const members = spec.members.map(({ model_id }) => {
    const model = models.get(model_id);
    if (!model) throw new Invalid(`model pool '${spec.id}' references missing model '${model_id}'`);
    return { model, breaker: breakers.of(model_id) };
  });
  const membership = createMembership(spec, {
    admits: (index) => members[index]?.breaker.admits() ?? false,
    hasRoom: (index) => members[index]?.breaker.limiter.hasRoom() ?? false,
    opensInMs: (index) => members[index]?.breaker.state().opensIn ?? UNKNOWN_MS,
  });

  const isFull = (index: number): boolean => members[index]?.breaker.limiter.hasRoom() === false;

  const ask = (
    index: number,
    settings: RetrySettings,
    { request, watched, signal }: Call,
    waitsInLine: boolean,
  ) => {
    const member = members[index];
    if (!member || membership.isQuarantined(index)) throw new ModelError('unavailable', '', { final: true });
    const { model, breaker } = member;
    if (!waitsInLine && !breaker.limiter.hasRoom()) throw new ModelError('rate_limited', IS_FULL);
    const common = { settings, pause, random, maxRetryAfterMs };
    const guard = {
      ...common,
      breaker,
      // Another member may take the call.
      patienceMs: 0,
      waitsInLine,
      refusal: membership.whileOpen,
    };
    const retries = (error: ModelError): boolean =>
      isRetried(error) && !membership.isQuota(error) && breaker.admits();
    const call = { run_id: request.session?.run_id, watched, signal };
    return retryOpening({ ...common, signal, begun: watched.begun, retries }, () =>
      callGuarded(guard, call, () => model.stream(request, watched.sink, signal)),
    );
  };

  const stream = async (settings: RetrySettings, call: Call): Promise<InferenceEnd> => {
    const { begun } = call.watched;
    const visit = membership.visit(call.request.session);
    let waitsInLine = !spec.switch.on_quota;
    for (;;) {
      const index = visit.index();
      try {
        const end = await ask(index, settings, call, waitsInLine);
        visit.succeeded();
        return { ...end, by: nameOf(index, call.request) };
      } catch (error) {
        if (!(error instanceof ModelError)) throw error;
        if (begun() || isOfOverride(error, call.request) || !visit.leaves(error))
          throw error.from(nameOf(index, call.request));
        // Where no other member takes the call either, it waits for those in progress here.
        if (isFull(index) && membership.isQuota(error) && !visit.mayLeave()) waitsInLine = true;
        else visit.switch(error);
      }
    }
  };

  const nameOf = (index: number, { overrides }: InferenceRequest) => {
    const { id = '', provider = '', upstream = '' } = members[index]?.model ?? {};
    return { id, provider, upstream: overrides.upstream_model ?? upstream };
  };

  return {
    id: spec.id,
    model: (settings) => ({
      id: spec.id,
      provider: POOL,
      upstream: spec.id,
      costUsd: (usage, upstream, by) =>
        members.find(({ model }) => model.id === by?.id)?.model.costUsd?.(usage, upstream),
      structured: (schema, upstream) =>
        weakest(members.map(({ model }) => model.structured?.(schema, upstream))),
      stream: (request, sink, signal) =>
        stream(settings, { request, watched: watchSink(sink, signal), signal }),
    }),
  };
};

/** What holds for each member, because any of them may be asked. */
const weakest = (all: readonly (Structured | undefined)[]): Structured | undefined => {
  if (all.includes(undefined)) return undefined;
  return all.includes('alone') ? 'alone' : 'with_tools';
};

const IS_FULL = 'as many calls of the model are in progress as its provider admits';

/** While a probe is in progress, the time until its response is unknown. */
const UNKNOWN_MS = 5000;

/** A run that asks for an upstream name which does not exist says nothing about the members. */
const isOfOverride = (error: ModelError, { overrides }: InferenceRequest): boolean =>
  error.class === 'model_not_found' && overrides.upstream_model != null;
