import type { Reader } from '../runtime/channel.ts';
import { type Clock, monotonic } from '../schema/clock.ts';
import { createRetained, type Delta, framed, type Single } from './replay-retained.ts';

/**
 * The frames of a thread's current stream, for clients that come back to it (runtime.md 14, chat-and-agui.md 6).
 *
 * Guarantees: a reader gets the retained frames after its position and then the live ones, with no gap and nothing
 * twice; positions of a thread strictly increase, also from one run to the next; nothing of an active run is lost.
 * Past the capacity neighbouring deltas of one block become one frame, the oldest first, which keeps where each of
 * them ended, so that a reader whose position lies between them gets the rest. Only neighbours: a delta that moved
 * past another frame would be lost for whoever left off at that one. So the bound holds for deltas, and frames
 * that are none may exceed it. A stream may go on with what its client has from an earlier one; what that was is
 * recalled for newcomers, who come without a position, and passed over for everybody else.
 * The stream of a thread is the last one that was opened and has a frame: who comes before that frame follows the
 * stream before it, since until then its run may not be accepted.
 * Relies on its owner to close it when the stream ends, and on `sweep` for owners that are gone.
 * Costs one push a frame; past the capacity also a join of two frames; and one write for each reader.
 */

export type ReplayBuffer = {
  /** One whole frame without an `id:` line, such as `data: …\n\n`. */
  append(frame: string, delta?: Delta): void;
  /** Neighbouring frames for newcomers: what the client that the stream is for has from before. */
  recall(frames: readonly string[]): void;
  /** Not for newcomers. As {@link ReplayBuffers.attach}, for the readers of this very stream, whatever the thread does next. */
  attach(after: number | undefined, reader: Reader): () => void;
  /** Ends every reader. */
  close(): void;
};

export type ReplayBuffers = {
  /**
   * The stream that can be followed on the thread from its first frame on; `active`: is its run active? Positions of
   * a thread that has none in this process begin above `floor`.
   */
  open(scope: string, thread_id: string, active: () => boolean, floor?: number): ReplayBuffer;
  /**
   * Gives the reader every retained frame after the position, or all of them, then the live ones. Returns what
   * takes the reader off again; undefined when the thread has no stream.
   */
  attach(
    scope: string,
    thread_id: string,
    after: number | undefined,
    reader: Reader,
  ): (() => void) | undefined;
  /** As `attach`, from the beginning, for who knows that the stream opened last is its own, whether it has a frame or not. */
  join(scope: string, thread_id: string, reader: Reader): (() => void) | undefined;
  /** Closes the buffers of which nothing has been heard for long and whose run is over. */
  sweep(now: number): void;
};

export type ReplayBufferOptions = { capacity: number; idleMs: number; clock: Clock };

/** So many threads without a stream keep their last position; those before them go on above all of these. */
const KNOWN_THREADS = 10_000;

export const createReplayBuffers = ({ capacity, idleMs, clock }: ReplayBufferOptions): ReplayBuffers => {
  const current = new Map<string, Buffered>();
  /** The last one of each thread, until it has a frame. */
  const opening = new Map<string, Buffered>();
  const resting = new Map<string, Positions>();
  let forgotten = 0;
  let opened = 0;

  const rest = (key: string, positions: Positions): void => {
    resting.set(key, positions);
    if (resting.size <= KNOWN_THREADS) return;
    for (const [oldest, { last }] of resting) {
      forgotten = Math.max(forgotten, last);
      resting.delete(oldest);
      return;
    }
  };

  /** Its first frame comes. One that joined a run late does not take the place of a stream that came after it. */
  const begin = (key: string, buffer: Buffered, floor: number): Positions => {
    const other = current.get(key);
    const positions = other?.positions() ?? resting.get(key) ?? { last: Math.max(forgotten, floor) };
    resting.delete(key);
    if (opening.get(key) === buffer) opening.delete(key);
    if (!other || other.order < buffer.order) current.set(key, buffer);
    return positions;
  };

  const close = (key: string, buffer: Buffered): void => {
    buffer.close();
    if (opening.get(key) === buffer) opening.delete(key);
    if (current.get(key) !== buffer) return;
    current.delete(key);
    rest(key, buffer.positions());
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

/** Shared by the streams of a thread, which may overlap for a moment when one displaces the other. */
type Positions = { last: number };

type Buffered = ReplayBuffer & {
  /** Among the streams of the process. */
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
  let begun: Positions | undefined;
  let closed = false;
  let lastActivity = monotonic(clock);

  const positions = (): Positions => {
    begun ??= begin();
    return begun;
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
