import { createAtom } from '@xstate/store';
import { useEffect } from 'react';

/** Names of entries whose ids say nothing to a person, by id. The breadcrumb shows them. */
export const entryNames = createAtom<ReadonlyMap<string, string>>(new Map());

/** @param name undefined until it is known */
export const useEntryName = (id: string, name: string | undefined): void =>
  useEffect(() => {
    if (name !== undefined) entryNames.set(new Map(entryNames.get()).set(id, name));
  }, [id, name]);
