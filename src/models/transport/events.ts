import { BOUNDS } from '../bounds.ts';
import { ModelError } from '../errors.ts';

/**
 * Decodes server-sent events: bytes in, events out.
 *
 * Guarantees: the events are the same however the bytes are split; no event is longer than `BOUNDS.frameBytes`, and no
 * answer than `BOUNDS.streamBytes`; a body that is JSON or a page, or becomes so behind events, is recognised by the
 * line that begins it. An event that the end of the body leaves without its blank line counts when its data is whole
 * JSON: some services leave out the last line break, and a body that was cut off must not count as an answer.
 * Costs: a search for each line break and one decoded text for each line of data. Bytes are copied only where a line
 * spans several chunks, so that a long event in small chunks costs no more than its length.
 */
export type EventDecoder = {
  /** Bytes of a line that has not ended. */
  kept: Buffer;
  keptBytes: number;
  name: string;
  /** Undefined before the first line of data of an event. */
  data: string | undefined;
  /** Bytes of the lines of the current event. */
  eventBytes: number;
  answerBytes: number;
  /** The next line is the first one, which a byte order mark may precede. */
  first: boolean;
  /** The last chunk ended with a carriage return; a line feed that follows belongs to it. */
  afterReturn: boolean;
  /** What is no event stream, from the line on that begins it. */
  unframed: Buffer;
};

/** Receives an event. Returns true when the answer is complete. */
export type EventSink = { event(name: string, data: string): boolean };

/** `unframed`: the rest is no event stream; `EventDecoder.unframed` holds the bytes so far. */
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

const NOTHING = Buffer.alloc(0);
const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/** @throws ModelError beyond a bound, and what the sink throws */
export const decode = (decoder: EventDecoder, chunk: Buffer, sink: EventSink): Decoded => {
  decoder.answerBytes += chunk.length;
  if (decoder.answerBytes > BOUNDS.streamBytes) throw tooLong('the answer', BOUNDS.streamBytes);
  let start = decoder.afterReturn && chunk[0] === LINE_FEED ? 1 : 0;
  if (chunk.length > 0) decoder.afterReturn = false;
  let feed = chunk.indexOf(LINE_FEED, start);
  let back = chunk.indexOf(RETURN, start);
  while (feed >= 0 || back >= 0) {
    const isFeed = back < 0 || (feed >= 0 && feed < back);
    const end = isFeed ? feed : back;
    const next = !isFeed && feed === back + 1 ? end + 2 : end + 1;
    const decoded = endLine(decoder, chunk, start, end, sink);
    if (decoded !== 'more') return decoded;
    start = next;
    if (!isFeed && next === chunk.length && next === end + 1) decoder.afterReturn = true;
    if (feed >= 0 && feed < start) feed = chunk.indexOf(LINE_FEED, start);
    if (back >= 0 && back < start) back = chunk.indexOf(RETURN, start);
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

/** The body has ended. */
export const decodeEnd = (decoder: EventDecoder, sink: EventSink): DecodedEnd => {
  if (decoder.keptBytes > 0) {
    const decoded = endLine(decoder, NOTHING, 0, 0, sink);
    if (decoded !== 'more') return decoded;
  }
  const { name, data } = decoder;
  // Whatever is no object, such as `[DONE]`, is not needed.
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

const tooLong = (subject: string, most: number): ModelError =>
  new ModelError('provider', `${subject} has more than ${most} bytes`, { final: true });

const tooLongEvent = (): ModelError => tooLong('an event of the answer', BOUNDS.frameBytes);

/** The line is what was kept, and `chunk` from `start` to `end`. */
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

/** A larger buffer is released when its line has ended. */
const LARGE_BYTES = 64 * 1024;

const keep = (decoder: EventDecoder, chunk: Buffer, start: number, end: number): void => {
  const bytes = decoder.keptBytes + end - start;
  if (bytes > decoder.kept.length) {
    const longer = Buffer.allocUnsafeSlow(Math.max(1024, 2 * bytes));
    decoder.kept.copy(longer, 0, 0, decoder.keptBytes);
    decoder.kept = longer;
  }
  chunk.copy(decoder.kept, decoder.keptBytes, start, end);
  decoder.keptBytes = bytes;
};

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

/** Where the value of a line with this field begins; -1 for another field. */
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
