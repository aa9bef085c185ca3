import { isIP } from 'node:net';
import type { ServiceLog } from '../schema/log-events.ts';
import { RateLimited, type Unauthorized } from '../schema/outcome.ts';

/**
 * Limits failed attempts to authenticate as the admin, per client address (IPv6: per /64).
 *
 * Each failed value of `Authorization` fills a bucket that holds `MOST_FAILURES` and drains one every `DRAIN_MS`. While
 * it is full, a failed attempt receives a 429, and so does each attempt with a token that is short enough to be
 * guessed. A longer token is always compared, so that other clients behind the same proxy cannot lock out an operator.
 * Access tokens that were not verified before cost a signature each, so beyond `MOST_UNVERIFIED` a second they receive a
 * 429 as well.
 * Requests without a credential do not count, because any web page can send them.
 *
 * Cost: none for requests with the right token. At most `MOST_ADDRESSES` are remembered, and at most one line a second
 * is logged.
 */
export type Guesses = {
  /** Whether the token is short enough to be guessed, so that each wrong one counts. */
  readonly areCounted: boolean;
  /** @throws RateLimited while short tokens are not compared */
  check(address: () => string): void;
  /** @throws RateLimited while too many unknown access tokens come from the address */
  checkUnverified(address: () => string): void;
  /** Records a rejected credential and returns the error to send. */
  failed(address: string, error: Unauthorized): Error;
};

export const MOST_FAILURES = 20;
/** Number of unknown access tokens that are verified per second while the bucket is full. */
export const MOST_UNVERIFIED = 20;
const DRAIN_MS = 3000;
const MOST_ADDRESSES = 10_000;
/** Minimum length of a token that cannot be guessed. */
export const SHORT_TOKEN = 20;
const LINE_MS = 1000;
const SECOND_MS = 1000;

type Bucket = { level: number; at: number; unverified: { count: number; since: number } };

export const createGuesses = ({
  token,
  observe,
  log,
  now = () => performance.now(),
}: {
  token: string | undefined;
  observe: (outcome: 'refused' | 'limited') => void;
  log: Pick<ServiceLog, 'warn'>;
  now?: () => number;
}): Guesses => {
  const isShort = token !== undefined && token.length < SHORT_TOKEN;
  /** Ordered by the last failure, latest last. */
  const buckets = new Map<string, Bucket>();
  let unlogged = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  const levelOf = (address: string): number => {
    const bucket = buckets.get(networkOf(address));
    return bucket ? Math.max(0, bucket.level - (now() - bucket.at) / DRAIN_MS) : 0;
  };

  const fill = (address: string, level: number): void => {
    const key = networkOf(address);
    const { unverified = { count: 0, since: now() } } = buckets.get(key) ?? {};
    buckets.delete(key);
    buckets.set(key, { level, at: now(), unverified });
    const [oldest] = buckets.keys();
    if (buckets.size > MOST_ADDRESSES && oldest !== undefined) buckets.delete(oldest);
  };

  const report = (ip: string): void => {
    unlogged += 1;
    if (now() - loggedAt < LINE_MS) return;
    log.warn('http.admin_authentication_failed', { ip, failures: unlogged });
    unlogged = 0;
    loggedAt = now();
  };

  const limited = (level: number): RateLimited => {
    observe('limited');
    return tooMany(Math.ceil(((level - MOST_FAILURES + 1) * DRAIN_MS) / 1000));
  };

  return {
    areCounted: isShort,
    check(address) {
      if (!isShort || buckets.size === 0) return;
      const level = levelOf(address());
      if (isFull(level)) throw limited(level);
    },
    checkUnverified(address) {
      if (buckets.size === 0) return;
      const from = address();
      const level = levelOf(from);
      const bucket = buckets.get(networkOf(from));
      if (!isFull(level) || !bucket || admitUnverified(bucket, now())) return;
      observe('limited');
      throw tooMany(1);
    },
    failed(address, error) {
      const level = levelOf(address);
      report(address);
      if (isFull(level)) return limited(level);
      fill(address, level + 1);
      observe('refused');
      return error;
    },
  };
};

const isFull = (level: number): boolean => level > MOST_FAILURES - 1;

/** Counts an unknown access token. Returns false beyond the limit of a second. */
const admitUnverified = ({ unverified }: Bucket, now: number): boolean => {
  if (now - unverified.since >= SECOND_MS) {
    unverified.count = 0;
    unverified.since = now;
  }
  unverified.count += 1;
  return unverified.count <= MOST_UNVERIFIED;
};

const tooMany = (seconds: number): RateLimited =>
  new RateLimited('too many failed authentications from this address', {
    code: 'rate_limited',
    retryAfterSecs: Math.max(1, seconds),
  });

/** Returns an IPv4 address, or the first half of an IPv6 address: a network of that size is assigned to one client. */
const networkOf = (address: string): string => {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? [] : Array<string>(8 - groups.length - behind.length).fill('0');
  return [...groups, ...zeros, ...behind].slice(0, 4).join(':');
};
