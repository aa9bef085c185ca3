import { useLayoutEffect, useMemo } from 'react';
import { type Identity, mayUse } from '../data/principal.ts';
import { setScreenPaths } from '../navigation/screen-paths.ts';
import type { Screen } from './screen.ts';

/** Returns the screens that a principal may use; links of the console then lead to no other. */
export const useScreens = (screens: readonly Screen[], who: Identity | undefined): readonly Screen[] => {
  const allowed = useMemo(() => screens.filter(({ needs }) => mayUse(who, needs)), [screens, who]);
  useLayoutEffect(() => setScreenPaths(allowed.map(({ path }) => path)), [allowed]);
  return allowed;
};
