/**
 * Where a browser is sent back to after it has left this service (identity.md 2.6, 6.2).
 *
 * Browsers ignore tabs and line breaks in an address and read `\` as `/`, so such characters are not allowed at all.
 */

/** Returns the address as parsed, if `isAllowed` accepts its origin; an address without an origin is of this service. */
export const readReturnTo = (
  text: string,
  own: string,
  isAllowed: (origin: string) => boolean,
): URL | undefined => {
  if (text.length > MOST_CHARACTERS || FORBIDDEN.test(text) || !URL.canParse(text, own)) return undefined;
  const url = new URL(text, own);
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  const isAnonymous = url.username === '' && url.password === '';
  return isWeb && isAnonymous && (url.origin === own || isAllowed(url.origin)) ? url : undefined;
};

/** Returns the path, query and fragment of a path on the own origin, or `/` for anything else. */
export const returnPath = (given: string | undefined, origin: string): string => {
  const url = given?.startsWith('/') ? readReturnTo(given, origin, () => false) : undefined;
  // A path such as `/.//evil` becomes one that names a host.
  return url === undefined || url.pathname.startsWith('//') ? '/' : url.pathname + url.search + url.hash;
};

const MOST_CHARACTERS = 2048;
const FORBIDDEN = /[\p{C}\s\\]/u;
