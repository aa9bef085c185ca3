/** URLs that the service sends requests to. Error messages do not contain the URL, which may contain a password. */

export const ADDRESS_RULE = 'must be an absolute URL with http:// or https://';

export const isWebAddress = (address: string): boolean =>
  /^\s*https?:\/\//i.test(address) && URL.canParse(address);

/** Whether the URL has the scheme, host and port of the other one, and a path at or below its path. */
export const isWithin = (address: string, base: string): boolean => {
  if (!URL.canParse(address) || !URL.canParse(base)) return false;
  const [inner, outer] = [new URL(address), new URL(base)];
  return inner.origin === outer.origin && withSlash(inner.pathname).startsWith(withSlash(outer.pathname));
};

const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

/** Query and fragment must not contain a key: requests append their path to the URL, and server logs show it. */
export const hasQueryOrFragment = (address: string): boolean => /[?#]/.test(address);

/** `https://user:password@host`: not sent by the platform's `fetch`, and easily disclosed. */
export const hasUserInfo = (address: string): boolean => {
  if (!URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username !== '' || password !== '';
};
