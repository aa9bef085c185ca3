/**
 * Where a browser is sent back to after it has left this service (identity.md 2.4, 6.2).
 *
 * Control characters, blanks and backslashes are rejected, because browsers and parsers of URLs disagree about them.
 */

/** Returns the address as parsed, if `isAllowed` accepts its origin; an address without an origin is of this service. */
export const readReturnTo = (
  text: string,
  own: string,
  isAllowed: (origin: string) => boolean,
): URL | undefined => {
  if (UNSAFE.test(text) || !URL.canParse(text, own)) return undefined;
  const url = new URL(text, own);
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  const isAnonymous = url.username === '' && url.password === '';
  return isWeb && isAnonymous && (url.origin === own || isAllowed(url.origin)) ? url : undefined;
};

const UNSAFE = /[\p{Cc}\s\\]/u;
