import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ConnectionLost, readError } from './errors.ts';
import type { Token } from './token.ts';

/** The connection of a client to its service: over the network, or in-process in an embedding program. */
export type Connection = {
  /** Base URL without a trailing slash. */
  readonly url: string;
  /** Returns the headers of a request. */
  readonly headers: () => Record<string, string>;
  /** The bearer token of every request, if it is not one of the headers. */
  readonly token?: Token | undefined;
  readonly fetch: (request: Request) => Promise<Response>;
  /** Delays in milliseconds before attempts to resume an interrupted stream. After the last one, the stream fails. */
  readonly pauses: readonly number[];
};

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export type RequestOptions = {
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent instead of `body`. */
  form?: FormData;
  signal?: AbortSignal | undefined;
  idempotency_key?: string | undefined;
};

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Builds a path from literals and encoded segments, so that an id cannot change the route. */
export const path = (literals: TemplateStringsArray, ...ids: readonly string[]): string =>
  String.raw({ raw: literals }, ...ids.map((id) => encodeURIComponent(id)));

const searchOf = (query: Query): string => {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
};

/**
 * Sends a request, and repeats it once with another token if the service rejects its token: a request that gets a 401 has
 * had no effect.
 *
 * @throws TroupeError, ConnectionLost, the reason of the signal, errors of the token
 */
export const send = async (
  connection: Connection,
  method: Method,
  target: string,
  options: RequestOptions = {},
): Promise<Response> => {
  const response = await withToken(
    connection.token,
    (token) => exchange(connection, method, target, options, token),
    options.signal,
  );
  if (!response.ok) throw await readError(`${method} ${target}`, response);
  return response;
};

/** Calls `ask` with the token, and again with another one if the response is a 401. @throws like `send` */
export const withToken = async (
  token: Token | undefined,
  ask: (token: string | undefined) => Promise<Response>,
  signal?: AbortSignal,
): Promise<Response> => {
  const used = token && (await untilAborted(token.current(), signal));
  const response = await ask(used);
  if (response.status !== 401 || !token || used === undefined) return response;
  const renewed = await untilAborted(token.renew(used), signal);
  if (renewed === undefined) return response;
  // The connection is free for the repeated request.
  await response.body?.cancel();
  return ask(renewed);
};

/** @throws ConnectionLost, the reason of the signal */
const exchange = async (
  connection: Connection,
  method: Method,
  target: string,
  { query = {}, body, form, signal, idempotency_key }: RequestOptions,
  token: string | undefined,
): Promise<Response> => {
  const ask = (): Promise<Response> => {
    const headers = new Headers(connection.headers());
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    if (body !== undefined) headers.set('content-type', 'application/json');
    if (idempotency_key !== undefined) headers.set('idempotency-key', idempotency_key);
    return connection.fetch(
      new Request(connection.url + target + searchOf(query), {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(form && { body: form }),
        ...(signal && { signal }),
      }),
    );
  };
  // A keep-alive connection may have been closed by the server, so requests that may be repeated are retried once.
  const isRepeatable = method === 'GET' || idempotency_key !== undefined;
  const pending = isRepeatable ? ask().catch(() => ask()) : ask();
  return pending.catch((cause) => {
    signal?.throwIfAborted();
    throw new ConnectionLost(`${method} ${target}`, cause);
  });
};

/** @throws the reason of the signal, or the error of the work */
const untilAborted = <Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> => {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
};

/**
 * Returns the response body in its documented type; undefined if it is empty.
 * @throws as `send`
 */
export const call = async <Answer>(
  connection: Connection,
  method: Method,
  target: string,
  options?: RequestOptions,
): Promise<Answer> => {
  const response = await send(connection, method, target, options);
  try {
    const text = await response.text();
    // The service is tested against the documented response schemas.
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  } catch (cause) {
    options?.signal?.throwIfAborted();
    throw new ConnectionLost(`${method} ${target}`, cause);
  }
};

export type Frame = { id: string | undefined; data: unknown };

/** Yields the frames of an event stream. Leaving the loop closes the connection. @throws errors of the connection */
export async function* framesOf(
  response: Response,
  onComment?: (text: string) => void,
): AsyncGenerator<Frame, void> {
  if (!response.body) return;
  const frames = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream({ onComment }));
  const reader = frames.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield { id: value.id, data: JSON.parse(value.data) };
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** @throws the reason of the signal */
export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave);
      resolve();
    }, ms);
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave, { once: true });
  });
