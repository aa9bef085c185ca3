import { randomUUID } from 'node:crypto';
import type { WireRequest } from './wire.ts';

/**
 * The headers of one request. They may be read only inside its callback. `leave` is called at the end of that: with `keep` it copies them for what comes later, and an answer that is out pays nothing.
 */
export type RequestHeaders = {
  /** The first value of this header, `undefined` when it is missing or empty. */
  get(name: string): string | undefined;
  /** Whether there is one, also an empty one. */
  has(name: string): boolean;
  leave(keep: boolean): void;
};

export const createRequestHeaders = (req: WireRequest): RequestHeaders => {
  let live: WireRequest | undefined = req;
  let kept: Map<string, string> | undefined;
  return {
    get(name) {
      const key = name.toLowerCase();
      return (live ? live.getHeader(key) : kept?.get(key)) || undefined;
    },
    has(name) {
      const key = name.toLowerCase();
      return live ? headerValues(live, key).length > 0 : kept?.has(key) === true;
    },
    leave(keep) {
      if (keep) kept = copyHeaders(req);
      live = undefined;
    },
  };
};

const copyHeaders = (req: WireRequest): Map<string, string> => {
  const copy = new Map<string, string>();
  req.forEach((key, value) => {
    if (!copy.has(key)) copy.set(key, value);
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
