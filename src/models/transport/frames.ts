import { EventStreamCodec } from '@smithy/eventstream-codec';
import { BOUNDS } from '../bounds.ts';
import { interrupted } from '../classify.ts';
import { type BodyBytes, countChunk, keep, NOTHING, tooLongEvent } from './body-bytes.ts';
import type { Decoded, DecodedEnd, EventSink } from './events.ts';
import type { BodyReader, Framing } from './framing.ts';

/**
 * Decodes frames of `application/vnd.amazon.eventstream` from bytes.
 *
 * Guarantees: the events do not depend on how the bytes are split; no frame exceeds `BOUNDS.frameBytes`, and no stream
 * exceeds `BOUNDS.streamBytes`; both checksums of a frame are verified. The name of an event is its type; an exception
 * is named `exception:` and its type, and an error of the stream `error`.
 * Cost: a copy of the bytes of a frame that spans several chunks, and no copy otherwise.
 */
export const AMAZON_FRAMES: Framing = () => {
  const reader: FrameReader = {
    kept: NOTHING,
    keptBytes: 0,
    answerBytes: 0,
    position: 0,
    seen: false,
    unframed: NOTHING,
  };
  return {
    read: (chunk, sink) => read(reader, chunk, sink),
    end: () => end(reader),
    unframed: () => reader.unframed,
  } satisfies BodyReader;
};

type FrameReader = BodyBytes & {
  /** The position of the next byte in the current chunk. */
  position: number;
  /** The body starts with a frame. */
  seen: boolean;
  unframed: Buffer;
};

/** Two lengths, their checksum, and the checksum of the frame. */
const LEAST_BYTES = 16;
const LENGTH_BYTES = 4;

const read = (reader: FrameReader, chunk: Buffer, sink: EventSink): Decoded => {
  countChunk(reader, chunk);
  if (!consistsOfFrames(reader, chunk)) {
    reader.unframed = chunk;
    return 'unframed';
  }
  reader.position = 0;
  while (reader.position < chunk.length) {
    const frame = reader.keptBytes > 0 ? completeKept(reader, chunk) : nextFrame(reader, chunk);
    if (!frame) return 'more';
    if (takeFrame(frame, sink)) return 'complete';
  }
  return 'more';
};

/** The length of every accepted frame begins with a zero byte, and no text does. */
const consistsOfFrames = (reader: FrameReader, chunk: Buffer): boolean => {
  if (!reader.seen && chunk.length > 0) reader.seen = chunk[0] === 0;
  return reader.seen || chunk.length === 0;
};

/** Keeps the rest of the chunk if the frame does not end in it. */
const nextFrame = (reader: FrameReader, chunk: Buffer): Buffer | undefined => {
  const { position } = reader;
  const left = chunk.length - position;
  const length = left < LENGTH_BYTES ? Number.POSITIVE_INFINITY : lengthAt(chunk, position);
  if (length > left) {
    keepUntil(reader, chunk, chunk.length);
    return undefined;
  }
  reader.position = position + length;
  return chunk.subarray(position, reader.position);
};

/** Appends the missing bytes of the kept frame. Returns the frame if it is then complete. */
const completeKept = (reader: FrameReader, chunk: Buffer): Buffer | undefined => {
  if (reader.keptBytes < LENGTH_BYTES) {
    keepUntil(reader, chunk, reader.position + LENGTH_BYTES - reader.keptBytes);
    if (reader.keptBytes < LENGTH_BYTES) return undefined;
  }
  const length = lengthAt(reader.kept, 0);
  keepUntil(reader, chunk, reader.position + length - reader.keptBytes);
  if (reader.keptBytes < length) return undefined;
  const frame = reader.kept.subarray(0, length);
  reader.keptBytes = 0;
  reader.kept = NOTHING;
  return frame;
};

const keepUntil = (reader: FrameReader, chunk: Buffer, position: number): void => {
  const end = Math.min(chunk.length, position);
  keep(reader, chunk, reader.position, end);
  reader.position = end;
};

/** @throws ModelError for an impossible length */
const lengthAt = (bytes: Buffer, start: number): number => {
  const length = bytes.readUInt32BE(start);
  if (length > BOUNDS.frameBytes) throw tooLongEvent();
  if (length < LEAST_BYTES)
    throw interrupted('connection reset', new Error('a frame has an impossible length'));
  return length;
};

const UTF8 = new TextDecoder();
const CODEC = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : UTF8.decode(bytes)),
  (text) => Buffer.from(text),
);

/** Returns whether the completion has ended. */
const takeFrame = (frame: Buffer, sink: EventSink): boolean => {
  const { headers, body } = decoded(frame);
  const text = (name: string): string => {
    const value = headers[name]?.value;
    return typeof value === 'string' ? value : '';
  };
  switch (text(':message-type')) {
    case 'event':
      return sink.event(text(':event-type'), UTF8.decode(body));
    case 'exception':
      return sink.event(`exception:${text(':exception-type')}`, UTF8.decode(body));
    case 'error':
      return sink.event(
        'error',
        JSON.stringify({ message: text(':error-message') || text(':error-code'), code: text(':error-code') }),
      );
    default:
      return false;
  }
};

const decoded = (frame: Buffer): ReturnType<EventStreamCodec['decode']> => {
  try {
    return CODEC.decode(frame);
  } catch (error) {
    // Bytes were lost or changed in transit.
    throw interrupted('connection reset', error);
  }
};

const end = ({ keptBytes }: FrameReader): DecodedEnd => (keptBytes > 0 ? 'cut' : 'more');
