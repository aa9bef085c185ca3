import { BOUNDS } from '../bounds.ts';
import { type BodyBytes, countChunk, keep, NOTHING, tooLongEvent } from './body-bytes.ts';

/**
 * Decodes server-sent events from bytes.
 *
 * Guarantees: the events do not depend on how the bytes are split; no event exceeds `BOUNDS.frameBytes`, and no stream
 * exceeds `BOUNDS.streamBytes`; a body that is JSON or a page, or turns into one after some events, is recognized by
 * its first such line. If the body ends without the blank line of its last event, that event counts if its data is
 * complete JSON: some services omit the last line break, and a truncated body must not count as a completion.
 * Cost: a search for each line break and one decoded text per data line. Bytes are copied only if a line spans several
 * chunks, and the cost of a long event in small chunks stays proportional to its length.
 */
export type EventDecoder = BodyBytes & {
  name: string;
  /** Undefined before the first data line of an event. */
  data: string | undefined;
  /** Bytes of the lines of the current event. */
  eventBytes: number;
  /** The next line is the first one, which may have a byte order mark. */
  first: boolean;
  /** The last chunk ended with a carriage return, so a line feed at the start of the next one belongs to it. */
  afterReturn: boolean;
  /** The bytes from the first line that is not part of an event stream. */
  unframed: Buffer;
};

/** Receives an event. Returns true when the completion has ended. */
export type EventSink = { event(name: string, data: string): boolean };

/** `unframed`: the rest is not an event stream; `EventDecoder.unframed` holds the bytes so far. */
export type Decoded = 'more' | 'complete' | 'unframed';

/** `cut`: the body ended in the middle of an event. */
export type DecodedEnd = Decoded | 'cut';

export const createEventDecoder = (): EventDecoder => ({
  kept: NOTHING,
  keptBytes: 0,
  name: '',
  data: undefined,
  eventBytes: 0,
  answerBytes: 0,
  first: true,
  afterReturn: false,
  unframed: NOTHING,
});

const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/** @throws ModelError beyond a limit, and any error that the sink throws */
export const decode = (decoder: EventDecoder, chunk: Buffer, sink: EventSink): Decoded => {
  countChunk(decoder, chunk);
  let start = decoder.afterReturn && chunk[0] === LINE_FEED ? 1 : 0;
  if (chunk.length > 0) decoder.afterReturn = false;
  let feed = positionOf(LINE_FEED, chunk, start);
  let back = positionOf(RETURN, chunk, start);
  for (let end = Math.min(feed, back); end < chunk.length; end = Math.min(feed, back)) {
    const decoded = endLine(decoder, chunk, start, end, sink);
    if (decoded !== 'more') return decoded;
    start = nextLine(decoder, chunk, end);
    if (feed < start) feed = positionOf(LINE_FEED, chunk, start);
    if (back < start) back = positionOf(RETURN, chunk, start);
  }
  if (start === chunk.length) return 'more';
  if (decoder.keptBytes === 0 && isUnframed(decoder, chunk, start, chunk.length)) {
    decoder.unframed = chunk.subarray(start);
    return 'unframed';
  }
  keep(decoder, chunk, start, chunk.length);
  if (decoder.eventBytes + decoder.keptBytes > BOUNDS.frameBytes) throw tooLongEvent();
  return 'more';
};

/** The length of the chunk if the byte does not occur. */
const positionOf = (byte: number, chunk: Buffer, start: number): number => {
  const position = chunk.indexOf(byte, start);
  return position < 0 ? chunk.length : position;
};

/** The start of the line after a line break at `end`. */
const nextLine = (decoder: EventDecoder, chunk: Buffer, end: number): number => {
  const next = end + 1;
  if (chunk[end] === LINE_FEED) return next;
  if (next === chunk.length) decoder.afterReturn = true;
  return chunk[next] === LINE_FEED ? next + 1 : next;
};

/** Called at the end of the body. */
export const decodeEnd = (decoder: EventDecoder, sink: EventSink): DecodedEnd => {
  if (decoder.keptBytes > 0) {
    const decoded = endLine(decoder, NOTHING, 0, 0, sink);
    if (decoded !== 'more') return decoded;
  }
  const { name, data } = decoder;
  // Data that is not an object, such as `[DONE]`, is not needed.
  if (data?.startsWith('{') !== true) return 'more';
  if (!isWholeJson(data)) return 'cut';
  return sink.event(name, data) ? 'complete' : 'more';
};

const isWholeJson = (data: string): boolean => {
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
};

/** The line consists of the kept bytes and `chunk` from `start` to `end`. */
const endLine = (
  decoder: EventDecoder,
  chunk: Buffer,
  start: number,
  end: number,
  sink: EventSink,
): Decoded => {
  if (decoder.keptBytes === 0) {
    const decoded = takeLine(decoder, chunk, start, end, sink);
    if (decoded === 'unframed') decoder.unframed = chunk.subarray(start);
    return decoded;
  }
  keep(decoder, chunk, start, end);
  const { kept, keptBytes } = decoder;
  decoder.keptBytes = 0;
  if (kept.length > LARGE_BYTES) decoder.kept = NOTHING;
  const decoded = takeLine(decoder, kept, 0, keptBytes, sink);
  if (decoded === 'unframed') {
    decoder.unframed = Buffer.concat([kept.subarray(0, keptBytes), chunk.subarray(end)]);
  }
  return decoded;
};

/** A larger buffer is released at the end of its line. */
const LARGE_BYTES = 64 * 1024;

const takeLine = (
  decoder: EventDecoder,
  bytes: Buffer,
  from: number,
  end: number,
  sink: EventSink,
): Decoded => {
  const start = decoder.first && hasMark(bytes, from, end) ? from + 3 : from;
  decoder.first = false;
  if (start === end) return endEvent(decoder, sink);
  const value = valueStart(bytes, start, end, DATA);
  if (value >= 0) {
    const text = bytes.toString('utf8', value, end);
    decoder.data = decoder.data === undefined ? text : `${decoder.data}\n${text}`;
    decoder.eventBytes += end - start;
    if (decoder.eventBytes > BOUNDS.frameBytes) throw tooLongEvent();
    return 'more';
  }
  const named = valueStart(bytes, start, end, EVENT);
  if (named >= 0) {
    decoder.name = bytes.toString('utf8', named, end);
    return 'more';
  }
  return isUnframed(decoder, bytes, start, end) ? 'unframed' : 'more';
};

const endEvent = (decoder: EventDecoder, sink: EventSink): Decoded => {
  const { name, data } = decoder;
  decoder.name = '';
  decoder.data = undefined;
  decoder.eventBytes = 0;
  return data !== undefined && sink.event(name, data) ? 'complete' : 'more';
};

const DATA = Buffer.from('data');
const EVENT = Buffer.from('event');
const COLON = 0x3a;
const SPACE = 0x20;

/** The start of the value of a line with this field; -1 for another field. */
const valueStart = (bytes: Buffer, start: number, end: number, field: Buffer): number => {
  const { length } = field;
  if (end - start < length) return -1;
  for (let index = 0; index < length; index += 1) {
    if (bytes[start + index] !== field[index]) return -1;
  }
  const colon = start + length;
  if (colon === end) return end;
  if (bytes[colon] !== COLON) return -1;
  return colon + 1 < end && bytes[colon + 1] === SPACE ? colon + 2 : colon + 1;
};

const hasMark = (bytes: Buffer, start: number, end: number): boolean =>
  end - start >= 3 && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf;

const BRACE = 0x7b;
const BRACKET = 0x5b;
const ANGLE = 0x3c;
const BLANKS: ReadonlySet<number | undefined> = new Set([SPACE, 0x09, 0xef, 0xbb, 0xbf]);

/** No line of an event stream begins with `{`, and none before the fields of an event with `[` or `<`. */
const isUnframed = ({ data }: EventDecoder, bytes: Buffer, from: number, end: number): boolean => {
  let start = from;
  while (start < end && BLANKS.has(bytes[start])) start += 1;
  const byte = start < end ? bytes[start] : undefined;
  return byte === BRACE || (data === undefined && (byte === BRACKET || byte === ANGLE));
};
