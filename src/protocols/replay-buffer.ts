import type { Reader } from '../runtime/run/live-channel.ts';
import { type Clock, monotonic } from '../schema/clock.ts';
import { createRetained, type Delta, framed, type Single } from './replay-retained.ts';

/**
 * The frames of a thread's current stream, for clients that reconnect (runtime.md 14, chat-and-agui.md 6).
 *
 * Guarantees: a reader receives the retained frames after its position and then the live ones, without gaps or
 * duplicates. Positions of a thread strictly increase, also across runs. No frame of an active run is lost.
 * Beyond the capacity, adjacent deltas of one block are joined into one frame, the oldest first. The frame keeps the
 * end of each delta, so that a reader with a position in between receives the rest. Only adjacent deltas are joined: a
 * delta that moved past another frame would be lost for readers that stopped at that frame. So the limit holds for
 * deltas, and other frames may exceed it.
 * A stream may continue the content that its client has from an earlier one. That content is recalled for new readers
 * without a position, and skipped for all others.
 * The stream of a thread is the last opened one that has a frame. Readers that arrive before this frame follow the
 * previous stream, because the new run may not be accepted yet.
 * Relies on its owner to close it when the stream ends, and on `sweep` for lost owners.
 * Cost: one push per frame, beyond the capacity also a join of two frames, and one write per reader.
 */

export type ReplayBuffer = {
  /** Appends one complete frame without an `id:` line, such as `data: …\n\n`. */
  append(frame: string, delta?: Delta): void;
  /** Appends frames for new readers only: the earlier content that the client of the stream already has. */
  recall(frames: readonly string[]): void;
  /**
   * Attaches a reader that is not a new one. Works as {@link ReplayBuffers.attach}, but for this stream, whichever
   * stream the thread has later.
   */
  attach(after: number | undefined, reader: Reader): () => void;
  /** Ends all readers. */
  close(): void;
};

export type ReplayBuffers = {
  /**
   * Opens a stream, which can be followed from its first frame on. `active` returns whether its run is active. For a
   * thread without positions in this process, positions begin above `floor`.
   */
  open(scope: string, thread_id: string, active: () => boolean, floor?: number): ReplayBuffer;
  /**
   * Passes the reader all retained frames after the position, or all frames, and then the live ones. Returns a function
   * that detaches the reader, or undefined if the thread has no stream.
   */
  attach(
    scope: string,
    thread_id: string,
    after: number | undefined,
    reader: Reader,
  ): (() => void) | undefined;
  /**
   * Attaches from the beginning to the last opened stream, even if it has no frame yet. The caller must know that this
   * stream is its own.
   */
  join(scope: string, thread_id: string, reader: Reader): (() => void) | undefined;
  /** Closes buffers without recent activity whose run is over. */
  sweep(now: number): void;
};

export type ReplayBufferOptions = { capacity: number; idleMs: number; clock: Clock };

/**
 * Number of threads without a stream whose last position is kept; earlier ones continue above all evicted positions.
 */
const KNOWN_THREADS = 10_000;

export const createReplayBuffers = ({ capacity, idleMs, clock }: ReplayBufferOptions): ReplayBuffers => {
  const current = new Map<string, Buffered>();
  /** The last opened stream of each thread, until it has a frame. */
  const opening = new Map<string, Buffered>();
  const closedPositions = new Map<string, Positions>();
  let forgotten = 0;
  let opened = 0;

  const keepPositions = (key: string, positions: Positions): void => {
    closedPositions.set(key, positions);
    if (closedPositions.size <= KNOWN_THREADS) return;
    for (const [oldest, { last }] of closedPositions) {
      forgotten = Math.max(forgotten, last);
      closedPositions.delete(oldest);
      return;
    }
  };

  /** Handles the first frame. A buffer that joined a run late does not replace a stream that was opened after it. */
  const begin = (key: string, buffer: Buffered, floor: number): Positions => {
    const other = current.get(key);
    const positions = other?.positions() ?? closedPositions.get(key) ?? { last: Math.max(forgotten, floor) };
    closedPositions.delete(key);
    if (opening.get(key) === buffer) opening.delete(key);
    if (!other || other.order < buffer.order) current.set(key, buffer);
    return positions;
  };

  const close = (key: string, buffer: Buffered): void => {
    buffer.close();
    if (opening.get(key) === buffer) opening.delete(key);
    if (current.get(key) !== buffer) return;
    current.delete(key);
    keepPositions(key, buffer.positions());
  };

  return {
    open(scope, thread_id, active, floor = 0) {
      const key = keyOf(scope, thread_id);
      opened += 1;
      const buffer = createBuffer({
        capacity,
        clock,
        active,
        order: opened,
        begin: () => begin(key, buffer, floor),
      });
      opening.set(key, buffer);
      const { append, recall } = buffer;
      const attach: ReplayBuffer['attach'] = (after, reader) => buffer.attach(after ?? 0, reader);
      return { append, recall, attach, close: () => close(key, buffer) };
    },
    attach: (scope, thread_id, after, reader) => current.get(keyOf(scope, thread_id))?.attach(after, reader),
    join(scope, thread_id, reader) {
      const key = keyOf(scope, thread_id);
      return (opening.get(key) ?? current.get(key))?.attach(undefined, reader);
    },
    sweep(now) {
      for (const held of [opening, current]) {
        for (const [key, buffer] of held) {
          if (now - buffer.lastActivity() >= idleMs && !buffer.active()) close(key, buffer);
        }
      }
    },
  };
};

const keyOf = (scope: string, thread_id: string): string => `${scope}\0${thread_id}`;

/** Shared by the streams of a thread, which may briefly overlap when one replaces the other. */
type Positions = { last: number };

type Buffered = ReplayBuffer & {
  /** Order of opening among the streams of the process. */
  readonly order: number;
  positions(): Positions;
  active(): boolean;
  lastActivity(): number;
};

type BufferInput = Pick<Buffered, 'order' | 'active'> & {
  capacity: number;
  clock: Clock;
  begin(): Positions;
};

const createBuffer = ({ capacity, clock, order, active, begin }: BufferInput): Buffered => {
  const readers = new Set<Reader>();
  const newcomers = new Set<Reader>();
  const retained = createRetained(capacity);
  let cached: Positions | undefined;
  let closed = false;
  let lastActivity = monotonic(clock);

  const positions = (): Positions => {
    cached ??= begin();
    return cached;
  };

  const add = (to: ReadonlySet<Reader>, frame: string, more: Pick<Single, 'delta' | 'recalled'>): void => {
    const place = positions();
    place.last += 1;
    const position = place.last;
    lastActivity = monotonic(clock);
    retained.push({ last: position, frame, ...more });
    if (to.size === 0) return;
    const text = framed(position, frame);
    for (const reader of to) reader.write(text, 1);
  };

  return {
    order,
    positions,
    active,
    lastActivity: () => lastActivity,
    append(frame, delta) {
      if (!closed) add(readers, frame, { delta });
    },
    recall(frames) {
      if (closed) return;
      const recalled = positions().last + 1;
      for (const frame of frames) add(newcomers, frame, { delta: undefined, recalled });
    },
    attach(after, reader) {
      const frames = retained.after(after);
      if (frames.length > 0) reader.write(frames.join(''), frames.length);
      if (closed) reader.end();
      else readers.add(reader);
      if (after === undefined && !closed) newcomers.add(reader);
      return () => {
        readers.delete(reader);
        newcomers.delete(reader);
      };
    },
    close() {
      closed = true;
      retained.clear();
      for (const reader of readers) reader.end();
      readers.clear();
      newcomers.clear();
    },
  };
};
