import { CONFIG_NAMESPACES, type ConfigNamespace, type ConfigRecord } from '../../schema/config-record.ts';
import type { Store } from '../../store/index.ts';

/**
 * The stored records of the configuration in memory. A value of this type is immutable: a write creates the next one,
 * which becomes current only after its commit has succeeded.
 * Relies on this process being the only one that has the store open.
 * Cost: each change copies the map of its namespace.
 */
export type Stored = Readonly<Record<ConfigNamespace, ReadonlyMap<string, ConfigRecord>>>;

/** An absent `record` deletes the entry. */
export type Change = { namespace: ConfigNamespace; id: string; record: ConfigRecord | undefined };

const perNamespace = (mapOf: (namespace: ConfigNamespace) => ReadonlyMap<string, ConfigRecord>): Stored =>
  // Every namespace is present.
  Object.fromEntries(CONFIG_NAMESPACES.map((namespace) => [namespace, mapOf(namespace)])) as Stored;

export const NOTHING_STORED: Stored = perNamespace(() => new Map());

export const readStored = ({ config }: Pick<Store, 'config'>): Stored =>
  perNamespace((namespace) => new Map(config.list(namespace).map((record) => [record.id, record])));

export const withChanges = (stored: Stored, changes: readonly Change[]): Stored => {
  if (changes.length === 0) return stored;
  const changed = new Map<ConfigNamespace, Map<string, ConfigRecord>>();
  for (const { namespace, id, record } of changes) {
    const entries = changed.get(namespace) ?? new Map(stored[namespace]);
    changed.set(namespace, entries);
    if (record) entries.set(id, record);
    else entries.delete(id);
  }
  return perNamespace((namespace) => changed.get(namespace) ?? stored[namespace]);
};

export const recordsIn = (stored: Stored): ConfigRecord[] =>
  CONFIG_NAMESPACES.flatMap((namespace) => [...stored[namespace].values()]);

/** Returns changes that make all stored content live. */
export const published = (stored: Stored): Change[] =>
  CONFIG_NAMESPACES.flatMap((namespace) =>
    [...stored[namespace].values()].flatMap((record) => {
      if (record.published === undefined) return [];
      const { published: _, ...rest } = record;
      return { namespace, id: record.id, record: rest };
    }),
  );
