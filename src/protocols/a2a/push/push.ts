import type { Ids } from '../../../schema/clock.ts';
import type { Accept } from '../../../schema/idempotency.ts';
import type { Maker } from '../../../schema/maker.ts';
import type { Batch, PushConfigRow, PushPlace, Store, TimedRun } from '../../../store/index.ts';
import { invalidRequest, noPush, taskNotFound } from '../errors.ts';
import type { Tasks } from '../model.ts';
import { checkPushConfig, type Enclosing, type PushConfig } from './config.ts';
import { type Delivery, type DeliveryDeps, startDelivery } from './delivery.ts';
import { enqueue } from './follower.ts';
import type { PostGuard } from './post.ts';
import { createRetrySlots } from './retry-slots.ts';

/**
 * Push notifications (a2a.md 11): configs, and one delivery for each config whose task is not over.
 *
 * Guarantees: stored configs are followed, also after a restart; a removed config receives no more notifications. A
 * config that is stored again restarts with the current status; its queued events stay queued.
 * Cost: none for a task without configs.
 */
export type Push = InlinePush & {
  /**
   * Stores a config and replaces one with the same id. Resolves when it is stored with the current status as its first
   * event. Events are sent as long as its maker has the rights to it.
   * @throws A2aError 404 if the task does not exist
   */
  add(scope: string, config: PushConfig, by?: { maker?: Maker; keyed?: Accept<PushConfig> }): Promise<void>;
  /** Returns whether the user or the key that made a config no longer exists, so that the config does not either. */
  isEnded(config: PushConfigRow): boolean;
  remove(places: readonly PushPlace[]): Promise<void>;
  /**
   * Stops the deliveries of tasks until the returned function is called, with the place of the tasks at that time.
   */
  suspend(scope: string, task_ids: readonly string[]): (scope: string, task_ids: readonly string[]) => void;
  /** Resumes the deliveries of an earlier process. */
  start(): void;
  stop(): void;
};

/** The operations for `configuration.taskPushNotificationConfig` of the send routes. */
export type InlinePush = {
  /** @throws A2aError 400 with all violations, or if push notifications are disabled */
  check(config: unknown, enclosing: Enclosing): PushConfig;
  /**
   * Stores a config in the commit of the caller, or not at all; waits for the outcome of that commit.
   * @throws A2aError 400 if the task has reached the limit of configs
   */
  include<Done>(
    scope: string,
    commit: (addConfig: (config: PushConfig, maker?: Maker) => ConfigWrite) => Promise<Done>,
  ): Promise<Done>;
};

/** Adds a config to a commit, with the status of its task in that commit. */
type ConfigWrite = (batch: Batch, found: TimedRun) => void;

export type PushDeps = Omit<DeliveryDeps, 'retries'> & {
  store: Pick<Store, 'idempotency'>;
  ids: Ids;
  tasks: Pick<Tasks, 'find' | 'update' | 'watch'>;
  /** The same guard as that of `post`. */
  guard?: PostGuard | undefined;
  enabled: boolean;
};

export const createPush = (deps: PushDeps): Push => {
  const { store, ids, tasks, guard, enabled } = deps;
  const deliveries = createDeliveries(deps);
  const reservations = createReservations(store);

  /** Stops the delivery before its config changes, so that it cannot overwrite the change. */
  const include: InlinePush['include'] = async (scope, commit) => {
    let place: PushPlace | undefined;
    let before: Delivery | undefined;
    let reserved: PushPlace | undefined;
    const addConfig = (config: PushConfig, maker?: Maker): ConfigWrite => {
      const at = placeOf(scope, config);
      reservations.reserve(at);
      reserved = at;
      return (batch, found) => {
        place = at;
        before = deliveries.get(at);
        before?.stop();
        const { url, token, authentication } = config;
        store.pushConfigs.put(batch, { ...at, url, token, authentication, ...(maker && { maker }) });
        enqueue(deps, batch, at, { statusUpdate: tasks.update(scope, found) });
      };
    };
    try {
      const done = await commit(addConfig);
      if (place) deliveries.start(place);
      return done;
    } catch (error) {
      if (place && before) deliveries.start(place);
      throw error;
    } finally {
      if (reserved) reservations.release(reserved);
    }
  };

  return {
    check(config, enclosing) {
      if (!enabled) throw noPush();
      return checkPushConfig(config, enclosing, { newId: ids.uuid, guard });
    },
    include,
    add: (scope, config, { maker, keyed } = {}) =>
      include(scope, (addConfig) => {
        const found = tasks.find(scope, config.taskId);
        if (!found) throw taskNotFound(config.taskId);
        const batch = store.batch({ scope, run_id: config.taskId });
        addConfig(config, maker)(batch, found);
        if (keyed) store.idempotency.put(batch, keyed(config));
        return store.commit(batch, 'input');
      }),
    isEnded: ({ maker, ...place }) => maker !== undefined && deps.judge(maker, place) === 'ended',
    async remove(places) {
      const batch = store.batch('commons');
      for (const place of places) {
        store.pushConfigs.remove(batch, place);
        store.pushOutbox.clear(batch, place);
      }
      const stopped = places.filter((place) => deliveries.get(place));
      for (const place of stopped) deliveries.get(place)?.remove();
      await store.commit(batch, 'input').catch((error) => {
        for (const place of stopped) deliveries.start(place);
        throw error;
      });
      // A config that was added during the commit was removed with the others.
      for (const place of places) deliveries.get(place)?.remove();
    },
    suspend: deliveries.suspend,
    start() {
      for (const { place } of store.pushOutbox.followed()) deliveries.start(place);
    },
    stop: deliveries.stop,
  };
};

/** The running deliveries, one for each config. */
const createDeliveries = (deps: Omit<DeliveryDeps, 'retries'> & { enabled: boolean }) => {
  const { store, enabled } = deps;
  const running = new Map<string, Delivery>();
  const retries = createRetrySlots();
  const start = (place: PushPlace): void => {
    const key = keyOf(place);
    running.get(key)?.stop();
    // A delivery may end while it starts.
    const started: { delivery?: Delivery; isOver?: true } = {};
    started.delivery = startDelivery({ ...deps, retries }, place, () => {
      started.isOver = true;
      if (running.get(key) === started.delivery) running.delete(key);
    });
    if (!started.isOver) running.set(key, started.delivery);
  };
  const configsOf = (scope: string, task_ids: readonly string[]): PushPlace[] =>
    task_ids.flatMap((task_id) => Array.from(store.pushConfigs.list(scope, task_id)));
  const suspend: Push['suspend'] = (scope, task_ids) => {
    for (const config of configsOf(scope, task_ids)) running.get(keyOf(config))?.stop();
    return (to, tasks) => {
      if (!enabled) return;
      for (const config of configsOf(to, tasks)) if (store.pushOutbox.markOf(config)) start(placeIn(config));
    };
  };
  return {
    get: (place: PushPlace): Delivery | undefined => running.get(keyOf(place)),
    /** Replaces the running delivery of the config. */
    start,
    suspend,
    stop(): void {
      for (const delivery of running.values()) delivery.stop();
      running.clear();
    },
  };
};

/**
 * Limits the configs of a task, including those of pending commits. A config may be readable from the store while its
 * commit is still pending, so duplicates are counted once.
 */
const createReservations = (store: Pick<PushDeps['store'], 'pushConfigs'>) => {
  const pending = new Map<string, string[]>();
  return {
    /** @throws A2aError 400 */
    reserve(place: PushPlace): void {
      const task = keyOfTask(place);
      const ofTask = pending.get(task) ?? [];
      const known = new Set(ofTask);
      for (const stored of store.pushConfigs.list(place.scope, place.task_id)) known.add(keyOf(stored));
      if (!known.has(keyOf(place)) && known.size >= MOST_CONFIGS) throw tooMany();
      pending.set(task, [...ofTask, keyOf(place)]);
    },
    /** Called after the commit. */
    release(place: PushPlace): void {
      const task = keyOfTask(place);
      const ofTask = pending.get(task) ?? [];
      const others = ofTask.toSpliced(ofTask.indexOf(keyOf(place)), 1);
      if (others.length > 0) pending.set(task, others);
      else pending.delete(task);
    },
  };
};

/** Each change of a task causes one request per config, across all tenants. */
const MOST_CONFIGS = 100;

const tooMany = () =>
  invalidRequest([
    {
      field: 'pushNotificationConfig',
      description: `a task has at most ${MOST_CONFIGS} push notification configs; delete or replace one`,
    },
  ]);

const keyOfTask = ({ scope, task_id }: PushPlace): string => JSON.stringify([scope, task_id]);

const placeOf = (scope: string, { taskId: task_id, id, tenant }: PushConfig): PushPlace => ({
  scope,
  task_id,
  id,
  tenant,
});

/** Without the secrets of the config. */
const placeIn = ({ scope, task_id, id, tenant }: PushPlace): PushPlace => ({ scope, task_id, id, tenant });

const keyOf = ({ scope, task_id, id, tenant }: PushPlace): string =>
  JSON.stringify([scope, task_id, id, tenant ?? null]);

/** Returns the public form of a config. */
export const shownConfig = ({
  task_id,
  id,
  tenant,
  url,
  token,
  authentication,
  last_error,
}: PushConfigRow): PushConfig => ({
  id,
  taskId: task_id,
  ...(tenant !== undefined && { tenant }),
  url,
  ...(token !== undefined && { token }),
  ...(authentication && {
    authentication: {
      scheme: authentication.scheme,
      ...(authentication.credentials !== undefined && { credentials: authentication.credentials }),
    },
  }),
  ...(last_error && { last_error }),
});
