import { REDACTED } from '../endpoint.ts';
import { withoutTrailing } from '../trailing.ts';
import { queues, type Unknown } from './filling.ts';
import { isSecretParameter } from './names.ts';

/**
 * Secrets in a URL (config.md 4.2): the part before `@`, and query values whose key marks them as secrets. Everything
 * else stays unchanged. The text is split by hand, because a URL that the parser rejects may still contain a secret.
 */

type Cut = { scheme: string; user: string | undefined; place: string; query: string[]; rest: string };

const PARTS = /^(?<scheme>[^:/\\?#]*:[/\\]*)?(?:(?<user>[^/\\?#]*)@)?(?<place>[^?#]*)/;

const cut = (url: string): Cut => {
  const { 0: whole = '', groups = {} } = PARTS.exec(url) ?? {};
  const behind = url.slice(whole.length);
  const end = behind.indexOf('#');
  const query = end < 0 ? behind : behind.slice(0, end);
  return {
    scheme: groups.scheme ?? '',
    user: groups.user,
    place: groups.place ?? '',
    query: query.startsWith('?') ? query.slice(1).split('&') : [],
    rest: end < 0 ? '' : behind.slice(end),
  };
};

const joined = ({ scheme, user, place, query, rest }: Cut): string =>
  `${scheme}${user === undefined ? '' : `${user}@`}${place}${query.length > 0 ? `?${query.join('&')}` : ''}${rest}`;

type Pair = { key: string; value: string };

/** A pair without `=` has no value. */
const pairOf = (pair: string): Pair | undefined => {
  const equals = pair.indexOf('=');
  return equals < 0 ? undefined : { key: pair.slice(0, equals), value: pair.slice(equals + 1) };
};

/** Decodes like a server; text with invalid encoding is returned unchanged. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
};

const isSecret = ({ key }: Pair): boolean => isSecretParameter(decoded(key));

/** Whether a text as a whole is a URL, regardless of its name. */
export const looksLikeUrl = (text: string): boolean => /^[a-z][a-z0-9+.-]{0,30}:\/\/\S+$/i.test(text);

export const redactUrl = (url: string): string => {
  const parts = cut(url);
  return joined({
    ...parts,
    user: parts.user === undefined ? undefined : REDACTED,
    query: parts.query.map((text) => {
      const pair = pairOf(text);
      return pair && isSecret(pair) ? `${pair.key}=${REDACTED}` : text;
    }),
  });
};

/** Returns the destination of a URL: scheme, host, port and path, in normalized form. */
export const placeInUrl = (url: string): string => {
  const { scheme, place } = cut(url.trim());
  const text = `${scheme}${place}`;
  const { origin, pathname } = URL.canParse(text) ? new URL(text) : { origin: text, pathname: '' };
  return `${origin}${withoutTrailing(pathname, '/')}`;
};

/** Returns the values that `redactUrl` hides, also in parts and decoded. */
export const secretsInUrl = (url: string): string[] => {
  const { user = '', query } = cut(url);
  const values = query.flatMap((text) => {
    const pair = pairOf(text);
    return pair && isSecret(pair) ? pair.value : [];
  });
  const hidden = [user, ...user.split(':'), ...values];
  return [...hidden, ...hidden.map(decoded)].filter((text) => text !== '' && text !== REDACTED);
};

/**
 * Replaces each marker in the URL by the stored value. A key may occur several times; its markers take the values in
 * order. A marker without a stored value stays, or is dropped.
 */
export const fillUrl = (url: string, stored: string | undefined, unknown: Unknown): string => {
  const parts = cut(url);
  if (!hasMarker(parts)) return url;
  const known = stored === undefined ? undefined : cut(stored);
  const take = queues(pairsOf(known));
  const missing = unknown === 'keep' ? REDACTED : undefined;
  return joined({
    ...parts,
    user: parts.user === REDACTED ? (secret(known?.user) ?? missing) : parts.user,
    query: parts.query.flatMap((text) => {
      const pair = pairOf(text);
      if (!pair || !isSecret(pair)) return [text];
      const next = take(pair.key);
      const value = pair.value === REDACTED ? (secret(next) ?? missing) : pair.value;
      return value === undefined ? [] : [`${pair.key}=${value}`];
    }),
  });
};

/** A stored marker is not a secret. */
const secret = (known: string | undefined): string | undefined => (known === REDACTED ? undefined : known);

export const urlHasMarker = (url: string): boolean => hasMarker(cut(url));

const hasMarker = (parts: Cut): boolean =>
  parts.user === REDACTED || pairsOf(parts).some((pair) => isSecret(pair) && pair.value === REDACTED);

const pairsOf = (parts: Cut | undefined): Pair[] =>
  (parts?.query ?? []).flatMap((text) => pairOf(text) ?? []);

/** Hides the secrets of every URL in a text. Linear in the text; a URL ends at a blank or a quote. */
export const redactUrlsIn = (text: string): string =>
  text.includes('://') ? text.replaceAll(ADDRESS, redactUrl).replaceAll(USER, `://${REDACTED}@`) : text;

/** Other text may precede the scheme without a blank. */
const ADDRESS = /[a-z][a-z0-9+.-]{0,15}:\/\/[^\s"'`<>]*/gi;

/** The part before `@`, also of a URL that follows another one without a blank. */
const USER = /:\/\/[^\s"'`<>/\\?#]*@/g;
