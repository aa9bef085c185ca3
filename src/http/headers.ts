import { randomUUID } from 'node:crypto';
import type { WireRequest } from './wire.ts';

/**
 * The headers of one request, read once: with uWebSockets.js each further look at a header would be a call of the server.
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
  /** Whether the request has a header of a proxy, hidden or empty ones included. */
  readonly hasPassedProxy: boolean;
};

export const readHeaders = (req: WireRequest, isTrustedPeer: () => boolean): RequestHeaders => {
  const names: string[] = [];
  const values: string[] = [];
  let hasPassedProxy = false;
  let isTrusted: boolean | undefined;
  req.forEach((name, value) => {
    const isForwarded = isForwardedName(name);
    hasPassedProxy ||= isForwarded || name === 'via';
    if (isForwarded) {
      isTrusted ??= isTrustedPeer();
      if (!isTrusted) return;
    }
    names.push(name);
    values.push(value);
  });
  return {
    hasPassedProxy,
    get: (name) => values[names.indexOf(name.toLowerCase())] || undefined,
    lines: (name) => linesOf(names, values, name.toLowerCase()),
    has: (name) => names.includes(name.toLowerCase()),
  };
};

const isForwardedName = (name: string): boolean =>
  name.startsWith('x-forwarded-') || name === 'forwarded' || name === 'x-real-ip';

const linesOf = (names: readonly string[], values: readonly string[], key: string): readonly string[] => {
  let lines: string[] | undefined;
  for (let index = names.indexOf(key); index >= 0; index = names.indexOf(key, index + 1)) {
    lines ??= [];
    lines.push(values[index] ?? '');
  }
  return lines ?? NO_LINES;
};

const NO_LINES: readonly string[] = [];

/** Returns the id of the client if it is visible ASCII of at most 128 characters, otherwise a new one. */
export const chooseRequestId = (given: string): string =>
  given !== '' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID();
