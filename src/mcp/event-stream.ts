import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import { BOUNDS } from './bounds.ts';
import { protocolFailure } from './failure.ts';
import { chunksOf, tooLong } from './http-request.ts';

/**
 * Server-sent events of an MCP server (mcp.md B4). An event may have one line of any length up to the message limit;
 * longer ones are rejected.
 */
export type SseEvent = { id: string | undefined; data: string };

/** The position at which a broken stream can be resumed. */
export type Cursor = {
  /** Undefined while no event has had an id, or after the server reset it. */
  lastEventId: string | undefined;
  /** Delay before the next attempt in milliseconds, as requested by the server. */
  retryMs: number | undefined;
};

export const startCursor = (): Cursor => ({ lastEventId: undefined, retryMs: undefined });

const LONGEST_RETRY_MS = 30_000;

/** @throws McpFailure */
export async function* readEvents(
  response: IncomingMessage,
  cursor: Cursor,
  pace: { signal: AbortSignal; idleMs: number },
): AsyncGenerator<SseEvent> {
  const decoder = new StringDecoder('utf8');
  let events: SseEvent[] = [];
  let problem: Error | undefined;
  const parser = createParser({
    onEvent({ id, data, event = 'message' }) {
      if (id !== undefined) cursor.lastEventId = id === '' ? undefined : id;
      if (data !== '' && event === 'message') events.push({ id, data });
    },
    onRetry(ms) {
      if (ms > LONGEST_RETRY_MS) problem = protocolFailure(`a retry of ${ms} ms is too long`);
      else cursor.retryMs = ms;
    },
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded') problem = tooLong();
    },
    maxBufferSize: BOUNDS.messageBytes,
  });
  for await (const chunk of chunksOf(response, pace)) {
    parser.feed(decoder.write(chunk));
    yield* events;
    events = [];
    if (problem) throw problem;
  }
}
