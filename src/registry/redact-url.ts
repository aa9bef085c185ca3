import { REDACTED } from '../schema/endpoint.ts';
import { isSecretKey, type Unknown } from './redact.ts';

/**
 * Secrets in the address of an MCP server (config.md 4.2): the part before `@`, and values of the query whose key
 * says so. Everything else stays letter for letter. The text is cut by hand, because an address that the URL parser
 * refuses may hold a secret all the same.
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

/** As the server reads it; what is not encoded correctly says what it says. */
const decoded = (key: string): string => {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    return key;
  }
};

const isSecret = ({ key }: Pair): boolean => isSecretKey(decoded(key));

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

/** A key may be there several times; its markers take the values in their order. */
export const fillUrl = (url: string, stored: string | undefined, unknown: Unknown): string => {
  const parts = cut(url);
  const known = stored === undefined ? undefined : cut(stored);
  const left = pairsOf(known);
  const take = (key: string): string | undefined => {
    const at = left.findIndex((pair) => pair.key === key);
    return at < 0 ? undefined : left.splice(at, 1)[0]?.value;
  };
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

/** A marker that got into the store is no secret. */
const secret = (known: string | undefined): string | undefined => (known === REDACTED ? undefined : known);

export const urlHasMarker = (url: string): boolean => {
  const parts = cut(url);
  return parts.user === REDACTED || pairsOf(parts).some((pair) => isSecret(pair) && pair.value === REDACTED);
};

const pairsOf = (parts: Cut | undefined): Pair[] =>
  (parts?.query ?? []).flatMap((text) => pairOf(text) ?? []);
