import type { Dispatcher } from 'undici';
import { createInflater, type Inflater } from './inflate.ts';
import type { DispatchOptions, Pool } from './pool.ts';
import { deadline, type Wheel } from './wheel.ts';

/**
 * One request and its response, whatever is read from it.
 *
 * Guarantees: the promise settles once, and the receiver is not called afterwards; an abort ends the request at once,
 * also one that waits for a connection; a request on an idle connection that the server closes before the first byte
 * of the response is sent once more, on a fresh connection; a response that nothing more is read from is drained within
 * `DRAIN` bounds, so that its connection is used again, or else its connection is closed.
 * Costs: one promise and one handler a request. Nothing is allocated for a chunk.
 */
export type Receiver<Result> = {
  /** Returns a result where the body is not wanted. */
  start(response: ResponseHead): Result | undefined;
  /** Returns a result when nothing more is wanted. */
  data(chunk: Buffer): Result | undefined;
  /** The body has ended. */
  end(): Result;
  /** The connection broke before the end. `started`: the head of the response has arrived. Throws, or has a result. */
  broke(error: Error, started: boolean): Result;
  /** The provider has reported the end of its answer: the rest of the body is waited for only briefly. */
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
  method: 'GET' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
};

const FINISHED_MS = 1000;
const DRAIN = { ms: 1000, bytes: 64 * 1024 };

type Deps = { pool: Pool; wheel: Wheel };

/** Rejects with the reason of the signal, or with what the receiver throws. */
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
  return new Promise((resolve, reject) => exchange({ ...deps, options, receiver, signal, resolve, reject }));
};

/** Some services refuse requests without a user agent. Compressed events arrive late, because compressors hold them. */
const headersOf = (given: Request['headers']): Record<string, string> => {
  const headers: Record<string, string> = {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'troupe',
  };
  for (const [name, value] of Object.entries(given)) headers[name.toLowerCase()] = value;
  return headers;
};

type Exchange<Result> = Deps & {
  options: DispatchOptions;
  receiver: Receiver<Result>;
  signal: AbortSignal;
  resolve(result: Result): void;
  reject(error: unknown): void;
};

type Controller = Dispatcher.DispatchController;

/** `sent`: `seen` is whether a byte of the response has arrived. */
type Phase = 'waiting' | 'sent' | 'started' | 'draining' | 'closed';

const exchange = <Result>({ pool, wheel, options, receiver, signal, resolve, reject }: Exchange<Result>) => {
  let phase: Phase = 'waiting';
  let seen = false;
  /** No request was sent on this connection before. */
  let isFirst = false;
  let retried = false;
  let controller: Controller | undefined;
  let inflater: Inflater | undefined;
  let drained = 0;

  const close = (): void => {
    phase = 'closed';
    wheel.remove(finishing);
    wheel.remove(draining);
    signal.removeEventListener('abort', cancel);
    inflater?.destroy();
    // A request that waits for a connection is refused when it gets one; its body need not wait so long.
    options.body = null;
    controller?.abort(ABANDONED);
  };
  const fail = (error: unknown): void => {
    if (phase === 'draining' || phase === 'closed') return;
    close();
    reject(error);
  };
  const cancel = (): void => fail(signal.reason);
  const finish = (result: Result | undefined): void => {
    if (result === undefined || phase === 'draining' || phase === 'closed') return;
    drain();
    resolve(result);
  };
  const drain = (): void => {
    phase = 'draining';
    wheel.remove(finishing);
    signal.removeEventListener('abort', cancel);
    inflater?.destroy();
    wheel.set(draining, DRAIN.ms);
  };
  /** Nothing more arrives. */
  const over = (step: () => Result): void => {
    if (phase === 'draining') close();
    if (phase === 'closed') return;
    try {
      finish(step());
    } catch (error) {
      fail(error);
    }
    close();
  };
  const finishing = deadline(() => over(receiver.end));
  const draining = deadline(close);
  const take = (chunk: Buffer): void => {
    if (phase !== 'started') return;
    try {
      finish(receiver.data(chunk));
      if (phase === 'started' && finishing.place < 0 && receiver.isFinished()) {
        wheel.set(finishing, FINISHED_MS);
      }
    } catch (error) {
      fail(error);
    }
  };

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(given) {
      // Throwing leaves the connection to the next request; an abort would close it.
      if (phase === 'closed') throw ABANDONED;
      phase = 'sent';
      isFirst = pool.isOpening();
      controller = given;
    },
    onResponseStarted() {
      seen = true;
    },
    onResponseStart(given, status, headers, text = '') {
      if (status < 200 || phase !== 'sent') return;
      phase = 'started';
      try {
        inflater = createInflater(headers['content-encoding'], given, {
          data: take,
          end: () => over(receiver.end),
          fail: (error) => over(() => receiver.broke(error, true)),
        });
        finish(receiver.start({ status, headers, text }));
      } catch (error) {
        fail(error);
      }
    },
    onResponseData(_, chunk) {
      if (phase === 'draining') {
        drained += chunk.length;
        if (drained > DRAIN.bytes) close();
      } else if (inflater) inflater.write(chunk);
      else take(chunk);
    },
    onResponseEnd() {
      controller = undefined;
      if (phase === 'started' && inflater) inflater.end();
      else over(receiver.end);
    },
    onResponseError(_, error) {
      controller = undefined;
      if (phase === 'sent' && !isFirst && !seen && !retried && isClosed(error)) {
        retried = true;
        begin(true);
      } else {
        const started = phase === 'started';
        over(() => receiver.broke(error, started));
      }
    },
  };
  const begin = (fresh: boolean): void => {
    phase = 'waiting';
    try {
      pool.dispatch(options, handler, fresh);
    } catch (error) {
      const problem = error instanceof Error ? error : new Error(String(error));
      over(() => receiver.broke(problem, false));
    }
  };
  signal.addEventListener('abort', cancel);
  begin(false);
};

const ABANDONED = new Error('the response is not read any more');

const CLOSED: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

const isClosed = (error: Error): boolean => 'code' in error && CLOSED.has(error.code);
