import type { PoolSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import type { Breakers } from './breakers.ts';
import { ModelError } from './errors.ts';
import { guarded } from './guarded.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Model } from './model.ts';
import { isRetried, retryOpening, watchSink } from './opening.ts';
import { createMembership } from './pool-members.ts';
import type { Pause, RetrySettings } from './retry.ts';

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
  /** The longest wait that a provider may ask for. */
  maxRetryAfterMs: number;
};

type Call = { request: InferenceRequest; sink: InferenceSink; signal: AbortSignal };

/** @throws Invalid when a member has no model */
export const createPool = ({ spec, models, breakers, pause, maxRetryAfterMs }: PoolDeps): Pool => {
  const members = spec.members.map(({ model_id }) => {
    const model = models.get(model_id);
    if (!model) throw new Invalid(`model pool '${spec.id}' references missing model '${model_id}'`);
    return { model, breaker: breakers.of(model_id) };
  });
  const membership = createMembership(spec, (index) => members[index]?.breaker.admits() ?? false);

  const ask = (
    index: number,
    settings: RetrySettings,
    { request, sink, signal }: Call,
    begun: () => boolean,
  ) => {
    const member = members[index];
    if (!member || membership.isQuarantined(index)) throw new ModelError('unavailable', '', { final: true });
    const model = guarded(member.model, {
      breaker: member.breaker,
      pause,
      // There may be another member.
      patienceMs: 0,
      refusal: () => new ModelError('unavailable', '', { final: true }),
    });
    const retries = (error: ModelError): boolean =>
      isRetried(error) && !membership.isQuota(error) && member.breaker.admits();
    return retryOpening({ settings, pause, maxRetryAfterMs, signal, begun, retries }, () =>
      model.stream(request, sink, signal),
    );
  };

  const stream = async (settings: RetrySettings, call: Call): Promise<InferenceEnd> => {
    const { sink, begun } = watchSink(call.sink, call.signal);
    const visit = membership.visit(call.request.session);
    for (;;) {
      const index = visit.index();
      try {
        const end = await ask(index, settings, { ...call, sink }, begun);
        visit.succeeded();
        return { ...end, by: nameOf(index, call.request) };
      } catch (error) {
        if (!(error instanceof ModelError)) throw error;
        if (begun() || isOfOverride(error, call.request) || !visit.leaves(error))
          throw error.from(nameOf(index, call.request));
        visit.switch(error);
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
      stream: (request, sink, signal) => stream(settings, { request, sink, signal }),
    }),
  };
};

/** A run that asks for an upstream name which does not exist says nothing about the members. */
const isOfOverride = (error: ModelError, { overrides }: InferenceRequest): boolean =>
  error.class === 'model_not_found' && overrides.upstream_model != null;
