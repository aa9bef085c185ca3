import type { Ids } from '../../../schema/clock.ts';
import type { Batch, PushConfigRow, PushPlace } from '../../../store/index.ts';
import { taskNotFound } from '../errors.ts';
import type { Tasks } from '../model.ts';
import { checkPushConfig, type Enclosing, type PushConfig } from './config.ts';
import { type Delivery, type DeliveryDeps, startDelivery } from './delivery.ts';
import { enqueue, statusUpdateOf } from './follower.ts';
import type { PostGuard } from './post.ts';

/**
 * Push notifications (a2a.md 11): configs, and one delivery for each whose task is not over.
 *
 * Guarantees: what is stored here is followed, also after a restart; a config that was removed is told nothing more.
 * A config that is stored again begins anew with the status as it is; what was queued for it stays queued.
 * Costs nothing for a task without configs.
 */
export type Push = {
  /** @throws A2aError 400, with all violations */
  check(config: unknown, enclosing: Enclosing): PushConfig;
  /**
   * Over one of the same id. Resolves when it is stored, with the status as it is now as its first event.
   * @throws A2aError 404 when there is no such task
   */
  add(scope: string, task_id: string, tenant: string | undefined, config: PushConfig): Promise<void>;
  remove(places: readonly PushPlace[]): Promise<void>;
  /** Takes up what an earlier process has left. */
  start(): void;
  stop(): void;
};

export type PushDeps = DeliveryDeps & {
  ids: Ids;
  tasks: Pick<Tasks, 'get' | 'watch'>;
  /** The same that `post` has. */
  guard?: PostGuard | undefined;
};

export const createPush = (deps: PushDeps): Push => {
  const { store, ids, tasks, guard } = deps;
  const deliveries = new Map<string, Delivery>();

  const drive = (place: PushPlace): void => {
    const key = keyOf(place);
    deliveries.get(key)?.stop();
    const delivery = startDelivery(deps, place, () => {
      if (deliveries.get(key) === delivery) deliveries.delete(key);
    });
    deliveries.set(key, delivery);
  };

  /** Deliveries end before what they work on changes, so that nothing of theirs is written behind the change. */
  const change = async (
    places: readonly PushPlace[],
    batch: Batch,
    how: 'stop' | 'remove',
  ): Promise<void> => {
    const stopped = places.filter((place) => deliveries.has(keyOf(place)));
    for (const place of stopped) deliveries.get(keyOf(place))?.[how]();
    await store.commit(batch, 'input').catch((error) => {
      for (const place of stopped) drive(place);
      throw error;
    });
  };

  return {
    check: (config, enclosing) => checkPushConfig(config, enclosing, { newId: ids.uuid, guard }),
    async add(scope, task_id, tenant, { id, url, token, authentication }) {
      const place = { scope, task_id, id, tenant };
      const task = tasks.get(scope, task_id);
      if (!task) throw taskNotFound(task_id);
      const batch = store.batch();
      store.pushConfigs.put(batch, { ...place, url, token, authentication });
      enqueue(deps, batch, place, statusUpdateOf(task));
      await change([place], batch, 'stop');
      drive(place);
    },
    async remove(places) {
      const batch = store.batch();
      for (const place of places) {
        store.pushConfigs.remove(batch, place);
        store.pushOutbox.clear(batch, place);
      }
      await change(places, batch, 'remove');
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
