import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import { BOUNDS } from './bounds.ts';
import { protocolFailure } from './failure.ts';
import { chunksOf, tooLong } from './http-request.ts';

/**
 * Server-sent events of an MCP server (mcp.md B4). An event may have one line of any length up to the bound of a
 * message; what does not end is given up there.
 */
export type SseEvent = { id: string | undefined; data: string };

/** What has to be known to go on where a stream broke. */
export type Cursor = {
  /** Undefined while no event had an id, or when the server took it back. */
  lastEventId: string | undefined;
  /** milliseconds that the server wants to have passed before the next try */
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
