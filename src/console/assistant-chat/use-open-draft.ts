import { useRouter } from '@tanstack/react-router';
import { useCallback } from 'react';
import { KEYS, writeOfTab } from '../data/storage.ts';
import type { Spec } from './actions.ts';

const EDITOR = '/agents/new';

/** Opens the editor with a draft as its initial content. Nothing is stored. */
export const useOpenDraft = (): ((spec: Spec, tab?: string) => Promise<void>) => {
  const router = useRouter();
  return useCallback(
    async (spec, tab) => {
      // An open editor would keep its own content, so leave it first; it may ask the user to confirm.
      if (router.state.location.pathname === EDITOR) await router.navigate({ to: '/agents' });
      if (router.state.location.pathname === EDITOR) return;
      // Where the browser stores nothing for this page, the editor opens empty.
      writeOfTab(`${KEYS.draft}.new`, JSON.stringify({ spec }));
      await router.navigate({ to: EDITOR, search: tab === undefined ? {} : { tab } });
    },
    [router],
  );
};
