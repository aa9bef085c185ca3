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
  /** @throws ModelError beyond a limit, and any error that the sink throws */
  read(chunk: Buffer, sink: EventSink): Decoded;
  /** Called at the end of the body. */
  end(sink: EventSink): DecodedEnd;
  /** The bytes so far that are not events, after `unframed`. */
  unframed(): Buffer;
};

/** Divides a body into events. */
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
