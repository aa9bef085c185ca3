import type { CanonicalEvent } from '../schema/canonical-event.ts';
import { type Connection, framesOf, pause, type Query, send } from './connection.ts';
import { ConnectionLost, Unavailable } from './errors.ts';

/**
 * Streams that survive interrupted connections.
 *
 * Guarantees: an interrupted stream is requested again after increasing delays, from its last frame or from its
 * original start. Every received frame resets the delays. An error response ends the stream, except for 503, which is
 * retried.
 */
export type Following = { target: string; query?: Query; signal?: AbortSignal | undefined };

/** @param resume returns the query that replaces `query` after a frame with an id */
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
    const nextQuery = last === undefined ? query : resume(last);
    try {
      const response = await send(connection, 'GET', target, { query: nextQuery, signal });
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

/** The first comment of a log. */
const BEGINNING = /^from (cur_\S+)$/;

const isAnswer = (cause: unknown): boolean =>
  cause instanceof Error && ('status' in cause || cause instanceof ConnectionLost);

/** Returns undefined if no attempt is left, or if the error is permanent. */
const waitAfter = ({ pauses }: Connection, cause: unknown, failures: number): number | undefined => {
  const wait = pauses[failures];
  if (wait === undefined) return undefined;
  if (cause instanceof Unavailable) return Math.max(wait, cause.retryAfter ?? 0);
  return cause instanceof Error && 'status' in cause ? undefined : wait;
};

/** Retries a read-only request until it succeeds or no attempt is left. */
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

/** Yields the durable events of a thread or a run, from a cursor or from the current end. */
export const followLog = (
  connection: Connection,
  target: string,
  { cursor, signal }: { cursor?: string | undefined; signal?: AbortSignal | undefined },
): AsyncGenerator<CanonicalEvent, void> =>
  // The frames have the documented schema.
  follow(connection, { target, query: { cursor }, signal }, (id) => ({ cursor: id })) as AsyncGenerator<
    CanonicalEvent,
    void
  >;
