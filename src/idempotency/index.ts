import type { Clock } from '../schema/clock.ts';
import type {
  IdempotencyRow,
  KeyedRequest,
  KeyedResult,
  KeyName,
  StoredAnswer,
} from '../schema/idempotency.ts';
import type { Principal } from '../schema/principal.ts';
import type { Store } from '../store/index.ts';
import { type Fingerprinted, fingerprintOf, withContent } from './fingerprint.ts';
import { keyIn, nameOf } from './key.ts';

export { startSweep } from './sweep.ts';

/**
 * The keys of requests that are to be executed once (runtime.md 0.8).
 *
 * Guarantees: a key is found from the commit that accepts its request until its retention ends, and only by its caller.
 * Cost: one read per request with a key; nothing for a request without one.
 */
export type Idempotency = {
  /** @throws Invalid for an illegal key */
  read(
    request: Omit<Fingerprinted, 'conversationHeaders'> & { principal: Principal; keys: readonly string[] },
  ): KeyedRequest;
  /** Returns the request with its content in the fingerprint, for a body that is read later. */
  withContent(request: KeyedRequest, content: string): KeyedRequest;
  find(name: KeyName): IdempotencyRow | undefined;
  /** Returns the row of a request that is accepted now. */
  accepted(request: KeyedRequest, answer: StoredAnswer): IdempotencyRow;
  count(result: KeyedResult): void;
};

export type IdempotencyDeps = {
  store: Pick<Store, 'idempotency'>;
  clock: Pick<Clock, 'now'>;
  retentionMs: number;
  /** Names of the headers that name the conversation of a request. */
  conversationHeaders: readonly string[];
  count(result: KeyedResult): void;
};

export const createIdempotency = ({
  store,
  clock,
  retentionMs,
  conversationHeaders,
  count,
}: IdempotencyDeps): Idempotency => ({
  read: ({ principal, keys, ...request }) => ({
    name: nameOf(principal, keyIn(keys)),
    fingerprint: fingerprintOf({ ...request, conversationHeaders }),
  }),
  withContent: ({ name, fingerprint }, content) => ({
    name,
    fingerprint: withContent(fingerprint, content),
  }),
  find(name) {
    const row = store.idempotency.get(name);
    return row && clock.now() - row.accepted_at < retentionMs ? row : undefined;
  },
  accepted: ({ name, fingerprint }, answer) => ({ ...name, fingerprint, accepted_at: clock.now(), answer }),
  count,
});
