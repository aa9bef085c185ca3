import type {
  IdempotencyRow,
  KeyedRequest,
  KeyedResult,
  KeyName,
  StoredAnswer,
} from '../schema/idempotency.ts';
import type { Principal } from '../schema/principal.ts';
import { Refusal } from './errors.ts';
import { createKeyed } from './keyed.ts';
import { isReply, type Reply, reply, storedReply } from './reply.ts';
import type { RouteRequest } from './route.ts';
import type { Endpoint } from './router.ts';
import { type SharedStream, shareStream } from './shared-stream.ts';
import { addHeaders, isEventStream } from './sse.ts';

/**
 * Executes each request with an `Idempotency-Key` once, and responds to its repeats (runtime.md 0.8).
 *
 * Guarantees: a repeat of an accepted request executes nothing, whether the first one is in progress, has been answered,
 * or was accepted by an earlier process. A repeat of a request that was refused or not committed executes.
 * Relies on handlers to pass what `Keyed` returns to the commit that accepts their request, and on their results having
 * whole texts.
 * Cost: a claim in memory while a request executes or its stream lasts.
 */
export type IdempotencyPort = {
  /** @throws Invalid for an illegal key */
  read(request: {
    principal: Principal;
    /** Values of all lines of the header. */
    keys: readonly string[];
    method: string;
    target: string;
    header(name: string): string | undefined;
    body: string;
  }): KeyedRequest;
  find(name: KeyName): IdempotencyRow | undefined;
  accepted(request: KeyedRequest, answer: StoredAnswer): IdempotencyRow;
  count(result: KeyedResult): void;
};

type Request = RouteRequest<unknown, unknown, unknown>;

export type Repeats = {
  /** Returns the result of the handler, or what a repeat receives. @throws Refusal for the key of another request */
  handle(keyed: KeyedRequest, endpoint: Endpoint, request: Request): unknown;
};

export const createRepeats = (port: IdempotencyPort): Repeats => {
  const repeating: Repeating = { port, claims: new Map() };
  return {
    handle(keyed, endpoint, request) {
      const handling = { keyed, endpoint, request };
      const claim = repeating.claims.get(textOf(keyed.name));
      const row = claim ? undefined : port.find(keyed.name);
      const before = claim ?? row;
      if (before && before.fingerprint !== keyed.fingerprint) {
        port.count('conflict');
        throw new Refusal(422, 'Idempotency-Key was used for another request');
      }
      if (claim) return join(repeating, claim, handling);
      if (!row) return execute(repeating, handling);
      port.count('replayed');
      return respondAgain(row, handling);
    },
  };
};

type Repeating = { readonly port: IdempotencyPort; readonly claims: Map<string, Claim> };

type Handling = { keyed: KeyedRequest; endpoint: Endpoint; request: Request };

/** A key whose request executes, or whose stream lasts. */
type Claim = {
  readonly fingerprint: string;
  /** The row, once the handler has passed it to a commit. */
  row: IdempotencyRow | undefined;
  /** Settles with the handler. */
  settled: Promise<unknown>;
  /** Resolves when a request that holds its response is accepted. */
  readonly held: Promise<void>;
  stream: SharedStream | undefined;
};

const textOf = ({ scope, caller, key }: KeyName): string => `${scope}\0${caller}\0${key}`;

const execute = ({ port, claims }: Repeating, { keyed, endpoint, request }: Handling): Promise<unknown> => {
  const name = textOf(keyed.name);
  let onHeld = (): void => {};
  const held = new Promise<void>((resolve) => {
    onHeld = resolve;
  });
  const claim: Claim = {
    fingerprint: keyed.fingerprint,
    row: undefined,
    settled: held,
    held,
    stream: undefined,
  };
  const accepted = (answer: StoredAnswer): IdempotencyRow => {
    claim.row = port.accepted(keyed, answer);
    return claim.row;
  };
  const release = (): void => {
    if (claims.get(name) === claim) claims.delete(name);
  };
  const handled = async (): Promise<unknown> =>
    endpoint.handle({ ...request, keyed: createKeyed(accepted, onHeld) });
  claims.set(name, claim);
  claim.settled = handled().then(
    (result) => {
      port.count('executed');
      if (!isEventStream(result)) {
        release();
        return result;
      }
      claim.stream = shareStream(result, release);
      return claim.stream.open() ?? result;
    },
    (error: unknown) => {
      release();
      port.count('failed');
      throw error;
    },
  );
  return claim.settled;
};

const join = async (repeating: Repeating, claim: Claim, handling: Handling): Promise<unknown> => {
  handling.request.hold();
  const result = await Promise.race([claim.settled, claim.held]);
  const stream = claim.stream?.open();
  const isAgain = claim.stream ? stream === undefined : result === undefined;
  // A request that has created nothing may execute again.
  if (isAgain && !claim.row) return execute(repeating, handling);
  repeating.port.count('joined');
  return isAgain && claim.row ? respondAgain(claim.row, handling) : markReplayed(stream ?? result);
};

/** Responds from the row of an accepted request. */
const respondAgain = async (
  { answer }: IdempotencyRow,
  { endpoint, request }: Handling,
): Promise<unknown> => {
  if (answer.kind === 'text') return markReplayed(storedReply(answer));
  if (!endpoint.again) throw new Error(`${endpoint.id} cannot make its response again`);
  return markReplayed(await endpoint.again(request, answer.of));
};

const REPLAYED = { 'idempotency-replayed': 'true' };

const markReplayed = (result: unknown): unknown => {
  if (isEventStream(result)) {
    addHeaders(result, REPLAYED);
    return result;
  }
  const answer: Reply = isReply(result) ? result : reply(200, result);
  return { ...answer, headers: { ...answer.headers, ...REPLAYED } };
};
