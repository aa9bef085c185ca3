/**
 * Addresses that the service sends requests to. What is wrong with one is said without the address: it may hold a
 * password.
 */

export const ADDRESS_RULE = 'must be an absolute URL with http:// or https://';

export const isWebAddress = (address: string): boolean =>
  /^\s*https?:\/\//i.test(address) && URL.canParse(address);

/** `https://user:password@host`: not sent by the platform's `fetch`, and easily shown. */
export const hasUserInfo = (address: string): boolean => {
  if (!URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username !== '' || password !== '';
};
