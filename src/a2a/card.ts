import { fetchText } from '../outbound/fetch-text.ts';
import { HostRefused } from '../outbound/guarded-request.ts';
import { isPublicAddress, type Resolve, resolveName } from '../outbound/public-address.ts';
import { type Clock, monotonic } from '../schema/clock.ts';
import { isObject } from '../schema/endpoint.ts';
import { maskForeign } from '../schema/redaction/foreign.ts';

/**
 * Reads the card of a remote agent from an A2A server (config.md 13.5).
 *
 * Guarantees: a read never throws. A result, including a failure, is cached for 15 s, and concurrent reads share one
 * request. The token is sent to the origin of `base_url` only. See `fetch-text.ts` for the allowed addresses.
 * Cost: one request, and one cached card of at most 256 KiB for each server that was read in the last 15 s.
 */
export type CardServer = {
  base_url: string;
  auth?: { token: string } | undefined;
  timeout_ms?: number | undefined;
};

export type CardStatus =
  | { connected: true; last_error: null; card_url: string; card: Record<string, unknown> }
  | { connected: false; last_error: string; card_url: null; card: null };

type CardDeps = {
  clock: Clock;
  resolve?: Resolve;
  /** Returns whether connections to an address are allowed. */
  mayConnect?: (address: string) => boolean;
};

const KEPT_MS = 15_000;
const DEFAULT_TIMEOUT_MS = 10_000;
const LONGEST_TIMEOUT_MS = 30_000;
const LARGEST_BYTES = 256 * 1024;

type Entry = { status: Promise<CardStatus>; until: number };

/** Sends a request each time. Never throws. */
export const createCardFetch = ({
  resolve = resolveName,
  mayConnect = isPublicAddress,
}: Omit<CardDeps, 'clock'>): ((server: CardServer) => Promise<CardStatus>) => {
  return async ({ base_url, auth, timeout_ms }) => {
    let requestUrl = base_url;
    try {
      const url = new URL('/.well-known/agent-card.json', new URL(base_url).origin);
      requestUrl = url.href;
      const text = await fetchText(url, {
        headers: auth ? { authorization: `Bearer ${auth.token}` } : {},
        timeoutMs: Math.min(Math.max(1, timeout_ms ?? DEFAULT_TIMEOUT_MS), LONGEST_TIMEOUT_MS),
        largestBytes: LARGEST_BYTES,
        resolve,
        mayConnect,
      });
      return { connected: true, last_error: null, card_url: url.href, card: parseCard(text) };
    } catch (error) {
      return { connected: false, last_error: messageFor(error, requestUrl), card_url: null, card: null };
    }
  };
};

/**
 * @example
 * const readCard = createCardReader({ clock });
 * const { connected, card } = await readCard({ base_url: 'https://agents.example' });
 */
export const createCardReader = (deps: CardDeps): ((server: CardServer) => Promise<CardStatus>) => {
  const { clock } = deps;
  const fetchCard = createCardFetch(deps);
  const entries = new Map<string, Entry>();

  return (server) => {
    const { base_url, auth, timeout_ms } = server;
    const key = JSON.stringify([base_url, auth?.token, timeout_ms]);
    const now = monotonic(clock);
    for (const [other, { until }] of entries) if (until <= now) entries.delete(other);
    const known = entries.get(key);
    if (known) return known.status;
    const entry: Entry = { status: fetchCard(server), until: Number.POSITIVE_INFINITY };
    entries.set(key, entry);
    entry.status.finally(() => {
      entry.until = monotonic(clock) + KEPT_MS;
    });
    return entry.status;
  };
};

/** a2a.md 13.3, 13.4 */
const messageFor = (error: unknown, url: string): string => {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof HostRefused)
    return error.address === undefined
      ? 'A2A discovery URL host is not allowed'
      : `A2A discovery URL resolves to a non-public address: ${error.address}`;
  const what = error instanceof NoCard ? 'failed to decode agent card from' : 'HTTP request failed for';
  return maskForeign(`${what} ${url}: ${message}`);
};

class NoCard extends Error {}

/** @throws NoCard */
const parseCard = (text: string): Record<string, unknown> => {
  let card: unknown;
  try {
    card = JSON.parse(text);
  } catch {
    // Reported below, without the untrusted text.
  }
  if (isObject(card)) return card;
  throw new NoCard('the agent card is not a JSON object');
};
