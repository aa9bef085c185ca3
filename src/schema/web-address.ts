/**
 * Addresses that the service sends requests to. What is wrong with one is said without the address: it may hold a
 * password.
 */

export const ADDRESS_RULE = 'must be an absolute URL with http:// or https://';

export const isWebAddress = (address: string): boolean =>
  /^\s*https?:\/\//i.test(address) && URL.canParse(address);

/** Whether the address has the scheme, host and port of the other one, and a path at or below its path. */
export const isWithin = (address: string, base: string): boolean => {
  if (!URL.canParse(address) || !URL.canParse(base)) return false;
  const [inner, outer] = [new URL(address), new URL(base)];
  return inner.origin === outer.origin && withSlash(inner.pathname).startsWith(withSlash(outer.pathname));
};

const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

/** A part that is no place for a key: requests append their path behind it, and logs of servers show it. */
export const hasQueryOrFragment = (address: string): boolean => /[?#]/.test(address);

/** `https://user:password@host`: not sent by the platform's `fetch`, and easily shown. */
export const hasUserInfo = (address: string): boolean => {
  if (!URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username !== '' || password !== '';
};
