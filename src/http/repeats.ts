import type {
  IdempotencyRow,
  KeyedRequest,
  KeyedResult,
  KeyName,
  StoredAnswer,
} from '../schema/idempotency.ts';
import type { Principal } from '../schema/principal.ts';
import type { BodyStream } from './body-stream.ts';
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
 * or was accepted by an earlier process. A repeat of a request that was refused or not committed executes. A repeat of an
 * upload that is in progress is refused, because its content is not known before its end.
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
  /** Returns the request with its content in the fingerprint, for a body that the handler reads. */
  withContent(request: KeyedRequest, content: string): KeyedRequest;
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
      if (endpoint.reads === 'stream') return upload(repeating, handling);
      const claim = repeating.claims.get(textOf(keyed.name));
      const row = claim ? undefined : port.find(keyed.name);
      const before = claim ?? row;
      if (before && before.fingerprint !== keyed.fingerprint) throw conflict(port);
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

/** @returns the error for the key of another request */
const conflict = (port: IdempotencyPort): Refusal => {
  port.count('conflict');
  return new Refusal(422, 'Idempotency-Key was used for another request');
};

/** @throws Refusal while another upload has the key */
const upload = (repeating: Repeating, handling: Handling): Promise<unknown> => {
  const { keyed, request } = handling;
  const claim = repeating.claims.get(textOf(keyed.name));
  if (!claim) return execute(repeating, handling);
  // `body` is a stream because the route reads one.
  (request.body as BodyStream).discard();
  if (claim.fingerprint !== keyed.fingerprint) throw conflict(repeating.port);
  throw new Refusal(409, 'a request with this Idempotency-Key is in progress', { 'retry-after': '1' });
};

const execute = (repeating: Repeating, handling: Handling): Promise<unknown> => {
  const { port, claims } = repeating;
  const { keyed, endpoint, request } = handling;
  let identified = keyed;
  let isReplay = false;
  const earlier = (content: string): Promise<unknown> | undefined => {
    identified = port.withContent(keyed, content);
    const row = port.find(keyed.name);
    if (!row) return undefined;
    if (row.fingerprint !== identified.fingerprint) throw conflict(port);
    isReplay = true;
    return respondAgain(row, handling);
  };
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
    claim.row = port.accepted(identified, answer);
    return claim.row;
  };
  const release = (): void => {
    if (claims.get(name) === claim) claims.delete(name);
  };
  const handled = async (): Promise<unknown> =>
    endpoint.handle({ ...request, keyed: createKeyed({ accepted, held: onHeld, earlier }) });
  claims.set(name, claim);
  claim.settled = handled().then(
    (result) => {
      port.count(isReplay ? 'replayed' : 'executed');
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
