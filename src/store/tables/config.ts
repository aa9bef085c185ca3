import type { ConfigNamespace, ConfigRecord } from '../../schema/config-record.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, isId } from '../engine/keys.ts';
import { createSealedTable, type SealOlder } from '../engine/sealed-table.ts';
import type { Cipher } from '../engine/secrets-cipher.ts';

/**
 * The entries of the configuration, in each namespace in the byte order of their ids.
 *
 * Spec, overrides, paths of secrets and the published version are sealed; ids, revisions and actors are not. Records that differ from
 * their live version have a row in a separate small index.
 * Relies on one writer at a time: there is no compare-and-set; a record is read and put under the lock of the
 * configuration.
 */

export type ConfigTable = {
  get(namespace: ConfigNamespace, id: string): ConfigRecord | undefined;
  /** By id, ascending in byte order. Rows before `offset` are not read. */
  list(namespace: ConfigNamespace, page?: { offset?: number; limit?: number }): ConfigRecord[];
  put(batch: Batch, record: ConfigRecord): void;
  remove(batch: Batch, namespace: ConfigNamespace, id: string): void;
  /** Returns the records that have `published`. */
  unpublished(): ConfigRecord[];
};

type Body = Pick<ConfigRecord, 'spec' | 'user_overrides' | 'published' | 'dropped_secrets'>;
type Head = Omit<ConfigRecord, keyof Body>;
type Place = Pick<ConfigRecord, 'namespace' | 'id'>;

export const createConfigTable = (
  env: Environment,
  cipher: Cipher,
): { table: ConfigTable; sealOlder: SealOlder } => {
  const records = createSealedTable<Head, Body>(env, 'config', cipher);
  const differing = env.table<Place>('config_unpublished');

  const get = (namespace: ConfigNamespace, id: string): ConfigRecord | undefined =>
    isId(id) ? records.get([namespace, id]) : undefined;

  const table: ConfigTable = {
    get,
    list: (namespace, page = {}) => Array.from(records.values({ prefix: [namespace], ...page })),
    put(batch, { spec, user_overrides, published, dropped_secrets, ...head }) {
      const { namespace, id } = head;
      checkId('id', id);
      const key = [namespace, id];
      records.put(batch, key, head, { spec, user_overrides, published, dropped_secrets });
      if (published === undefined) differing.remove(batch, key);
      else differing.put(batch, key, { namespace, id });
    },
    remove(batch, namespace, id) {
      if (!isId(id)) return;
      records.remove(batch, [namespace, id]);
      differing.remove(batch, [namespace, id]);
    },
    unpublished: () =>
      Array.from(differing.values({ prefix: [] })).flatMap(({ namespace, id }) => get(namespace, id) ?? []),
  };
  return { table, sealOlder: records.sealOlder };
};
