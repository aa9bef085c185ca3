import { withoutTrailing } from '../../schema/trailing.ts';

/** The paths that have a screen, so that no link of the console leads anywhere else. */

let screens: readonly (readonly string[])[] = [];

const segmentsOf = (path: string): string[] => withoutTrailing(path, '/').split('/');

/** Must be called once, with the paths of all screens, such as `/runs/$id`. */
export const setScreenPaths = (paths: readonly string[]): void => {
  screens = paths.map(segmentsOf);
};

/** @param href may include a query and a fragment */
export const isScreen = (href: string): boolean => {
  const [path = ''] = href.split(/[?#]/, 1);
  const segments = segmentsOf(path);
  if (path === '') return false;
  return screens.some(
    (screen) =>
      screen.length === segments.length &&
      screen.every((part, at) => (part.startsWith('$') ? segments[at] !== '' : part === segments[at])),
  );
};
