import { useCallback, useMemo, useSyncExternalStore } from 'react';

export const useMedia = (query: string): boolean => {
  const media = useMemo(() => matchMedia(query), [query]);
  const listen = useCallback(
    (changed: () => void) => {
      media.addEventListener('change', changed);
      return () => media.removeEventListener('change', changed);
    },
    [media],
  );
  return useSyncExternalStore(listen, () => media.matches);
};
