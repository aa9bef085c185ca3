import type { KeyedRequest } from '../schema/idempotency.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import { Outcome } from '../schema/outcome.ts';
import type { AuthObserver } from '../schema/presented.ts';
import type { Principal } from '../schema/principal.ts';
import type { AddReader } from '../schema/reader.ts';
import { maskCredentials } from '../schema/redaction/credentials.ts';
import type { RequestLimits } from '../schema/request-limits.ts';
import { Refusal } from './errors.ts';
import { type Exchange, sendReply } from './exchange.ts';
import type { Gate } from './gate.ts';
import type { Repeats } from './repeats.ts';
import { isReply, reply } from './reply.ts';
import type { RouteRequest } from './route.ts';
import type { Endpoint } from './router.ts';
import { bindStream, isEventStream, type Stream, type StreamHub } from './sse.ts';

/**
 * Calls a handler: acquires a slot of the gate, executes the handler and sends its result as the response.
 *
 * Guarantees: the result of a synchronous handler is sent in the same event-loop tick, without a promise. Every error
 * of a handler becomes a response, and is logged if its status is 500.
 * A call occupies a slot until its response is sent, its stream is bound or its handler calls `hold`.
 */
export type Call = {
  exchange: Exchange;
  endpoint: Endpoint;
  params: Readonly<Record<string, string>>;
  /** Whether the call occupies a slot of the gate. */
  inside: boolean;
  /** Ends the count of the event stream that the route may open. */
  release?: (() => void) | undefined;
  /** Set if the request has an `Idempotency-Key`. */
  keyed?: KeyedRequest | undefined;
};

export type AnyRequest = RouteRequest<unknown, unknown, unknown>;

export type Caller = {
  /** Executes the handler at once, once a slot is free, or not at all. */
  admit(call: Call, request: AnyRequest): void;
  /** Releases the slot. */
  leave(call: Call): void;
  /** Sends an error response. */
  fail(exchange: Exchange, error: unknown): void;
};

export const createCaller = (deps: {
  gate: Gate;
  hub: StreamHub;
  log: Pick<ServiceLog, 'error'>;
  /** Receives the event streams of users, which end with the rights of their principals. */
  addReader?: AddReader | undefined;
  observeAuth: Pick<AuthObserver, 'denied'>;
  limits?: Limits | undefined;
  repeats?: Repeats | undefined;
}): Caller => {
  const { gate, hub, log, addReader = ignoreReader, observeAuth } = deps;

  const fail = (exchange: Exchange, error: unknown): void => {
    hideCredentials(error);
    const answer = exchange.errors(error, exchange.requestId);
    if (answer.status === 500) {
      const { method, route, requestId } = exchange;
      log.error('http.request_failed', { err: error, method, route, request_id: requestId });
    }
    sendReply(exchange, answer);
  };

  const leave = (call: Call): void => {
    const { inside } = call;
    call.inside = false;
    if (inside) gate.leave();
  };

  const succeeded = (call: Call, principal: Principal, result: unknown): void => {
    const { exchange } = call;
    try {
      if (isEventStream(result)) {
        bindStream(result, exchange, hub);
        if (result.closed) release(call);
        else follow(call, result, addReader(readerOf(call, principal, result)));
      } else sendReply(exchange, isReply(result) ? result : reply(200, result));
    } catch (error) {
      fail(exchange, error);
      release(call);
    }
    leave(call);
    if (!isEventStream(result)) release(call);
  };

  const failed = (call: Call, request: AnyRequest, error: unknown): void => {
    observeAuth.denied(request.principal, error, request);
    fail(call.exchange, error);
    leave(call);
    release(call);
  };

  const invoke = (call: Call, request: AnyRequest): void => {
    let result: unknown;
    try {
      result = handle(call, request, deps);
    } catch (error) {
      failed(call, request, error);
      return;
    }
    const succeed = (value: unknown): void => succeeded(call, request.principal, value);
    if (!isPromise(result)) succeed(result);
    else result.then(succeed, (error) => failed(call, request, error));
  };

  const queue = (call: Call, request: AnyRequest): void => {
    const { exchange } = call;
    const waiter = {
      start() {
        exchange.onGone = undefined;
        invoke(call, request);
      },
      expire: () => fail(exchange, BUSY),
    };
    if (gate.wait(waiter)) exchange.onGone = () => gate.withdraw(waiter);
    else fail(exchange, BUSY);
  };

  return {
    admit(call, request) {
      if (call.exchange.done) return;
      if (gate.enter()) invoke(call, request);
      else queue(call, request);
    },
    leave,
    fail,
  };
};

/** @throws the error of the handler, or RateLimited */
const handle = (
  call: Call,
  request: AnyRequest,
  { limits, repeats }: { limits?: Limits | undefined; repeats?: Repeats | undefined },
): unknown => {
  const { endpoint, keyed } = call;
  call.inside = true;
  if (endpoint.streams) call.release = limits?.openStream(request.principal);
  return keyed && repeats ? repeats.handle(keyed, endpoint, request) : endpoint.handle(request);
};

type Limits = Pick<RequestLimits, 'openStream'>;

const release = (call: Call): void => {
  call.release?.();
  call.release = undefined;
};

const follow = (call: Call, stream: Stream, endReader: () => void): void =>
  stream.onClose(() => {
    endReader();
    release(call);
  });

/** Texts of these errors may repeat what the client sent. */
const hideCredentials = (error: unknown): void => {
  if (error instanceof Outcome || error instanceof Refusal) error.message = maskCredentials(error.message);
};

const ignoreReader: AddReader = () => () => {};

/** A stream is judged by the right of its route, and by that on the thread that it reads. */
const readerOf = (
  { exchange, endpoint, params }: Call,
  principal: Principal,
  stream: Stream,
): Parameters<AddReader>[0] => {
  const { reading } = stream.options;
  return {
    principal,
    thread: reading?.thread,
    endsWithCredential: exchange.method === 'GET' || reading?.right === 'read',
    isAllowed(present) {
      endpoint.door.check(present, params);
      return reading?.isAllowed(present) ?? true;
    },
    end: stream.end,
  };
};

const BUSY = new Refusal(503, 'too many requests are being answered', { 'retry-after': '1' });

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
