/** Which addresses have a screen: nothing of the console leads to where there is none. */

let patterns: readonly RegExp[] = [];

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.*+?^{}()|[\]\\]/g, '\\$&').replace(/\$\w+/g, '[^/]+')}/?$`);

/** Once, with the paths of all screens. */
export const setScreenPaths = (paths: readonly string[]): void => {
  patterns = paths.map(patternOf);
};

/** @param href perhaps with a query */
export const isScreen = (href: string): boolean => {
  const [path = ''] = href.split(/[?#]/);
  return patterns.some((pattern) => pattern.test(path));
};
