import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ConnectionLost, errorOf } from './errors.ts';

/** How a client reaches its service: over the network, or, in the program that has it inside, without one. */
export type Connection = {
  /** Without a slash at its end. */
  readonly url: string;
  /** For each request. */
  readonly headers: () => Record<string, string>;
  readonly fetch: (request: Request) => Promise<Response>;
  /** The pauses before a stream that was cut is taken up again, in milliseconds; after the last it is given up. */
  readonly pauses: readonly number[];
};

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export type RequestOptions = { query?: Query; body?: unknown; signal?: AbortSignal | undefined };

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Segments of a path, each as it is: what it holds cannot lead anywhere else. */
export const path = (literals: TemplateStringsArray, ...ids: readonly string[]): string =>
  String.raw({ raw: literals }, ...ids.map((id) => encodeURIComponent(id)));

const searchOf = (query: Query): string => {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
};

/** @throws TroupeError, ConnectionLost, the reason of the signal */
export const send = async (
  connection: Connection,
  method: Method,
  target: string,
  { query = {}, body, signal }: RequestOptions = {},
): Promise<Response> => {
  const ask = (): Promise<Response> =>
    connection.fetch(
      new Request(connection.url + target + searchOf(query), {
        method,
        headers: {
          ...connection.headers(),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      }),
    );
  // A connection that was kept may have gone meanwhile: what only reads is asked once more.
  const asked = method === 'GET' ? ask().catch(() => ask()) : ask();
  const response = await asked.catch((cause) => {
    signal?.throwIfAborted();
    throw new ConnectionLost(`${method} ${target}`, cause);
  });
  if (!response.ok) throw await errorOf(`${method} ${target}`, response);
  return response;
};

/**
 * The answer as the service describes it; undefined when it has none.
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
    // The schemas of the answers are those of the document that the service is checked against.
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  } catch (cause) {
    options?.signal?.throwIfAborted();
    throw new ConnectionLost(`${method} ${target}`, cause);
  }
};

export type Frame = { id: string | undefined; data: unknown };

/** The frames of an event stream. Leaving the loop lets the connection go. @throws whatever the connection does */
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
