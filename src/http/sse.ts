import type { Reading } from '../schema/reader.ts';
import { cutOff, type Exchange, endStream, onWritable, startStream, writeStream } from './exchange.ts';

/**
 * Event streams (runtime.md 6.1): complete SSE frames as text, from their owner to one client.
 *
 * Guarantees: everything written in one event-loop tick is sent in one write, frames keep their order, and nothing
 * blocks. While the socket accepts data, nothing is counted. Once it does not, frames are held. Beyond the bound of the
 * server, the client is disconnected, or, with `onOverflow`, the held frames are dropped and the owner reads them again
 * from its store after `onDrain`.
 * Relies on owners to write complete frames, and to stop after `onClose`; later writes are ignored.
 * Cost: one string concatenation per frame, one write per tick, and less than 1 KiB per idle stream.
 * uWebSockets.js itself closes a connection that has taken no data for ten seconds.
 */
export type EventStream = {
  /** Writes complete SSE frames as text; `frames` is their number. Never blocks. */
  write(chunk: string, frames?: number): void;
  /** Flushes pending frames, then ends the body. The stream counts as closed at once. */
  end(): void;
  /**
   * Called exactly once, when the client has disconnected or was cut off, or the stream has ended; immediately if
   * closed.
   */
  onClose(listener: () => void): void;
  /** Called when the socket accepts data again. */
  onDrain(listener: () => void): void;
  readonly closed: boolean;
  /** Whether the client has disconnected or was cut off. */
  readonly lost: boolean;
  readonly stalled: boolean;
};

export type EventStreamOptions = {
  /** Response headers in addition to those of every event stream. */
  headers?: Record<string, string>;
  /**
   * Called each time the held frames exceed the bound. They are dropped, and writes are ignored until `onDrain`.
   * Exactly the frames written while `stalled` was true are dropped; all earlier ones have been sent.
   */
  onOverflow?: () => void;
  /** The thread that the stream reads. Without it, the stream needs no more than its route. */
  reading?: Reading;
};

/** The state that a server shares with its streams. */
export type StreamHub = {
  readonly maxHeldFrames: number;
  /** Counter of heartbeat periods; a stream records its value at the last output. */
  readonly beat: number;
  opened(stream: Stream): void;
  closed(stream: Stream): void;
};

const brand = Symbol('event stream');

/** The internal state of an event stream. */
export type Stream = { -readonly [Key in keyof EventStream]: EventStream[Key] } & {
  readonly [brand]: true;
  options: EventStreamOptions;
  pending: string;
  pendingFrames: number;
  /** Whether the stream is scheduled for the flush at the end of this tick. */
  dirty: boolean;
  /** Whether held frames were dropped, which the owner will read again. */
  overflowed: boolean;
  lastBeat: number;
  /** Undefined before the stream is bound and after its client has disconnected. */
  exchange: Exchange | undefined;
  hub: StreamHub | undefined;
  closeListener: (() => void) | undefined;
  drainListener: (() => void) | undefined;
};

export const createEventStream = (options: EventStreamOptions = NO_OPTIONS): EventStream => {
  const stream: Stream = {
    [brand]: true,
    options,
    closed: false,
    lost: false,
    stalled: false,
    pending: '',
    pendingFrames: 0,
    dirty: false,
    overflowed: false,
    lastBeat: 0,
    exchange: undefined,
    hub: undefined,
    closeListener: undefined,
    drainListener: undefined,
    write: (chunk, frames = 1) => hold(stream, chunk, frames),
    end() {
      if (stream.closed) return;
      markClosed(stream);
      if (stream.exchange) flushAtEndOfTurn(stream);
    },
    onClose(listener) {
      if (stream.closed) listener();
      else stream.closeListener = both(stream.closeListener, listener);
    },
    onDrain(listener) {
      stream.drainListener = both(stream.drainListener, listener);
    },
  };
  return stream;
};

const NO_OPTIONS: EventStreamOptions = {};

export const isEventStream = (value: unknown): value is Stream =>
  typeof value === 'object' && value !== null && brand in value;

/** Adds headers to the response of a stream that is not bound yet. */
export const addHeaders = (stream: Stream, headers: Readonly<Record<string, string>>): void => {
  stream.options = { ...stream.options, headers: { ...stream.options.headers, ...headers } };
};

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
};

/** A head is sent only with part of the body, and an empty comment is the shortest body. */
const EMPTY_COMMENT = ':\n\n';

const HEARTBEAT = ': heartbeat\n\n';

/** Makes a stream the response of an exchange. Earlier writes are sent together with the head. */
export const bindStream = (stream: Stream, exchange: Exchange, hub: StreamHub): void => {
  const ended = stream.closed;
  const headers = stream.options.headers ? { ...HEADERS, ...stream.options.headers } : HEADERS;
  const taken = startStream(exchange, headers, takePending(stream) || (ended ? '' : EMPTY_COMMENT), ended);
  if (ended) return;
  if (exchange.done) {
    markClosed(stream);
    return;
  }
  stream.exchange = exchange;
  stream.hub = hub;
  stream.stalled = !taken;
  stream.lastBeat = hub.beat;
  exchange.onGone = () => lost(stream);
  onWritable(exchange, () => drained(stream));
  hub.opened(stream);
};

/** Keeps the connection of an idle stream alive; a stalled socket is not idle. */
export const sendHeartbeat = (stream: Stream): void => {
  if (!stream.stalled && !stream.dirty && stream.exchange) push(stream, stream.exchange, HEARTBEAT);
};

const hold = (stream: Stream, chunk: string, frames: number): void => {
  if (stream.closed || stream.overflowed) return;
  stream.pending += chunk;
  stream.pendingFrames += frames;
  if (!stream.hub) return;
  if (!stream.stalled) flushAtEndOfTurn(stream);
  else if (stream.pendingFrames > stream.hub.maxHeldFrames) overflow(stream);
};

const overflow = (stream: Stream): void => {
  const { onOverflow } = stream.options;
  if (onOverflow) {
    takePending(stream);
    stream.overflowed = true;
    onOverflow();
  } else if (stream.exchange) {
    cutOff(stream.exchange);
  }
};

let dirtyStreams: Stream[] = [];

/** Schedules one `setImmediate` for all streams of the process that were written to in this tick. */
const flushAtEndOfTurn = (stream: Stream): void => {
  if (stream.dirty) return;
  stream.dirty = true;
  if (dirtyStreams.push(stream) === 1) setImmediate(flushStreams);
};

/** Writes the pending frames of this tick. */
export const flushStreams = (): void => {
  const batch = dirtyStreams;
  dirtyStreams = [];
  for (const stream of batch) flush(stream);
};

const flush = (stream: Stream): void => {
  stream.dirty = false;
  const { exchange } = stream;
  if (!exchange) return;
  if (stream.closed) {
    stream.exchange = undefined;
    stream.hub?.closed(stream);
    endStream(exchange, takePending(stream));
  } else if (!stream.stalled && stream.pending !== '') {
    push(stream, exchange, takePending(stream));
  }
};

const push = (stream: Stream, exchange: Exchange, text: string): void => {
  stream.lastBeat = stream.hub?.beat ?? 0;
  stream.stalled = !writeStream(exchange, text);
};

const drained = (stream: Stream): void => {
  if (!stream.stalled || !stream.exchange) return;
  stream.stalled = false;
  stream.overflowed = false;
  // uWebSockets.js sends the rest of a write that the socket did not take together with the next write only.
  push(stream, stream.exchange, takePending(stream) || EMPTY_COMMENT);
  if (!stream.stalled && !stream.closed) stream.drainListener?.();
};

/** Handles a client that has disconnected or was cut off. */
const lost = (stream: Stream): void => {
  stream.exchange = undefined;
  takePending(stream);
  stream.hub?.closed(stream);
  stream.lost = true;
  if (!stream.closed) markClosed(stream);
};

export const takePending = (stream: Stream): string => {
  const text = stream.pending;
  stream.pending = '';
  stream.pendingFrames = 0;
  return text;
};

const markClosed = (stream: Stream): void => {
  stream.closed = true;
  const listener = stream.closeListener;
  stream.closeListener = undefined;
  listener?.();
};

const both = (first: (() => void) | undefined, second: () => void): (() => void) =>
  first
    ? () => {
        first();
        second();
      }
    : second;
