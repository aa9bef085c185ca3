import type { Maker } from '../../schema/maker.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, indexed, isId, type Key } from '../engine/keys.ts';
import { createSealedTable, type SealOlder } from '../engine/sealed-table.ts';
import type { Cipher } from '../engine/secrets-cipher.ts';

/**
 * Push configs: the endpoints for changes of tasks (a2a.md 11.1), by task, then by the bytes of their ids, then by
 * tenant. URL and credentials are sealed.
 */

/** An id can refer to one config in each tenant, and to one without a tenant. */
export type PushConfigKey = { scope: string; task_id: string; id: string; tenant?: string | undefined };

export type PushTarget = {
  url: string;
  token?: string | undefined;
  authentication?: { scheme: string; credentials?: string | undefined } | undefined;
};

export type PushConfigRow = PushConfigKey &
  PushTarget & {
    /** Absent if no change of users and keys matters. */
    maker?: Maker | undefined;
    /** Set while its maker lacks the rights to receive events. */
    last_error?: 'forbidden' | undefined;
  };

export type PushConfigTable = {
  get(place: PushConfigKey): PushConfigRow | undefined;
  /** Returns the configs of all tenants with this id. */
  withId(scope: string, task_id: string, id: string): PushConfigRow[];
  /** Returns the configs of a task that follow `after`, by id. */
  list(scope: string, task_id: string, after?: PushConfigKey): Iterable<PushConfigRow>;
  put(batch: Batch, config: PushConfigRow): void;
  remove(batch: Batch, place: PushConfigKey): void;
};

/** Ends every key of a config, so that the key of one config is never a prefix of another. */
const tenantKey = (tenant: string | undefined): string => (tenant === undefined ? '-' : indexed(tenant));

export const pushKey = ({ scope, task_id, id, tenant }: PushConfigKey): Key => [
  scope,
  task_id,
  id,
  tenantKey(tenant),
];

/** @throws Invalid */
export const checkPushConfigKey = ({ scope, task_id, id }: PushConfigKey): void => {
  checkId('scope', scope);
  checkId('task id', task_id);
  checkId('id of the push notification config', id);
};

export const createPushConfigTable = (
  env: Environment,
  cipher: Cipher,
): { table: PushConfigTable; sealOlder: SealOlder } => {
  const rows = createSealedTable<PushConfigKey, Omit<PushConfigRow, keyof PushConfigKey>>(
    env,
    'push_configs',
    cipher,
  );
  const table: PushConfigTable = {
    get: (place) => (isId(place.task_id) && isId(place.id) ? rows.get(pushKey(place)) : undefined),
    withId: (scope, task_id, id) =>
      isId(task_id) && isId(id) ? Array.from(rows.values({ prefix: [scope, task_id, id] })) : [],
    list: (scope, task_id, after) =>
      isId(task_id)
        ? rows.values({
            prefix: [scope, task_id],
            ...(after && { after: [after.id, tenantKey(after.tenant)] }),
          })
        : [],
    put(batch, { scope, task_id, id, tenant, ...target }) {
      const place = { scope, task_id, id, tenant };
      checkPushConfigKey(place);
      rows.put(batch, pushKey(place), place, target);
    },
    remove: (batch, place) => rows.remove(batch, pushKey(place)),
  };
  return { table, sealOlder: rows.sealOlder };
};
