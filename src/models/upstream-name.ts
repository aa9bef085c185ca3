/** The canonical form of an upstream name. */
export const listName = (upstream: string): string =>
  upstream
    .trim()
    .toLowerCase()
    .replace(/^models\//, '');
