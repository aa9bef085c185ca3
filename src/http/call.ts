import { Refusal } from './errors.ts';
import { type Exchange, sendReply } from './exchange.ts';
import type { Gate } from './gate.ts';
import { isReply, reply } from './reply.ts';
import type { RouteRequest } from './route.ts';
import type { Endpoint } from './router.ts';
import { bindStream, isEventStream, type StreamHub } from './sse.ts';

/**
 * The call of a handler: a place in the gate, then the handler, then its result as response.
 *
 * Guarantees: a handler that answers at once is answered in the same turn, without a promise; whatever a handler
 * throws, and whenever, becomes an answer and, if it is nobody's fault but ours, a line of the log.
 * A call counts against the gate until it has answered, its stream is bound, or it is held.
 */
export type Call = {
  exchange: Exchange;
  endpoint: Endpoint;
  /** It has a place in the gate. */
  inside: boolean;
};

export type AnyRequest = RouteRequest<unknown, unknown, unknown>;

export type Caller = {
  /** Calls the handler now, when its turn comes, or not at all. */
  admit(call: Call, request: AnyRequest): void;
  /** Gives the place in the gate to somebody else. */
  leave(call: Call): void;
  /** Answers with an error. */
  fail(exchange: Exchange, error: unknown): void;
};

export const createCaller = (deps: {
  gate: Gate;
  hub: StreamHub;
  log: { error(data: object, text: string): void };
}): Caller => {
  const { gate, hub, log } = deps;

  const fail = (exchange: Exchange, error: unknown): void => {
    const answer = exchange.errors(error, exchange.requestId);
    if (answer.status === 500) {
      const { method, route, requestId } = exchange;
      log.error({ err: error, method, route, request_id: requestId }, 'request failed');
    }
    sendReply(exchange, answer);
  };

  const leave = (call: Call): void => {
    if (!call.inside) return;
    call.inside = false;
    gate.leave();
  };

  const succeeded = (call: Call, result: unknown): void => {
    const { exchange } = call;
    try {
      if (isEventStream(result)) bindStream(result, exchange, hub);
      else sendReply(exchange, isReply(result) ? result : reply(200, result));
    } catch (error) {
      fail(exchange, error);
    }
    leave(call);
  };

  const failed = (call: Call, error: unknown): void => {
    fail(call.exchange, error);
    leave(call);
  };

  const invoke = (call: Call, request: AnyRequest): void => {
    call.inside = true;
    let result: unknown;
    try {
      result = call.endpoint.handle(request);
    } catch (error) {
      failed(call, error);
      return;
    }
    if (!isPromise(result)) succeeded(call, result);
    else
      result.then(
        (value) => succeeded(call, value),
        (error) => failed(call, error),
      );
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

const BUSY = new Refusal(503, 'too many requests are being answered', { 'retry-after': '1' });

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
