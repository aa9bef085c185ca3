import { useMemo } from 'react';
import { anyObject, type JsonObject } from '../data/guard.ts';
import { Meta } from '../data/meta.ts';
import { type Loaded, type Resource, useResource } from '../data/queries.ts';
import { pathOf } from '../data/request.ts';
import { useQueryState } from '../list/use-query-state.ts';
import { asSpec, copyOf, type EntryKind, type Opened, type Spec } from './entry.ts';

/** The entry that the address opens: `edit=<id>`, `new=1` for a new one, and `from=<id>` for a copy. */
export const useEntryAddress = () => {
  const [query, setQuery] = useQueryState();
  const isNew = query.new === '1';
  const CLOSED = { new: undefined, edit: undefined, from: undefined };
  return {
    isNew,
    id: isNew ? undefined : query.edit,
    from: isNew ? query.from : undefined,
    edit: (id: string): void => setQuery({ ...CLOSED, edit: id }),
    create: (from?: string): void => setQuery({ ...CLOSED, new: '1', from }),
    close: (): void => setQuery(CLOSED),
  };
};

const entryOf = ({ namespace }: EntryKind, id: string): Resource<JsonObject> => ({
  path: pathOf`/v1/config/${namespace}/${id}`,
  guard: anyObject,
});

const metaOfEntry = ({ namespace }: EntryKind, id: string): Resource<Meta> => ({
  path: pathOf`/v1/config/${namespace}/${id}/meta`,
  guard: Meta,
});

/** A stored entry with its metadata; undefined until both are read. */
export const useStoredEntry = (
  kind: EntryKind,
  id: string | undefined,
): { query: Loaded<JsonObject>; opened: Opened | undefined } => {
  const isNamed = id !== undefined;
  const query = useResource(entryOf(kind, id ?? ''), isNamed);
  const meta = useResource(metaOfEntry(kind, id ?? ''), isNamed);
  const isKnown = meta.data !== undefined || meta.error !== null;
  const opened = useMemo(
    () => (query.data && isKnown ? { isNew: false, start: asSpec(query.data), meta: meta.data } : undefined),
    [query.data, meta.data, isKnown],
  );
  return { query, opened };
};

/** @param copied the entry of which the new one is a copy */
export const newEntry = (start: Spec, copied?: Spec): Opened => ({
  isNew: true,
  start,
  meta: undefined,
  ...(copied && { copied: copyOf(copied) }),
});
