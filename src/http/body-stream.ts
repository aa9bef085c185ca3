import { Invalid } from '../schema/outcome.ts';
import { type Exchange, setDisconnectListener } from './exchange.ts';

/**
 * A request body that the handler reads as it arrives.
 *
 * Guarantees: while the handler does not read, the connection is paused, so a body of any length occupies about
 * `MOST_QUEUED` bytes and one chunk. Reading ends with an error when the client disconnects before the end.
 * Relies on the handler to read the stream to its end or to leave the loop over it: either resumes the connection, so
 * that the client can receive the response. The handler limits the length of the body.
 */
export type BodyStream = {
  /** The `Content-Type` of the request; empty without one. */
  readonly contentType: string;
  /** The declared length; undefined for a body of unknown length. */
  readonly length: number | undefined;
  /** May be read once. @throws Invalid when the client disconnects */
  chunks(): AsyncGenerator<Uint8Array, void>;
  /** Discards the rest. Idempotent. */
  discard(): void;
};

/** The connection is paused when more bytes than these are waiting to be read. */
export const MOST_QUEUED = 256 * 1024;

/** Called in the callback of the request, because uWebSockets.js offers the body only then. */
export const openBodyStream = (
  exchange: Exchange,
  { contentType, contentLength }: { contentType: string; contentLength: number | undefined },
): BodyStream => {
  const queue: Queue = { chunks: [], bytes: 0, isPaused: false, end: undefined, wake: undefined };
  exchange.res.onData((chunk, isLast) => {
    if (queue.end !== undefined || exchange.done) return;
    // The chunk is valid only during this callback.
    if (chunk.byteLength > 0) queue.chunks.push(new Uint8Array(chunk.slice(0)));
    queue.bytes += chunk.byteLength;
    if (isLast) queue.end = 'complete';
    else if (queue.bytes > MOST_QUEUED && !queue.isPaused) {
      queue.isPaused = true;
      exchange.res.pause();
    }
    queue.wake?.();
  });
  const discard = (): void => {
    queue.end ??= 'discarded';
    queue.chunks = [];
    resume(queue, exchange);
  };
  return {
    contentType,
    length: contentLength,
    discard,
    async *chunks() {
      setDisconnectListener(exchange, () => {
        queue.end ??= 'lost';
        queue.wake?.();
      });
      try {
        for (;;) {
          const chunk = queue.chunks.shift();
          if (chunk) {
            queue.bytes -= chunk.byteLength;
            yield chunk;
          } else if (queue.end === 'complete') return;
          else if (queue.end !== undefined) throw ENDED_EARLY;
          else {
            resume(queue, exchange);
            await new Promise<void>((resolve) => {
              queue.wake = resolve;
            });
          }
        }
      } finally {
        discard();
      }
    },
  };
};

type Queue = {
  chunks: Uint8Array[];
  bytes: number;
  isPaused: boolean;
  end: 'complete' | 'lost' | 'discarded' | undefined;
  wake: (() => void) | undefined;
};

const resume = (queue: Queue, { res, done }: Exchange): void => {
  if (!queue.isPaused) return;
  queue.isPaused = false;
  if (!done) res.resume();
};

const ENDED_EARLY = new Invalid('the client has disconnected before the end of the request body');
