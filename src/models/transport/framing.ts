import {
  createEventDecoder,
  type Decoded,
  type DecodedEnd,
  decode,
  decodeEnd,
  type EventSink,
} from './events.ts';

/** Reads the body of one stream, event by event. */
export type BodyReader = {
  /** @throws ModelError beyond a bound, and what the sink throws */
  read(chunk: Buffer, sink: EventSink): Decoded;
  /** The body has ended. */
  end(sink: EventSink): DecodedEnd;
  /** The bytes so far that are no event, after `unframed`. */
  unframed(): Buffer;
};

/** How a body is divided into events. */
export type Framing = () => BodyReader;

/** Server-sent events. */
export const EVENT_STREAM: Framing = () => {
  const decoder = createEventDecoder();
  return {
    read: (chunk, sink) => decode(decoder, chunk, sink),
    end: (sink) => decodeEnd(decoder, sink),
    unframed: () => decoder.unframed,
  };
};
