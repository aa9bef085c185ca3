import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Json } from '../../schema/endpoint.ts';
import { RemoteFailure } from './failure.ts';
import { jsonIn, LARGEST_BYTES } from './responses.ts';

/**
 * The events of a stream, as JSON. Comments keep it alive and are no events. Everything that ends it before the task
 * is settled is a stream that broke, also what cannot be understood: whoever reads it asks in another way then.
 * Costs at most `LARGEST_BYTES` for one event, and no more than `LARGEST_STREAM` are read in all.
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
  // Whoever forgets the blank line at the end has said something all the same.
  parser.feed('\n\n');
  for (const event of ready) yield eventJson(event);
}

const eventJson = ({ event, data }: EventSourceMessage): Json => {
  if (event === 'error') throw new RemoteFailure('refused', 'the stream ended with an error');
  return jsonIn(data, 'an event');
};
