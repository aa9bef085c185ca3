import type { Answer } from './answer.ts';
import type { Origin } from './origin.ts';
import type { WireRequest, WireResponse } from './wire.ts';

/**
 * Processes requests of the Fetch API without a socket, in the same pipeline as network requests.
 *
 * Guarantees: a response resolves with its head, before a stream has ended. A reader that does not read stalls its
 * stream, as with a socket. An aborted request, a failed request body and a cancelled response body all count as a
 * disconnected client.
 * Relies on the body of the request being unread.
 */
export type LocalOrigin = Exclude<Origin, { from: 'network' }>;

export type Local = {
  fetch(request: Request, origin: LocalOrigin): Promise<Response>;
  /** Aborts all open exchanges. */
  close(): void;
};

export const createFetch = (answer: Answer): Local => {
  const open = new Set<Exchanged>();
  return {
    fetch: (request, origin) =>
      new Promise((resolve, reject) => {
        const exchanged = openExchanged(request, { resolve, reject }, open);
        if (request.signal.aborted) leave(exchanged, request.signal.reason);
        else answer(responseOf(exchanged), requestOf(request), origin);
      }),
    close() {
      for (const exchanged of open) leave(exchanged, new Error('the service has stopped'));
    },
  };
};

/** One request and the state of its response. */
type Exchanged = {
  readonly request: Request;
  readonly settle: { resolve(response: Response): void; reject(reason: unknown): void };
  readonly open: Set<Exchanged>;
  readonly headers: Headers;
  status: number;
  statusText: string;
  /** Set once the response streams. */
  body: ReadableStreamDefaultController<Uint8Array> | undefined;
  stalled: boolean;
  ended: boolean;
  aborted: (() => void) | undefined;
  writable: ((offset: number) => boolean) | undefined;
  /** Set while the handler accepts no more of the request body. */
  paused: { promise: Promise<void>; end(): void } | undefined;
  forget(): void;
};

const openExchanged = (request: Request, settle: Exchanged['settle'], open: Set<Exchanged>): Exchanged => {
  const abort = (): void => leave(exchanged, request.signal.reason);
  const exchanged: Exchanged = {
    request,
    settle,
    open,
    headers: new Headers(),
    status: 200,
    statusText: '',
    body: undefined,
    stalled: false,
    ended: false,
    aborted: undefined,
    writable: undefined,
    paused: undefined,
    forget: () => request.signal.removeEventListener('abort', abort),
  };
  request.signal.addEventListener('abort', abort);
  open.add(exchanged);
  return exchanged;
};

const requestOf = (request: Request): WireRequest => {
  const { pathname, search, host } = new URL(request.url);
  const headers = new Headers(request.headers);
  if (!headers.has('host')) headers.set('host', host);
  return {
    getMethod: () => request.method.toLowerCase(),
    getUrl: () => pathname,
    getQuery: () => search.slice(1),
    getHeader: (name) => headers.get(name) ?? '',
    forEach(listener) {
      for (const [name, value] of headers) listener(name, value);
    },
  };
};

const responseOf = (exchanged: Exchanged): WireResponse => ({
  retains: true,
  onAborted(listener) {
    exchanged.aborted = listener;
  },
  onData(listener) {
    readBody(exchanged, listener).catch((error) => leave(exchanged, error));
  },
  pause() {
    exchanged.paused ??= pauseOf();
  },
  resume: () => resume(exchanged),
  onWritable(listener) {
    exchanged.writable = listener;
  },
  writeStatus(line) {
    exchanged.status = Number(line.slice(0, 3));
    exchanged.statusText = line.slice(4);
  },
  writeHeader(name, value) {
    if (!OF_CONNECTIONS.has(name)) exchanged.headers.append(name, latin1(value));
  },
  write: (text) => write(exchanged, text),
  end: (text = '') => end(exchanged, text),
  endWithoutBody: () => end(exchanged, null),
  cork: (work) => work(),
  close: () => leave(exchanged, new Error('the response was cut off: it was not read fast enough')),
  getRemoteAddressAsText: () => new ArrayBuffer(0),
});

/** A value of `Headers` is a byte string. */
const latin1 = (value: string | Uint8Array): string =>
  typeof value === 'string' ? value : Buffer.from(value).toString('latin1');

/** Connection headers do not apply without a connection (RFC 9110, 7.6.1). */
const OF_CONNECTIONS: ReadonlySet<string> = new Set(['connection', 'keep-alive']);

const readBody = async (
  exchanged: Exchanged,
  listener: (chunk: ArrayBuffer, isLast: boolean) => void,
): Promise<void> => {
  const reader = exchanged.request.body?.getReader();
  for (;;) {
    await exchanged.paused?.promise;
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (exchanged.ended) {
      await reader?.cancel();
      return;
    }
    listener(value ? whole(value) : new ArrayBuffer(0), done);
    if (done) return;
  }
};

const pauseOf = (): NonNullable<Exchanged['paused']> => {
  let end = (): void => {};
  const promise = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { promise, end };
};

const resume = (exchanged: Exchanged): void => {
  const { paused } = exchanged;
  exchanged.paused = undefined;
  paused?.end();
};

/** Copies the bytes to a buffer that contains nothing else. */
const whole = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;

const encoder = new TextEncoder();

const write = (exchanged: Exchanged, text: string | Uint8Array): boolean => {
  const body = exchanged.body ?? startBody(exchanged);
  body.enqueue(bytesOf(text));
  exchanged.stalled = (body.desiredSize ?? 0) <= 0;
  return !exchanged.stalled;
};

const startBody = (exchanged: Exchanged): ReadableStreamDefaultController<Uint8Array> => {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
      },
      pull() {
        if (!exchanged.stalled || exchanged.ended) return;
        exchanged.stalled = false;
        exchanged.writable?.(0);
      },
      cancel: (reason) => leave(exchanged, reason),
    },
    { highWaterMark: HELD_BYTES, size: ({ byteLength }) => byteLength },
  );
  if (!controller) throw new Error('a stream starts when it is made');
  exchanged.body = controller;
  respond(exchanged, body);
  return controller;
};

/** Buffer size of an unread response, similar to that of a system socket. */
const HELD_BYTES = 64 * 1024;

/** @param text null for a response without a body */
const end = (exchanged: Exchanged, text: string | Uint8Array | null): void => {
  const { body } = exchanged;
  close(exchanged);
  if (!body) respond(exchanged, text === '' && BODILESS.has(exchanged.status) ? null : text);
  else {
    if (text) body.enqueue(bytesOf(text));
    body.close();
  }
};

const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

const bytesOf = (text: string | Uint8Array): Uint8Array =>
  typeof text === 'string' ? encoder.encode(text) : text;

const respond = (
  exchanged: Exchanged,
  body: ReadableStream<Uint8Array> | string | Uint8Array | null,
): void => {
  const { status, statusText, headers } = exchanged;
  // From a string, `Response` would derive a content type where the service sends none.
  const bytes = body === null || body instanceof ReadableStream ? body : whole(bytesOf(body));
  exchanged.settle.resolve(new Response(bytes, { status, statusText, headers }));
};

/** Ends an exchange whose client has disconnected or is cut off, and notifies both ends. */
const leave = (exchanged: Exchanged, reason: unknown): void => {
  if (exchanged.ended) return;
  const { body, aborted, settle } = exchanged;
  close(exchanged);
  if (body) body.error(reason);
  else settle.reject(reason);
  aborted?.();
};

const close = (exchanged: Exchanged): void => {
  exchanged.ended = true;
  resume(exchanged);
  exchanged.forget();
  exchanged.open.delete(exchanged);
};
