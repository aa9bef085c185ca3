import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { Query, QueryChange } from './list-state.ts';

/** The query parameters of the address as unchecked texts. */
export const useQueryState = (): [Query, (change: QueryChange) => void] => {
  // The router parses all query parameters as texts (shell/router.tsx), and routes declare no types for them.
  const query = useSearch({ strict: false }) as Query;
  const navigate = useNavigate();
  const change = useCallback(
    (changed: QueryChange) =>
      void navigate({
        to: '.',
        search: (before: QueryChange) => ({ ...before, ...changed }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  return [query, change];
};
