import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import { checkId, indexed, isId, type Key } from './keys.ts';
import { createSealedTable, type SealOlder } from './sealed-table.ts';
import type { Cipher } from './secrets-cipher.ts';

/**
 * Where changes of tasks are sent (a2a.md 11.1), by task, then by the bytes of their ids, then by tenant. Address and
 * credentials are sealed.
 */

/** The same id may stand for one config in each tenant, and for one without. */
export type PushPlace = { scope: string; task_id: string; id: string; tenant?: string | undefined };

export type PushTarget = {
  url: string;
  token?: string | undefined;
  authentication?: { scheme: string; credentials?: string | undefined } | undefined;
};

export type PushConfigRow = PushPlace & PushTarget;

export type PushConfigTable = {
  get(place: PushPlace): PushConfigRow | undefined;
  /** Those of all tenants that have the id. */
  withId(scope: string, task_id: string, id: string): PushConfigRow[];
  /** Of a task, by id, behind `after`. */
  list(scope: string, task_id: string, after?: PushPlace): Iterable<PushConfigRow>;
  put(batch: Batch, config: PushConfigRow): void;
  remove(batch: Batch, place: PushPlace): void;
};

/** Ends every key of a config, so that the keys of one config are no prefix of those of another. */
const tenantKey = (tenant: string | undefined): string => (tenant === undefined ? '-' : indexed(tenant));

export const pushKey = ({ scope, task_id, id, tenant }: PushPlace): Key => [
  scope,
  task_id,
  id,
  tenantKey(tenant),
];

/** @throws Invalid */
export const checkPushPlace = ({ scope, task_id, id }: PushPlace): void => {
  checkId('scope', scope);
  checkId('task id', task_id);
  checkId('id of the push notification config', id);
};

export const createPushConfigTable = (
  env: Environment,
  cipher: Cipher,
): { table: PushConfigTable; sealOlder: SealOlder } => {
  const rows = createSealedTable<PushPlace, PushTarget>(env, 'push_configs', cipher);
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
      checkPushPlace(place);
      rows.put(batch, pushKey(place), place, target);
    },
    remove: (batch, place) => rows.remove(batch, pushKey(place)),
  };
  return { table, sealOlder: rows.sealOlder };
};
