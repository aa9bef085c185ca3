import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Json } from '../../schema/endpoint.ts';
import { RemoteFailure } from './failure.ts';
import { jsonIn, LARGEST_BYTES } from './responses.ts';

/**
 * Yields the events of a stream as JSON; comments only keep the connection alive. Every end before the task is settled
 * counts as a broken stream, including unreadable data: the reader then falls back to another request.
 * Cost: at most `LARGEST_BYTES` per event and `LARGEST_STREAM` per stream.
 */
const LARGEST_STREAM = 4 * LARGEST_BYTES;

/** @throws RemoteFailure */
export async function* readEvents({ body }: Response, onBytes: () => void): AsyncGenerator<Json> {
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => ready.push(event), maxBufferSize: LARGEST_BYTES });
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of body ?? []) {
    onBytes();
    bytes += chunk.byteLength;
    if (bytes > LARGEST_STREAM) throw new RemoteFailure('unreadable', 'the stream is too long');
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const event of ready.splice(0)) yield eventJson(event);
  }
  // The last event may lack its blank line.
  parser.feed('\n\n');
  for (const event of ready) yield eventJson(event);
}

const eventJson = ({ event, data }: EventSourceMessage): Json => {
  if (event === 'error') throw new RemoteFailure('refused', 'the stream ended with an error');
  return jsonIn(data, 'an event');
};
