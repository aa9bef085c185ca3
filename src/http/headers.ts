import { randomUUID } from 'node:crypto';
import type { WireRequest } from './wire.ts';

/**
 * The headers of one request. They may be read only inside its callback. `leave` is called at the end of that: with
 * `keep` it copies them for what comes later, and an answer that is out pays nothing.
 *
 * Headers that only proxies set (`Forwarded`, `X-Forwarded-*`, `X-Real-IP`) are missing unless the peer is trusted.
 */
export type RequestHeaders = {
  /** The first value of this header, `undefined` when it is missing or empty. */
  get(name: string): string | undefined;
  /** The values of all lines of this header. */
  lines(name: string): readonly string[];
  /** Whether there is one, also an empty one. */
  has(name: string): boolean;
  leave(keep: boolean): void;
};

export const createRequestHeaders = (req: WireRequest, isTrustedPeer: () => boolean): RequestHeaders => {
  let live: WireRequest | undefined = req;
  let kept: Map<string, Kept> | undefined;
  const isHidden = (key: string): boolean => OF_PROXIES.test(key) && !isTrustedPeer();
  const linesOf = (key: string): readonly string[] => {
    if (live) return isHidden(key) ? [] : headerValues(live, key);
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
    },
  };
};

const OF_PROXIES = /^(?:forwarded|x-forwarded-.*|x-real-ip)$/;

/** The value of a header, or the values of its lines. */
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

/** All values of a header that may be there once only. */
export const headerValues = (req: WireRequest, name: string): string[] => {
  const values: string[] = [];
  req.forEach((key, value) => {
    if (key === name) values.push(value);
  });
  return values;
};

/** The one of the client when it is visible ASCII of at most 128 characters, else a new one. */
export const requestIdOf = (given: string): string =>
  given !== '' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID();
