import { EventStreamCodec } from '@smithy/eventstream-codec';
import { BOUNDS } from '../bounds.ts';
import { interrupted } from '../classify.ts';
import { ModelError } from '../errors.ts';
import type { Decoded, DecodedEnd, EventSink } from './events.ts';
import type { BodyReader, Framing } from './framing.ts';

/**
 * Reads frames of `application/vnd.amazon.eventstream`: bytes in, events out.
 *
 * Guarantees: the events are the same however the bytes are split; no frame is longer than `BOUNDS.frameBytes`, and no
 * answer than `BOUNDS.streamBytes`; both checksums of a frame are checked. The name of an event is its type; an
 * exception is named `exception:` and its type, and an error of the stream `error`.
 * Costs: a copy of the bytes of a frame that spans several chunks, and none of one that does not.
 */
export const AMAZON_FRAMES: Framing = () => {
  const reader: FrameReader = { kept: NOTHING, keptBytes: 0, answerBytes: 0, seen: false, unframed: NOTHING };
  return {
    read: (chunk, sink) => read(reader, chunk, sink),
    end: () => end(reader),
    unframed: () => reader.unframed,
  } satisfies BodyReader;
};

type FrameReader = {
  /** Bytes of a frame that has not ended. */
  kept: Buffer;
  keptBytes: number;
  answerBytes: number;
  /** The body begins with a frame. */
  seen: boolean;
  unframed: Buffer;
};

const NOTHING = Buffer.alloc(0);
/** Two lengths, their checksum, and that of the frame. */
const LEAST_BYTES = 16;
const LENGTH_BYTES = 4;

const read = (reader: FrameReader, chunk: Buffer, sink: EventSink): Decoded => {
  reader.answerBytes += chunk.length;
  if (reader.answerBytes > BOUNDS.streamBytes) throw tooLong('the answer', BOUNDS.streamBytes);
  if (!reader.seen && chunk.length > 0) {
    // The length of every frame that is read begins with a zero byte, and no text does.
    if (chunk[0] !== 0) {
      reader.unframed = chunk;
      return 'unframed';
    }
    reader.seen = true;
  }
  let start = 0;
  while (start < chunk.length) {
    if (reader.keptBytes > 0) {
      start = completeKept(reader, chunk, start);
      const { kept, keptBytes } = reader;
      if (keptBytes < LENGTH_BYTES || keptBytes < lengthAt(kept, 0)) return 'more';
      reader.keptBytes = 0;
      reader.kept = NOTHING;
      if (takeFrame(kept.subarray(0, keptBytes), sink)) return 'complete';
      continue;
    }
    const left = chunk.length - start;
    const length = left < LENGTH_BYTES ? Number.POSITIVE_INFINITY : lengthAt(chunk, start);
    if (length > left) {
      keep(reader, chunk, start, chunk.length);
      return 'more';
    }
    if (takeFrame(chunk.subarray(start, start + length), sink)) return 'complete';
    start += length;
  }
  return 'more';
};

/** Appends what the kept frame lacks. Returns where the next bytes are. */
const completeKept = (reader: FrameReader, chunk: Buffer, start: number): number => {
  let at = start;
  if (reader.keptBytes < LENGTH_BYTES) {
    const end = Math.min(chunk.length, at + LENGTH_BYTES - reader.keptBytes);
    keep(reader, chunk, at, end);
    at = end;
    if (reader.keptBytes < LENGTH_BYTES) return at;
  }
  const end = Math.min(chunk.length, at + lengthAt(reader.kept, 0) - reader.keptBytes);
  keep(reader, chunk, at, end);
  return end;
};

const keep = (reader: FrameReader, chunk: Buffer, start: number, end: number): void => {
  const bytes = reader.keptBytes + end - start;
  if (bytes > reader.kept.length) {
    const longer = Buffer.allocUnsafeSlow(Math.max(1024, 2 * bytes));
    reader.kept.copy(longer, 0, 0, reader.keptBytes);
    reader.kept = longer;
  }
  chunk.copy(reader.kept, reader.keptBytes, start, end);
  reader.keptBytes = bytes;
};

/** @throws ModelError for a length that no frame has */
const lengthAt = (bytes: Buffer, start: number): number => {
  const length = bytes.readUInt32BE(start);
  if (length > BOUNDS.frameBytes) throw tooLong('an event of the answer', BOUNDS.frameBytes);
  if (length < LEAST_BYTES)
    throw interrupted('connection reset', new Error('a frame has an impossible length'));
  return length;
};

const tooLong = (subject: string, most: number): ModelError =>
  new ModelError('provider', `${subject} has more than ${most} bytes`, { final: true });

const UTF8 = new TextDecoder();
const CODEC = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : UTF8.decode(bytes)),
  (text) => Buffer.from(text),
);

/** Returns whether the answer is complete. */
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
    // Bytes were lost or changed on the way.
    throw interrupted('connection reset', error);
  }
};

const end = ({ keptBytes }: FrameReader): DecodedEnd => (keptBytes > 0 ? 'cut' : 'more');
