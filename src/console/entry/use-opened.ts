import { useMemo } from 'react';
import { anyObject, type JsonObject } from '../data/guard.ts';
import { Meta } from '../data/meta.ts';
import { type Loaded, type Resource, useResource } from '../data/queries.ts';
import { pathOf } from '../data/request.ts';
import { useQueryState } from '../list/use-query-state.ts';
import { asSpec, type EntryKind, type Opened, type Spec } from './entry.ts';

/** Which entry the address has open: `edit=<id>`, or a new one by `new=1`. */
export const useEntryAddress = () => {
  const [query, setQuery] = useQueryState();
  const isNew = query.new === '1';
  return {
    isNew,
    id: isNew ? undefined : query.edit,
    edit: (id: string): void => setQuery({ edit: id, new: undefined }),
    create: (): void => setQuery({ new: '1', edit: undefined }),
    close: (): void => setQuery({ new: undefined, edit: undefined }),
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

/** An entry as it is stored, with what is known of it; undefined until both are read. */
export const useStoredEntry = (
  kind: EntryKind,
  id: string,
): { query: Loaded<JsonObject>; opened: Opened | undefined } => {
  const query = useResource(entryOf(kind, id));
  const meta = useResource(metaOfEntry(kind, id));
  const isKnown = meta.data !== undefined || meta.error !== null;
  const opened = useMemo(
    () => (query.data && isKnown ? { isNew: false, start: asSpec(query.data), meta: meta.data } : undefined),
    [query.data, meta.data, isKnown],
  );
  return { query, opened };
};

export const newEntry = (start: Spec): Opened => ({ isNew: true, start, meta: undefined });
