/**
 * Cookies of this service (identity.md 2.5).
 *
 * The prefix `__Host-` makes browsers accept a cookie only from this origin, over https and for all paths, so no other
 * host or port can set it.
 */
export const SESSION_COOKIE = '__Host-troupe_session';

/** Returns the first value of a cookie in the header `Cookie`. */
export const readCookie = (header: string | undefined, name: string): string | undefined => {
  if (header === undefined) return undefined;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals >= 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
};

/** @param maxAgeSecs 0 removes the cookie */
export const setCookie = (name: string, value: string, maxAgeSecs: number): string =>
  `${name}=${value}; Path=/; Max-Age=${maxAgeSecs}; Secure; HttpOnly; SameSite=Lax`;

export const NO_SESSION_COOKIE = setCookie(SESSION_COOKIE, '', 0);
