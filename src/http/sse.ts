import { cutOff, type Exchange, endStream, onWritable, startStream, writeStream } from './exchange.ts';

/**
 * Event streams (runtime.md 6.1): whole SSE frames as text, from a room to one client.
 *
 * Guarantees: what is written in one turn of the event loop leaves in one write; frames keep their order; nothing
 * blocks. While the socket takes data nothing is counted. Once it does not, frames are held, and past the bound of
 * the server the client is cut off, or, with `onOverflow`, the held frames are dropped and the owner reads them
 * again from its store when `onDrain` tells it to.
 * Relies on owners to write whole frames, and to stop after `onClose`; later writes are ignored.
 * Costs one string concatenation a frame, one write a turn, and less than 1 KiB for a stream that is idle.
 * uWebSockets.js itself closes a connection that has taken nothing at all for ten seconds.
 */
export type EventStream = {
  /** Complete SSE frames as text; `frames` says how many. Never blocks. */
  write(chunk: string, frames?: number): void;
  /** Flushes what is pending, then ends the body. The stream counts as closed at once. */
  end(): void;
  /** The client has gone, was cut off, or the stream has ended. Called exactly once, also if already closed. */
  onClose(listener: () => void): void;
  /** The socket takes data again. */
  onDrain(listener: () => void): void;
  readonly closed: boolean;
  readonly stalled: boolean;
};

export type EventStreamOptions = {
  /** Response headers besides those of every event stream. */
  headers?: Record<string, string>;
  /**
   * Called once each time the held frames pass the bound. They are dropped, and writes ignored until `onDrain`.
   * Dropped is exactly what was written while `stalled` was true; everything before has left.
   */
  onOverflow?: () => void;
};

/** What the server that a stream is bound to knows of it. */
export type StreamHub = {
  readonly maxHeldFrames: number;
  /** Counts up with time; a stream remembers when it had its last output. */
  readonly beat: number;
  opened(stream: Stream): void;
  closed(stream: Stream): void;
};

const brand = Symbol('event stream');

/** An event stream as the server sees it. */
export type Stream = { -readonly [Key in keyof EventStream]: EventStream[Key] } & {
  readonly [brand]: true;
  readonly options: EventStreamOptions;
  pending: string;
  pendingFrames: number;
  /** Waits for the flush at the end of this turn. */
  dirty: boolean;
  /** Held frames were dropped; the owner will read them again. */
  overflowed: boolean;
  lastBeat: number;
  /** Undefined before the stream is bound and after its client has gone. */
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

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
};

/** A head leaves only together with some of the body; an empty comment is the least that there is. */
const EMPTY_COMMENT = ':\n\n';

const HEARTBEAT = ': heartbeat\n\n';

/** Makes a stream the answer of an exchange. What was written before leaves in one write with the head. */
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

/** One `setImmediate` for all streams of the process that were written to in this turn. */
const flushAtEndOfTurn = (stream: Stream): void => {
  if (stream.dirty) return;
  stream.dirty = true;
  if (dirtyStreams.push(stream) === 1) setImmediate(flushStreams);
};

/** Writes out what this turn has brought so far. */
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

/** The client has gone or was cut off. */
const lost = (stream: Stream): void => {
  stream.exchange = undefined;
  takePending(stream);
  stream.hub?.closed(stream);
  if (!stream.closed) markClosed(stream);
};

const takePending = (stream: Stream): string => {
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
