import { randomUUID } from 'node:crypto';
import type { WireRequest } from './wire.ts';

/**
 * The headers of one request. They are readable only during its callback, which ends with a call of `leave`. `keep`
 * copies them for later steps; a request whose response is already sent needs no copy.
 *
 * Headers that only proxies set (`Forwarded`, `X-Forwarded-*`, `X-Real-IP`) are hidden unless the peer is trusted.
 */
export type RequestHeaders = {
  /** Returns the first value, or `undefined` if the header is missing or empty. */
  get(name: string): string | undefined;
  /** Returns the values of all lines of the header. */
  lines(name: string): readonly string[];
  /** Returns whether the header is present, even if empty. */
  has(name: string): boolean;
  leave(keep: boolean): void;
};

export const createRequestHeaders = (req: WireRequest, isTrustedPeer: () => boolean): RequestHeaders => {
  let live: WireRequest | undefined = req;
  let kept: Map<string, Kept> | undefined;
  /** The header whose lines were read last: several steps read those of `Authorization`. */
  let last: { key: string; lines: readonly string[] } | undefined;
  const isHidden = (key: string): boolean => OF_PROXIES.test(key) && !isTrustedPeer();
  const linesOf = (key: string): readonly string[] => {
    if (live) {
      if (last?.key !== key) last = { key, lines: isHidden(key) ? [] : headerValues(live, key) };
      return last.lines;
    }
    const found = kept?.get(key);
    return typeof found === 'string' ? [found] : (found ?? []);
  };
  return {
    get(name) {
      const key = name.toLowerCase();
      if (!live) return linesOf(key)[0] || undefined;
      return isHidden(key) ? undefined : live.getHeader(key) || undefined;
    },
    lines: (name) => linesOf(name.toLowerCase()),
    has: (name) => linesOf(name.toLowerCase()).length > 0,
    leave(keep) {
      if (keep) kept = copyHeaders(req, isHidden);
      live = undefined;
      last = undefined;
    },
  };
};

const OF_PROXIES = /^(?:forwarded|x-forwarded-.*|x-real-ip)$/;

/** One value, or the values of several lines. */
type Kept = string | string[];

const copyHeaders = (req: WireRequest, isHidden: (key: string) => boolean): Map<string, Kept> => {
  const copy = new Map<string, Kept>();
  req.forEach((key, value) => {
    if (isHidden(key)) return;
    const known = copy.get(key);
    if (known === undefined) copy.set(key, value);
    else if (typeof known === 'string') copy.set(key, [known, value]);
    else known.push(value);
  });
  return copy;
};

/** Returns all values of a header, so that repetitions are detectable. */
export const headerValues = (req: WireRequest, name: string): string[] => {
  const values: string[] = [];
  req.forEach((key, value) => {
    if (key === name) values.push(value);
  });
  return values;
};

/** Returns the id of the client if it is visible ASCII of at most 128 characters, otherwise a new one. */
export const chooseRequestId = (given: string): string =>
  given !== '' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID();
