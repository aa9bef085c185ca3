import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { anyObject, type JsonObject } from '../data/guard.ts';
import { type Resource, useResource } from '../data/queries.ts';
import { pathOf } from '../data/request.ts';
import { useQueryState } from '../list/use-query-state.ts';
import { copyOf, type EntryKind, type Opened, type Spec } from './entry.ts';
import { readEntry } from './stored-entry.ts';

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

/**
 * The entry that a form starts with, once it and its schema are read. It is read for each form, and once: a cached
 * entry may be outdated, and a later read must not replace what was typed.
 *
 * @param id the stored entry, or the one that a new entry is a copy of
 * @param create the initial values of a new entry, or a function that makes them from the copied entry
 */
export const useOpening = (
  kind: EntryKind,
  id: string | undefined,
  create: Spec | ((copied: Spec | undefined) => Opened) | undefined,
) => {
  const schema = useResource(schemaOf(kind.namespace));
  const form = useId();
  const query = useQuery({
    queryKey: ['form', kind.namespace, id, form],
    queryFn: ({ signal }) => readEntry(kind, id ?? '', signal),
    enabled: id !== undefined,
    gcTime: 0,
  });
  const [first, setFirst] = useState<Opened>();
  if (!first && (id === undefined || query.data)) {
    const copied = query.data?.start;
    const made = typeof create === 'function' ? create(copied) : create && newEntry(create, copied);
    setFirst(made ?? query.data);
  }
  return { opened: first, schema: schema.data, query: query.error ? query : schema };
};

/** A stored entry, for pages that show it. */
export const useStoredEntry = ({ namespace }: EntryKind, id: string | undefined) => ({
  query: useResource(
    { path: pathOf`/v1/config/${namespace}/${id ?? ''}`, guard: anyObject },
    id !== undefined,
  ),
});

/** @param copied the entry of which the new one is a copy */
const newEntry = (start: Spec, copied?: Spec): Opened => ({
  isNew: true,
  start,
  meta: undefined,
  ...(copied && { copied: copyOf(copied) }),
});

/** The schema of the entries of a namespace: their writable fields. */
const schemaOf = (namespace: string): Resource<JsonObject> => ({
  path: `/v1/config/${namespace}/$schema`,
  guard: anyObject,
  off: { statuses: [404], setting: 'SERVICE_EXPOSE_CONFIG_ROUTES' },
});
