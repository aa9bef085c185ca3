/**
 * Returns the path, query and fragment to which a browser returns after it has signed in (identity.md 2.4), or `/`
 * unless the address stays on the own origin.
 *
 * Browsers ignore tabs and line breaks in an address and read `\` as `/`, so such characters are not allowed at all.
 */
export const returnPath = (given: string | undefined, origin: string): string => {
  if (given === undefined || given.length > MOST_CHARACTERS || FORBIDDEN.test(given)) return '/';
  if (!given.startsWith('/') || !URL.canParse(given, origin)) return '/';
  const { origin: found, pathname, search, hash } = new URL(given, origin);
  // A path such as `/.//evil` becomes one that names a host.
  return found === origin && !pathname.startsWith('//') ? pathname + search + hash : '/';
};

const MOST_CHARACTERS = 2048;
const FORBIDDEN = /[\p{C}\s\\]/u;
