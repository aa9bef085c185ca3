import { type ActorOptions, type AnyActorLogic, type AnyActorRef, createActor, fromPromise } from 'xstate';
import { type PushContext, pushDeliveryMachine } from '../../../../machines/push-delivery.ts';
import type { ServiceLog } from '../../../schema/log-events.ts';
import type { Maker } from '../../../schema/maker.ts';
import type { Batch, PushEvent, PushPlace } from '../../../store/index.ts';
import { createFollower, type Follower, type FollowerDeps } from './follower.ts';
import type { Post } from './post.ts';
import type { RetrySlots } from './retry-slots.ts';

/**
 * Runs the delivery machine of one config with the services of this process (a2a.md 11.3).
 *
 * Guarantees: the config is read again, and its maker judged again, before each attempt; an event that the maker may not
 * receive is dropped. A stopped delivery sends, queues and writes nothing.
 * Cost: one actor and one task listener per config whose task is not over.
 */
export type DeliveryDeps = FollowerDeps & {
  post: Post;
  /** Judges whether the maker of a config may still receive the events of its task. */
  judge: JudgeMaker;
  /** Shared by all deliveries. */
  retries: RetrySlots;
  log: Pick<ServiceLog, 'warn'>;
  /** Notified of each new actor; the returned function is called when the actor ends. */
  actors: {
    began(actor: AnyActorRef, scope: string, of: { machine: 'a2a-task'; id: string }): () => void;
  };
  /** Replaced in tests. */
  timers?: Timers | undefined;
};

/** `ended`: the user or the key that made the config no longer exists, so the config is removed. */
export type JudgeMaker = (maker: Maker, task: PushPlace) => 'allowed' | 'forbidden' | 'ended';

type Timers = NonNullable<ActorOptions<AnyActorLogic>['clock']>;

export type Delivery = {
  /** Stops sending, queueing and writing; the caller removes the stored state. */
  remove(): void;
  /** Stops sending, queueing and writing; the stored state remains for a later process. */
  stop(): void;
};

const SYSTEM: Timers = {
  setTimeout: (done, ms) => setTimeout(done, ms).unref(),
  clearTimeout,
};

const MAX_ATTEMPTS = 5;
const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 30_000;
const STORE_PAUSE_MS = 1000;

/** Returns the delay after a number of failed attempts, in milliseconds. */
const delayAfter = (attempts: number): number =>
  Math.min(FIRST_DELAY_MS * 2 ** (attempts - 1), LONGEST_DELAY_MS);

type Host = {
  follower: Follower;
  send(signal: AbortSignal): Promise<'sent' | 'empty'>;
  record(context: PushContext): Promise<void>;
  delay(): number;
  rest(): Promise<void>;
};

// This file creates the host of every machine that it starts.
const hostOf = ({ host }: { host: object }): Host => host as Host;

const machine = pushDeliveryMachine.provide({
  actors: {
    follow: fromPromise(({ input }) => hostOf(input).follower.follow()),
    send: fromPromise(({ input, signal }) => hostOf(input).send(signal)),
    record: fromPromise(({ input }) => hostOf(input).record(input)),
    rest: fromPromise(({ input }) => hostOf(input).rest()),
  },
  delays: { retryDelay: ({ context }) => hostOf(context).delay() },
});

/** @param ended called once, when the delivery is finished or stopped */
export const startDelivery = (deps: DeliveryDeps, place: PushPlace, ended: () => void): Delivery => {
  const { store, log, timers = SYSTEM } = deps;
  const follower = createFollower(deps, place, {
    queued: (last) => actor.send({ type: 'QUEUED', last }),
    missed(error) {
      log.warn('push.enqueue_failed', { err: error, ...named(place) });
      actor.send({ type: 'MISSED' });
    },
  });
  const attempts = store.pushOutbox.first(place)?.attempts ?? 0;
  const removed = (): void => actor.send({ type: 'REMOVED' });
  const input = { host: hostFor(deps, place, { follower, removed }), attempts, maxAttempts: MAX_ATTEMPTS };
  const id = `${place.task_id}/${place.tenant ?? ''}/${place.id}`;
  const actor = createActor(machine, { id, input, clock: timers });
  actor.subscribe({
    error(error) {
      log.warn('push.machine_failed', { err: error, ...named(place) });
      leave();
    },
    complete() {
      const state = actor.getSnapshot();
      if (state.matches('done')) unfollow(deps, place);
      else if (state.matches('orphaned')) forget(deps, place);
      leave();
    },
  });
  const gone = deps.actors.began(actor, place.scope, { machine: 'a2a-task', id: place.task_id });
  const leave = (): void => {
    follower.stop();
    gone();
    ended();
  };
  actor.start();
  return { remove: removed, stop: () => actor.stop() };
};

/** Log fields without the credentials. */
const named = ({ scope, task_id, id, tenant }: PushPlace) => ({ scope, task_id, push_config: id, tenant });

const runOf = ({ scope, task_id }: PushPlace) => ({ scope, run_id: task_id });

/**
 * A finished delivery need not be resumed after a restart. If this write is lost, the next process finds nothing to do.
 */
const unfollow = ({ store, log }: DeliveryDeps, place: PushPlace): void => {
  const batch = store.batch(runOf(place));
  store.pushOutbox.unfollow(batch, place);
  store.commit(batch).catch((err) => log.warn('push.cleanup_failed', { err, ...named(place) }));
};

/** The task or the maker of the config no longer exists, so the config is not accessible either. */
const forget = ({ store, log }: DeliveryDeps, place: PushPlace): void => {
  const batch = store.batch(runOf(place));
  store.pushConfigs.remove(batch, place);
  store.pushOutbox.clear(batch, place);
  store.commit(batch).catch((err) => log.warn('push.config_cleanup_failed', { err, ...named(place) }));
};

/** The config shows whether its events are dropped. */
const noteRights = (
  { store: { pushConfigs } }: DeliveryDeps,
  batch: Batch,
  place: PushPlace,
  isForbidden: boolean,
): void => {
  const config = pushConfigs.get(place);
  if (!config || (config.last_error !== undefined) === isForbidden) return;
  const { last_error: _, ...rest } = config;
  pushConfigs.put(batch, isForbidden ? { ...rest, last_error: 'forbidden' } : rest);
};

const hostFor = (
  deps: DeliveryDeps,
  place: PushPlace,
  { follower, removed }: { follower: Follower; removed(): void },
): Host => {
  const { store, clock, post, retries, log, timers = SYSTEM } = deps;
  const { pushOutbox, pushConfigs } = store;
  let event: PushEvent | undefined;
  let isForbidden = false;

  const record = async ({ verdict, attempts, error }: PushContext): Promise<void> => {
    if (!event) return;
    const batch = store.batch(runOf(place));
    const tried = attempts + 1;
    const failed = { ...event, attempts: tried, last_error: String(error) };
    if (verdict === 'delivered') noteRights(deps, batch, place, isForbidden);
    if (verdict === 'delivered') pushOutbox.remove(batch, place, event.order);
    else if (verdict === 'given_up') pushOutbox.bury(batch, place, failed);
    else pushOutbox.put(batch, place, { ...failed, available_at: clock.now() + delayAfter(tried) });
    await store.commit(batch);
    if (verdict === 'given_up') {
      log.warn('push.abandoned', { err: error, ...named(place), attempts: tried });
    }
  };

  return {
    follower,
    record,
    async send(signal) {
      event = pushOutbox.first(place);
      const config = pushConfigs.get(place);
      if (!event || !config) return 'empty';
      const judged = config.maker ? deps.judge(config.maker, place) : 'allowed';
      if (judged === 'ended') {
        forget(deps, place);
        removed();
        return 'empty';
      }
      isForbidden = judged === 'forbidden';
      if (isForbidden) return 'sent';
      await post(config, event.body, signal);
      retries.delivered(config.url);
      return 'sent';
    },
    rest: () => new Promise((resolve) => timers.setTimeout(resolve, STORE_PAUSE_MS)),
    delay() {
      const { available_at = 0, attempts = 0 } = pushOutbox.first(place) ?? {};
      if (attempts === 0) return 0;
      // Never longer than the chosen delay, because the wall clock may have been set back since.
      const ms = Math.min(delayAfter(attempts), Math.max(0, available_at - clock.now()));
      const config = pushConfigs.get(place);
      return config ? retries.take(config.url, clock.now() + ms) - clock.now() : ms;
    },
  };
};
