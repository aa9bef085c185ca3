import type { Dispatcher } from 'undici';
import { createInflater, type Inflater } from './inflate.ts';
import type { DispatchOptions, Pool } from './pool.ts';
import { type Deadline, deadline, type Wheel } from './wheel.ts';

/**
 * Sends one request and passes its response to a receiver.
 *
 * Guarantees: the promise settles once, and the receiver is not called afterwards; an abort ends the request
 * immediately, even if it still waits for a connection; a request on an idle connection that the server closes before
 * the first byte of the response is repeated once, on a fresh connection; a response that is no longer needed is
 * drained within the `DRAIN` limits, so that its connection can be reused, or else its connection is closed.
 * Cost: one promise and one handler per request. Nothing is allocated per chunk.
 */
export type Receiver<Result> = {
  /** Returns a result if the body is not needed. */
  start(response: ResponseHead): Result | undefined;
  /** Returns a result when no more data is needed. */
  data(chunk: Buffer): Result | undefined;
  /** Called at the end of the body. */
  end(): Result;
  /**
   * Called when the connection breaks before the end. `started`: the response head has arrived. Throws or returns a
   * result.
   */
  broke(error: Error, started: boolean): Result;
  /** Whether the provider has reported the end of its completion; the rest of the body gets only a short time. */
  isFinished(): boolean;
};

export type ResponseHead = {
  status: number;
  headers: Headers;
  /** Text of the status line. */
  text: string;
};

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export type Request = {
  method: 'GET' | 'POST' | 'PUT';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Buffer;
};

const FINISHED_MS = 1000;
const DRAIN = { ms: 1000, bytes: 64 * 1024 };

type Deps = { pool: Pool; wheel: Wheel };

/** Rejects with the reason of the signal, or with the error that the receiver throws. */
export const send = async <Result>(
  deps: Deps,
  request: Request,
  receiver: Receiver<Result>,
  signal: AbortSignal,
): Promise<Result> => {
  const { origin, pathname, search } = new URL(request.url);
  const loading = deps.pool.ready();
  if (loading) await loading;
  if (signal.aborted) throw signal.reason;
  const options: DispatchOptions = {
    origin,
    path: `${pathname}${search}`,
    method: request.method,
    headers: headersOf(request.headers),
    body: request.body ?? null,
  };
  return new Promise((resolve, reject) => begin({ ...deps, options, receiver, signal, resolve, reject }));
};

/** Some services reject requests without a user agent. Compression delays events, because compressors buffer data. */
const headersOf = (given: Request['headers']): Record<string, string> => {
  const headers: Record<string, string> = {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'troupe',
  };
  for (const [name, value] of Object.entries(given)) headers[name.toLowerCase()] = value;
  return headers;
};

/** One request and its response. */
type Exchange<Result> = {
  readonly pool: Pool;
  readonly wheel: Wheel;
  readonly options: DispatchOptions;
  readonly receiver: Receiver<Result>;
  readonly signal: AbortSignal;
  resolve(result: Result): void;
  reject(error: unknown): void;
  readonly handler: Dispatcher.DispatchHandler;
  /** The listener of the signal. */
  readonly cancel: () => void;
  /** Ends a response whose body stays open after its end for the receiver. */
  readonly finishing: Deadline;
  /** Closes the connection of a response that is not drained in time. */
  readonly draining: Deadline;
  phase: Phase;
  /** Whether a byte of the response has arrived. */
  isAnswered: boolean;
  /** Whether this is the first request on its connection. */
  isFirst: boolean;
  isRepeated: boolean;
  controller: Controller | undefined;
  inflater: Inflater | undefined;
  drainedBytes: number;
};

type Controller = Dispatcher.DispatchController;

type Phase = 'waiting' | 'sent' | 'started' | 'draining' | 'closed';

type Given = 'pool' | 'wheel' | 'options' | 'receiver' | 'signal' | 'resolve' | 'reject';

const begin = <Result>(given: Pick<Exchange<Result>, Given>): void => {
  const { pool, wheel, options, receiver, signal, resolve, reject } = given;
  const exchange: Exchange<Result> = {
    pool,
    wheel,
    options,
    receiver,
    signal,
    resolve,
    reject,
    handler: {
      onRequestStart: (controller) => onSent(exchange, controller),
      onResponseStarted() {
        exchange.isAnswered = true;
      },
      onResponseStart: (controller, status, headers, text = '') =>
        onHead(exchange, controller, { status, headers, text }),
      onResponseData: (_, chunk) => onData(exchange, chunk),
      onResponseEnd: () => onEnd(exchange),
      onResponseError: (_, error) => onError(exchange, error),
    },
    cancel: () => fail(exchange, signal.reason),
    finishing: deadline(() => finishBody(exchange)),
    draining: deadline(() => close(exchange)),
    phase: 'waiting',
    isAnswered: false,
    isFirst: false,
    isRepeated: false,
    controller: undefined,
    inflater: undefined,
    drainedBytes: 0,
  };
  signal.addEventListener('abort', exchange.cancel);
  dispatch(exchange, false);
};

/** `fresh`: whether the request is sent on a new connection. */
const dispatch = <Result>(exchange: Exchange<Result>, fresh: boolean): void => {
  exchange.phase = 'waiting';
  try {
    exchange.pool.dispatch(exchange.options, exchange.handler, fresh);
  } catch (error) {
    breakOff(exchange, error instanceof Error ? error : new Error(String(error)), false);
  }
};

const onSent = <Result>(exchange: Exchange<Result>, controller: Controller): void => {
  // Throwing leaves the connection to the next request; an abort would close it.
  if (exchange.phase === 'closed') throw ABANDONED;
  exchange.phase = 'sent';
  exchange.isFirst = exchange.pool.isOpening();
  exchange.controller = controller;
};

const onHead = <Result>(exchange: Exchange<Result>, controller: Controller, head: ResponseHead): void => {
  if (head.status < 200 || exchange.phase !== 'sent') return;
  exchange.phase = 'started';
  try {
    exchange.inflater = createInflater(head.headers['content-encoding'], controller, {
      data: (chunk) => receive(exchange, chunk),
      end: () => finishBody(exchange),
      fail: (error) => breakOff(exchange, error, true),
    });
    finish(exchange, exchange.receiver.start(head));
  } catch (error) {
    fail(exchange, error);
  }
};

const onData = <Result>(exchange: Exchange<Result>, chunk: Buffer): void => {
  if (exchange.phase === 'draining') {
    exchange.drainedBytes += chunk.length;
    if (exchange.drainedBytes > DRAIN.bytes) close(exchange);
  } else if (exchange.inflater) exchange.inflater.write(chunk);
  else receive(exchange, chunk);
};

const receive = <Result>(exchange: Exchange<Result>, chunk: Buffer): void => {
  if (exchange.phase !== 'started') return;
  const { receiver, finishing, wheel } = exchange;
  try {
    finish(exchange, receiver.data(chunk));
    if (exchange.phase === 'started' && finishing.place < 0 && receiver.isFinished()) {
      wheel.set(finishing, FINISHED_MS);
    }
  } catch (error) {
    fail(exchange, error);
  }
};

const onEnd = <Result>(exchange: Exchange<Result>): void => {
  exchange.controller = undefined;
  if (exchange.phase === 'started' && exchange.inflater) exchange.inflater.end();
  else finishBody(exchange);
};

const onError = <Result>(exchange: Exchange<Result>, error: Error): void => {
  const { phase, isFirst, isAnswered, isRepeated } = exchange;
  exchange.controller = undefined;
  if (phase === 'sent' && !isFirst && !isAnswered && !isRepeated && isClosed(error)) {
    exchange.isRepeated = true;
    dispatch(exchange, true);
  } else breakOff(exchange, error, phase === 'started');
};

const finishBody = <Result>(exchange: Exchange<Result>): void =>
  finishWith(exchange, () => exchange.receiver.end());

const breakOff = <Result>(exchange: Exchange<Result>, error: Error, started: boolean): void =>
  finishWith(exchange, () => exchange.receiver.broke(error, started));

/** Called when nothing more will arrive. */
const finishWith = <Result>(exchange: Exchange<Result>, lastResult: () => Result): void => {
  if (exchange.phase === 'draining') close(exchange);
  if (exchange.phase === 'closed') return;
  try {
    finish(exchange, lastResult());
  } catch (error) {
    fail(exchange, error);
  }
  close(exchange);
};

const finish = <Result>(exchange: Exchange<Result>, result: Result | undefined): void => {
  if (result === undefined || isOver(exchange)) return;
  drain(exchange);
  exchange.resolve(result);
};

const fail = <Result>(exchange: Exchange<Result>, error: unknown): void => {
  if (isOver(exchange)) return;
  close(exchange);
  exchange.reject(error);
};

/** Whether the promise has settled. */
const isOver = <Result>({ phase }: Exchange<Result>): boolean => phase === 'draining' || phase === 'closed';

const drain = <Result>(exchange: Exchange<Result>): void => {
  exchange.phase = 'draining';
  stopReceiving(exchange);
  exchange.wheel.set(exchange.draining, DRAIN.ms);
};

const close = <Result>(exchange: Exchange<Result>): void => {
  exchange.phase = 'closed';
  stopReceiving(exchange);
  exchange.wheel.remove(exchange.draining);
  // The pool rejects the aborted request once a connection is free; its body is released now.
  exchange.options.body = null;
  exchange.controller?.abort(ABANDONED);
};

const stopReceiving = <Result>({ wheel, finishing, signal, cancel, inflater }: Exchange<Result>): void => {
  wheel.remove(finishing);
  signal.removeEventListener('abort', cancel);
  inflater?.destroy();
};

const ABANDONED = new Error('the response is no longer read');

const CLOSED: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

const isClosed = (error: Error): boolean => 'code' in error && CLOSED.has(error.code);
