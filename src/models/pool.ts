import type { PoolSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import type { Breaker, Breakers } from './breakers.ts';
import { ModelError } from './errors.ts';
import { callGuarded } from './guarded.ts';
import type { InferenceEnd, InferenceRequest, Model, Structured } from './model.ts';
import { isRetried, retryOpening, type WatchedSink, watchSink } from './opening.ts';
import { createMembership, type Membership, type Visit } from './pool-members.ts';
import type { Pause, Random, RetrySettings } from './retry.ts';

/**
 * Several models behind one id (agent-loop.md 11).
 *
 * Guarantees: a session stays with its member until a switch; apart from retries, a member is called at most once per
 * inference; a member that is quarantined or whose breaker is open is not called; nothing is retried after the sink has
 * received output. The result names the member that produced the completion.
 * Relies on: breakers are shared by every pool and model of the process.
 * Cost: one call per delta; one hash per member and inference; memory for at most 10,000 sessions, in a deterministic
 * pool only for those that are not with their home member.
 */

/** The provider id of a pool. */
export const POOL = 'pool';

export type Pool = {
  id: string;
  /** The pool as a model, for an agent with these settings. */
  model(settings: RetrySettings): Model;
};

export type PoolDeps = {
  spec: PoolSpec;
  /** Models by id; contains every member of the spec. */
  models: ReadonlyMap<string, Model>;
  breakers: Breakers;
  pause: Pause;
  random: Random;
  /** Longest wait that a provider may request. */
  maxRetryAfterMs: number;
};

type Call = { request: InferenceRequest; watched: WatchedSink; signal: AbortSignal };

/** @throws Invalid when a member has no model */
export const createPool = (deps: PoolDeps): Pool => {
  const { spec } = deps;
  const members = membersOf(deps);
  const membership = createMembership(spec, {
    admits: (index) => members[index]?.breaker.admits() ?? false,
    hasRoom: (index) => members[index]?.breaker.limiter.hasRoom() ?? false,
    opensInMs: (index) => members[index]?.breaker.state().opensIn ?? UNKNOWN_MS,
  });
  const pool: Shared = { ...deps, members, membership };
  return {
    id: spec.id,
    model: (settings) => ({
      id: spec.id,
      provider: POOL,
      upstream: spec.id,
      costUsd: (usage, upstream, by) =>
        by
          ? members.find(({ model }) => model.id === by.id)?.model.costUsd?.(usage, upstream)
          : highest(members.map(({ model }) => model.costUsd?.(usage, upstream))),
      structured: (schema, upstream) =>
        weakest(members.map(({ model }) => model.structured?.(schema, upstream))),
      stream: (request, sink, signal) =>
        stream(pool, settings, { request, watched: watchSink(sink, signal), signal }),
    }),
  };
};

/** The cost if the most expensive member responds; undefined if one of them has no price. */
const highest = (costs: readonly (number | undefined)[]): number | undefined =>
  costs.reduce((most, cost) => (most === undefined || cost === undefined ? undefined : Math.max(most, cost)));

type PoolMember = { model: Model; breaker: Breaker };

/** The data that all calls of the pool share. */
type Shared = PoolDeps & { members: readonly PoolMember[]; membership: Membership };

const membersOf = ({ spec, models, breakers }: PoolDeps): PoolMember[] =>
  spec.members.map(({ model_id }) => {
    const model = models.get(model_id);
    if (!model) throw new Invalid(`model pool '${spec.id}' references missing model '${model_id}'`);
    return { model, breaker: breakers.of(model_id) };
  });

const stream = async (pool: Shared, settings: RetrySettings, call: Call): Promise<InferenceEnd> => {
  const { members, membership, spec } = pool;
  const visit = membership.visit(call.request.session);
  let waitsInLine = !spec.switch.on_quota;
  for (;;) {
    const index = visit.index();
    try {
      const end = await ask(pool, { ...call, index, settings, waitsInLine });
      visit.succeeded();
      return { ...end, by: nameOf(members[index], call.request) };
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      if (isFinal(error, call, visit)) throw error.from(nameOf(members[index], call.request));
      // If no other member accepts the call either, it waits here for calls in progress to end.
      if (isFull(members[index]) && membership.isQuota(error) && !visit.mayLeave()) waitsInLine = true;
      else {
        call.watched.sink.retrying?.({ error: error.message, wait_ms: 0 });
        visit.switch(error);
      }
    }
  }
};

/** `waitsInLine`: whether the call waits for calls in progress, instead of being rejected. */
type MemberCall = Call & { index: number; settings: RetrySettings; waitsInLine: boolean };

const ask = (
  { members, membership, pause, random, maxRetryAfterMs }: Shared,
  { index, settings, waitsInLine, request, watched, signal }: MemberCall,
): Promise<InferenceEnd> => {
  const member = members[index];
  if (!member || membership.isQuarantined(index)) throw new ModelError('unavailable', '', { final: true });
  const { model, breaker } = member;
  if (!waitsInLine && isFull(member)) throw new ModelError('rate_limited', IS_FULL);
  const common = { settings, pause, random, maxRetryAfterMs };
  const guard = {
    ...common,
    breaker,
    // The call does not wait, because another member may accept it.
    patienceMs: 0,
    waitsInLine,
    refusal: membership.whileOpen,
  };
  const retries = (error: ModelError): boolean =>
    isRetried(error) && !membership.isQuota(error) && breaker.admits();
  const call = { run_id: request.session?.run_id, watched, signal };
  return retryOpening({ ...common, signal, watched, retries }, () =>
    callGuarded(guard, call, () => model.stream(request, watched.sink, signal)),
  );
};

const isFull = (member: PoolMember | undefined): boolean => member?.breaker.limiter.hasRoom() === false;

/** Whether no other member may be called after this failure. */
const isFinal = (error: ModelError, { watched, request }: Call, visit: Visit): boolean =>
  watched.hasBegun() || isOfOverride(error, request) || !visit.leaves(error);

const nameOf = (member: PoolMember | undefined, { overrides }: InferenceRequest) => {
  const { id = '', provider = '', upstream = '' } = member?.model ?? {};
  return { id, provider, upstream: overrides.upstream_model ?? upstream };
};

/** The weakest guarantee of all members, because any of them may be called. */
const weakest = (all: readonly (Structured | undefined)[]): Structured | undefined => {
  if (all.includes(undefined)) return undefined;
  return all.includes('alone') ? 'alone' : 'with_tools';
};

const IS_FULL = 'as many calls of the model are in progress as its provider admits';

/** Assumed wait during a probe, whose duration is unknown. */
const UNKNOWN_MS = 5000;

/** If a run overrides the upstream name with one that does not exist, the error is no evidence about the members. */
const isOfOverride = (error: ModelError, { overrides }: InferenceRequest): boolean =>
  error.class === 'model_not_found' && overrides.upstream_model != null;
