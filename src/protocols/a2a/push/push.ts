import type { Ids } from '../../../schema/clock.ts';
import type { Batch, PushConfigRow, PushPlace, TimedRun } from '../../../store/index.ts';
import { invalidRequest, noPush, taskNotFound } from '../errors.ts';
import type { Tasks } from '../model.ts';
import { checkPushConfig, type Enclosing, type PushConfig } from './config.ts';
import { type Delivery, type DeliveryDeps, startDelivery } from './delivery.ts';
import { enqueue } from './follower.ts';
import type { PostGuard } from './post.ts';
import { createRetrySlots } from './retry-slots.ts';

/**
 * Push notifications (a2a.md 11): configs, and one delivery for each whose task is not over.
 *
 * Guarantees: what is stored here is followed, also after a restart; a config that was removed is told nothing more.
 * A config that is stored again begins anew with the status as it is; what was queued for it stays queued.
 * Costs nothing for a task without configs.
 */
export type Push = InlinePush & {
  /**
   * Over one of the same id. Resolves when it is stored, with the status as it is now as its first event.
   * @throws A2aError 404 when there is no such task
   */
  add(scope: string, config: PushConfig): Promise<void>;
  remove(places: readonly PushPlace[]): Promise<void>;
  /** Takes up what an earlier process has left. */
  start(): void;
  stop(): void;
};

/** What the send routes need for `configuration.taskPushNotificationConfig`. */
export type InlinePush = {
  /** @throws A2aError 400, with all violations, or that there are no push notifications */
  check(config: unknown, enclosing: Enclosing): PushConfig;
  /**
   * A config is stored in the commit of its caller, or not at all; what becomes of that commit is waited for.
   * @throws A2aError 400 when the task has as many as it may
   */
  include<Done>(
    scope: string,
    commit: (alongside: (config: PushConfig) => Alongside) => Promise<Done>,
  ): Promise<Done>;
};

/** Puts a config into a commit, with the status that its task has in there. */
type Alongside = (batch: Batch, found: TimedRun) => void;

export type PushDeps = Omit<DeliveryDeps, 'retries'> & {
  ids: Ids;
  tasks: Pick<Tasks, 'find' | 'update' | 'watch'>;
  /** The same that `post` has. */
  guard?: PostGuard | undefined;
  enabled: boolean;
};

export const createPush = (deps: PushDeps): Push => {
  const { store, ids, tasks, guard, enabled } = deps;
  const deliveries = new Map<string, Delivery>();
  const retries = createRetrySlots();

  const drive = (place: PushPlace): void => {
    const key = keyOf(place);
    deliveries.get(key)?.stop();
    const delivery = startDelivery({ ...deps, retries }, place, () => {
      if (deliveries.get(key) === delivery) deliveries.delete(key);
    });
    deliveries.set(key, delivery);
  };

  /**
   * Configs of each task whose commit is under way. They may be read from the store already: what is seen in both
   * places is one.
   */
  const coming = new Map<string, string[]>();

  /** @throws A2aError 400 */
  const checkRoom = (place: PushPlace): void => {
    const known = new Set(coming.get(keyOfTask(place)));
    for (const stored of store.pushConfigs.list(place.scope, place.task_id)) known.add(keyOf(stored));
    if (!known.has(keyOf(place)) && known.size >= MOST_CONFIGS) throw tooMany();
  };

  /** A delivery ends before what it works on changes, so that nothing of it is written behind the change. */
  const include: InlinePush['include'] = async (scope, commit) => {
    let place: PushPlace | undefined;
    let before: Delivery | undefined;
    let announced: PushPlace | undefined;
    const alongside = (config: PushConfig): Alongside => {
      const at = placeOf(scope, config);
      checkRoom(at);
      announced = at;
      comes(at);
      return (batch, found) => {
        place = at;
        before = deliveries.get(keyOf(at));
        before?.stop();
        const { url, token, authentication } = config;
        store.pushConfigs.put(batch, { ...at, url, token, authentication });
        enqueue(deps, batch, at, { statusUpdate: tasks.update(scope, found) });
      };
    };
    try {
      const done = await commit(alongside);
      if (place) drive(place);
      return done;
    } catch (error) {
      if (place && before) drive(place);
      throw error;
    } finally {
      if (announced) arrived(announced);
    }
  };

  const comes = (place: PushPlace): void => {
    const task = keyOfTask(place);
    coming.set(task, [...(coming.get(task) ?? []), keyOf(place)]);
  };

  const arrived = (place: PushPlace): void => {
    const task = keyOfTask(place);
    const before = coming.get(task) ?? [];
    const left = before.toSpliced(before.indexOf(keyOf(place)), 1);
    if (left.length > 0) coming.set(task, left);
    else coming.delete(task);
  };

  return {
    check(config, enclosing) {
      if (!enabled) throw noPush();
      return checkPushConfig(config, enclosing, { newId: ids.uuid, guard });
    },
    include,
    add: (scope, config) =>
      include(scope, (alongside) => {
        const found = tasks.find(scope, config.taskId);
        if (!found) throw taskNotFound(config.taskId);
        const batch = store.batch();
        alongside(config)(batch, found);
        return store.commit(batch, 'input');
      }),
    async remove(places) {
      const batch = store.batch();
      for (const place of places) {
        store.pushConfigs.remove(batch, place);
        store.pushOutbox.clear(batch, place);
      }
      const stopped = places.filter((place) => deliveries.has(keyOf(place)));
      for (const place of stopped) deliveries.get(keyOf(place))?.remove();
      await store.commit(batch, 'input').catch((error) => {
        for (const place of stopped) drive(place);
        throw error;
      });
      // One that was added meanwhile, and removed with the rest.
      for (const place of places) deliveries.get(keyOf(place))?.remove();
    },
    start() {
      for (const { place } of store.pushOutbox.followed()) drive(place);
    },
    stop() {
      for (const delivery of deliveries.values()) delivery.stop();
      deliveries.clear();
    },
  };
};

/** Each change of a task is one request for each of its configs, of whatever tenant. */
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

const keyOf = ({ scope, task_id, id, tenant }: PushPlace): string =>
  JSON.stringify([scope, task_id, id, tenant ?? null]);

/** As it is shown. */
export const shownConfig = ({
  task_id,
  id,
  tenant,
  url,
  token,
  authentication,
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
});
