import { partitionOf } from '../schema/partition.ts';
import { NOBODY, type Principal } from '../schema/principal.ts';
import { inOwnTurn as waitForTurn } from '../schema/turns.ts';
import { type BodyText, isJson, type Reading, readBody, tooLarge } from './body.ts';
import type { BodyBudget } from './body-budget.ts';
import { type BodyStream, openBodyStream } from './body-stream.ts';
import type { Call, Caller } from './call.ts';
import { type Decoded, decode, readAs } from './decode.ts';
import { Refusal } from './errors.ts';
import { setDisconnectListener } from './exchange.ts';
import type { RequestHeaders } from './headers.ts';
import type { Origin } from './origin.ts';
import type { IdempotencyPort } from './repeats.ts';
import type { Endpoint } from './router.ts';
import type { Senders } from './senders.ts';

/**
 * Receives the body of a request, decodes it and calls the handler.
 *
 * Guarantees: a short body is decoded and handled in the event-loop tick in which it is complete. A long one is parsed,
 * validated and handled in separate ticks, so that other requests are served in between.
 */
export type Reception = {
  readonly caller: Caller;
  readonly bodyBudget: BodyBudget;
  readonly senders: Senders;
  /** If absent, keys of requests are ignored. */
  readonly idempotency?: IdempotencyPort | undefined;
  /** Maximum number of bytes for each kind of route. */
  readonly limits: Readonly<Record<NonNullable<Endpoint['bodyLimit']>, number>>;
};

/** A request in progress, with the values that were read during its callback. */
export type Arrival = Call & {
  from: Origin;
  /** Whether a page of another site made a browser send this state-changing request. */
  isCrossSite: boolean;
  headers: RequestHeaders;
  /** The session cookie, if nothing else authenticates the request. */
  session: string | undefined;
  params: Record<string, string>;
  query: string;
  /** Path and query of a request with an `Idempotency-Key` on a route that is `idempotent`; empty for others. */
  target: string;
  contentType: string;
  contentEncoding: string;
  contentLength: number;
};

export const receive = (reception: Reception, arrival: Arrival, principal: Principal | undefined): void => {
  const { exchange, endpoint } = arrival;
  if (endpoint.reads === 'nothing') {
    deliver(reception, arrival, principal, '');
    return;
  }
  checkBody(reception, arrival);
  if (endpoint.reads === 'stream') {
    deliverStream(reception, arrival, principal, openBodyStream(exchange, arrival));
    return;
  }
  readBody(exchange.res, readingOf(reception, arrival), (text) => {
    try {
      deliver(reception, arrival, principal, text);
    } catch (error) {
      reception.caller.fail(exchange, error);
    }
  });
};

/** Reads the body while the principal is being resolved, because uWebSockets.js offers it only once. */
export const receiveLater = async (
  reception: Reception,
  arrival: Arrival,
  principal: Promise<Principal>,
): Promise<void> => {
  const { exchange, endpoint } = arrival;
  if (endpoint.reads === 'stream') {
    const stream = openBodyStream(exchange, arrival);
    const resolved = await principal.catch((error) => {
      stream.discard();
      throw error;
    });
    deliverStream(reception, arrival, resolved, stream);
    return;
  }
  const reads = endpoint.reads !== 'nothing';
  const body = reads
    ? new Promise<BodyText>((resolve) => readBody(exchange.res, readingOf(reception, arrival), resolve))
    : '';
  const resolved = await principal;
  if (reads) checkBody(reception, arrival);
  deliver(reception, arrival, resolved, await body);
};

/** Rejects a body by the headers alone. */
const checkBody = (
  reception: Reception,
  { endpoint, contentType, contentEncoding, contentLength }: Arrival,
): void => {
  if (endpoint.reads === 'json' && !isJson(contentType)) throw NOT_JSON;
  if (contentEncoding !== '' && contentEncoding.toLowerCase() !== 'identity') throw encoded(contentEncoding);
  if (endpoint.reads === 'stream') return;
  const limit = limitOf(reception, endpoint);
  if (contentLength > limit) throw tooLarge(limit);
};

const limitOf = ({ limits }: Reception, { bodyLimit = 'default' }: Endpoint): number => limits[bodyLimit];

const readingOf = (reception: Reception, { exchange, endpoint }: Arrival): Reading => ({
  limit: limitOf(reception, endpoint),
  bodyBudget: reception.bodyBudget,
  isOver: () => exchange.done,
  onGone(listener) {
    exchange.onGone = listener;
  },
});

const deliver = (
  reception: Reception,
  arrival: Arrival,
  principal: Principal | undefined,
  text: BodyText,
): void => {
  const { endpoint } = arrival;
  if (text instanceof Refusal) throw text;
  if (text.length > LONG) {
    deliverInSteps(reception, arrival, principal, text);
    return;
  }
  readKey(reception, arrival, principal, text);
  call(reception, arrival, principal, decode(endpoint, { ...arrival, body: readAs(endpoint, text) }));
};

/** Calls the handler before the body has arrived. */
const deliverStream = (
  reception: Reception,
  arrival: Arrival,
  principal: Principal | undefined,
  body: BodyStream,
): void => {
  try {
    checkBody(reception, arrival);
    readKey(reception, arrival, principal, '');
    call(reception, arrival, principal, decode(arrival.endpoint, { ...arrival, body }));
  } catch (error) {
    body.discard();
    throw error;
  }
};

/** A body that the handler reads becomes part of the fingerprint later. @throws Invalid for an illegal key */
const readKey = (
  { idempotency }: Reception,
  arrival: Arrival,
  principal: Principal | undefined,
  body: string,
): void => {
  const { endpoint, exchange, headers, target } = arrival;
  if (!idempotency || !principal || endpoint.idempotent === undefined || !headers.has(KEY_HEADER)) return;
  arrival.keyed = idempotency.read({
    principal,
    keys: headers.lines(KEY_HEADER),
    method: exchange.method,
    target,
    header: headers.get,
    body,
  });
};

export const KEY_HEADER = 'idempotency-key';

/** Parses, validates and handles a long body, each in a separate event-loop tick. */
const deliverInSteps = (
  reception: Reception,
  arrival: Arrival,
  principal: Principal | undefined,
  text: string,
): void => {
  const { endpoint } = arrival;
  const step = (work: () => void): void => inOwnTurn(reception, arrival, work);
  step(() => {
    readKey(reception, arrival, principal, text);
    const body = readAs(endpoint, text);
    step(() => {
      const decoded = decode(endpoint, { ...arrival, body });
      step(() => call(reception, arrival, principal, decoded));
    });
  });
};

/** Skips the work if the client has disconnected before. */
const inOwnTurn = ({ caller }: Reception, { exchange }: Arrival, work: () => void): void =>
  waitForTurn(() => {
    try {
      if (!exchange.done) work();
    } catch (error) {
      caller.fail(exchange, error);
    }
  });

const call = (
  reception: Reception,
  arrival: Arrival,
  principal: Principal | undefined,
  { params, query, body }: Decoded,
): void => {
  const { caller, senders } = reception;
  const { exchange, endpoint, headers } = arrival;
  caller.admit(arrival, {
    params,
    query,
    body,
    principal: principal ?? NOBODY,
    scope: scopeOf(endpoint, principal),
    header: headers.get,
    requestId: exchange.requestId,
    names: headers.has,
    ip: () => senders.addressOf(exchange, headers),
    route: endpoint.path,
    origin: () => senders.originOf(arrival.from, headers),
    hold: () => caller.leave(arrival),
    onGone: (listener) => setDisconnectListener(exchange, listener),
    keyed: undefined,
  });
};

/** Routes of the admin surface see the whole scope, the others the part that is the caller's own. */
const scopeOf = ({ door }: Arrival['endpoint'], principal: Principal | undefined): string => {
  if (!principal) return '';
  return door.surface === 'admin' ? principal.scope : partitionOf(principal);
};

/**
 * Minimum length, in characters, of a body that is processed in separate ticks: shorter ones take a few milliseconds at
 * most.
 */
const LONG = 32 * 1024;

const NOT_JSON = new Refusal(415, 'content-type must be application/json');

const encoded = (coding: string): Refusal =>
  new Refusal(415, `content-encoding '${coding}' is not supported: send the body as it is`, {
    'accept-encoding': 'identity',
  });
