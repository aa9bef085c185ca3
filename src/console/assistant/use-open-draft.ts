import { useRouter } from '@tanstack/react-router';
import { useCallback } from 'react';
import { KEYS } from '../data/storage.ts';
import type { Spec } from './actions.ts';

const EDITOR = '/agents/new';

/** Hands a draft to the editor, which takes it as what it starts with. Nothing is stored by that. */
export const useOpenDraft = (): ((spec: Spec, tab?: string) => Promise<void>) => {
  const router = useRouter();
  return useCallback(
    async (spec, tab) => {
      // An editor that is open has begun with something else: it is left first, which it may ask about.
      if (router.state.location.pathname === EDITOR) await router.navigate({ to: '/agents' });
      if (router.state.location.pathname === EDITOR) return;
      try {
        sessionStorage.setItem(`${KEYS.draft}.new`, JSON.stringify({ spec }));
      } catch {
        // Nothing is kept for this page: the editor opens empty.
      }
      await router.navigate({ to: EDITOR, search: tab === undefined ? {} : { tab } });
    },
    [router],
  );
};
