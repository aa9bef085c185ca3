import { createAtom } from '@xstate/store';
import { useCallback } from 'react';
import { withoutTrailing } from '../../schema/trailing.ts';
import { useAtom } from '../data/use-atom.ts';

/** The paths that have a screen that this principal may use, so that no link of the console leads anywhere else. */

type Paths = readonly (readonly string[])[];

const screens = createAtom<Paths>([]);

const segmentsOf = (path: string): string[] => withoutTrailing(path, '/').split('/');

/** @param paths those of the screens, such as `/runs/$id` */
export const setScreenPaths = (paths: readonly string[]): void => {
  if (
    paths.join() !==
    screens
      .get()
      .map((segments) => segments.join('/'))
      .join()
  )
    screens.set(paths.map(segmentsOf));
};

const leadsTo = (known: Paths, href: string): boolean => {
  const [path = ''] = href.split(/[?#]/, 1);
  const segments = segmentsOf(path);
  if (path === '') return false;
  return known.some(
    (screen) =>
      screen.length === segments.length &&
      screen.every((part, at) => (part.startsWith('$') ? segments[at] !== '' : part === segments[at])),
  );
};

/** @param href may include a query and a fragment */
export const isScreen = (href: string): boolean => leadsTo(screens.get(), href);

/** `isScreen`, which renders again when the principal gets or loses a screen. */
export const useIsScreen = (): typeof isScreen => {
  const known = useAtom(screens);
  return useCallback((href) => leadsTo(known, href), [known]);
};
