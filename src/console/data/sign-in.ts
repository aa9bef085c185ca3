import { takeToken } from './session.ts';

const PREFIX = '#token=';

/** Stores the token of the address, and removes it from the address and from the entry of the history. */
const takeFromAddress = (): void => {
  const { hash, pathname, search } = location;
  if (!hash.startsWith(PREFIX)) return;
  history.replaceState(history.state, '', `${pathname}${search}`);
  const given = new URLSearchParams(hash.slice(1)).get('token')?.trim() ?? '';
  if (given !== '') takeToken(given);
};

/**
 * Signs in with the link that `troupe dev` prints, `/#token=…`. Browsers send no fragment, so the token is in no
 * request line. Must be called before the first request; a link that is opened in a tab of the console changes only the
 * fragment.
 */
export const signInByLink = (): void => {
  takeFromAddress();
  addEventListener('hashchange', takeFromAddress);
};
