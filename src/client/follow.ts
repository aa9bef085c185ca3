import type { CanonicalEvent } from '../schema/canonical-event.ts';
import { type Connection, framesOf, pause, type Query, send } from './connection.ts';
import { ConnectionLost, Unavailable } from './errors.ts';

/**
 * Streams that last longer than their connections.
 *
 * Guarantees: a stream that was cut is asked for again from the last frame that came, or from where it began, after
 * growing pauses; every frame that comes begins the pauses anew. An answer that is an error ends it, but for 503, which
 * is waited out.
 */
export type Following = { target: string; query?: Query; signal?: AbortSignal | undefined };

/** @param resume what is asked for instead of `query` once a frame with an id has come */
export async function* follow(
  connection: Connection,
  { target, query = {}, signal }: Following,
  resume: (id: string) => Query,
): AsyncGenerator<unknown, void> {
  let failures = 0;
  let last: string | undefined;
  const began = (comment: string): void => {
    last ??= BEGINNING.exec(comment)?.[1];
  };
  for (;;) {
    const asked = last === undefined ? query : resume(last);
    try {
      const response = await send(connection, 'GET', target, { query: asked, signal });
      for await (const { id, data } of framesOf(response, began)) {
        failures = 0;
        last = id ?? last;
        yield data;
      }
      throw new Error('the stream ended');
    } catch (cause) {
      signal?.throwIfAborted();
      const wait = waitAfter(connection, cause, failures);
      if (wait === undefined) throw isAnswer(cause) ? cause : new ConnectionLost(`GET ${target}`, cause);
      failures += 1;
      await pause(wait, signal);
    }
  }
}

/** What a log says first. */
const BEGINNING = /^from (cur_\S+)$/;

const isAnswer = (cause: unknown): boolean =>
  cause instanceof Error && ('status' in cause || cause instanceof ConnectionLost);

/** Undefined: there is nothing to wait for any more. */
const waitAfter = ({ pauses }: Connection, cause: unknown, failures: number): number | undefined => {
  const wait = pauses[failures];
  if (wait === undefined) return undefined;
  if (cause instanceof Unavailable) return Math.max(wait, cause.retryAfter ?? 0);
  return cause instanceof Error && 'status' in cause ? undefined : wait;
};

/** A request that changes nothing, again until it is answered or the pauses are through. */
export const persistently = async <Answer>(
  connection: Connection,
  signal: AbortSignal | undefined,
  ask: () => Promise<Answer>,
): Promise<Answer> => {
  for (let failures = 0; ; failures += 1) {
    try {
      return await ask();
    } catch (cause) {
      signal?.throwIfAborted();
      const wait = waitAfter(connection, cause, failures);
      if (wait === undefined) throw cause;
      await pause(wait, signal);
    }
  }
};

/** The durable events of a thread or a run: from a cursor, or from now on. */
export const followLog = (
  connection: Connection,
  target: string,
  { cursor, signal }: { cursor?: string | undefined; signal?: AbortSignal | undefined },
): AsyncGenerator<CanonicalEvent, void> =>
  // The schema of the frames is that of the document.
  follow(connection, { target, query: { cursor }, signal }, (id) => ({ cursor: id })) as AsyncGenerator<
    CanonicalEvent,
    void
  >;
