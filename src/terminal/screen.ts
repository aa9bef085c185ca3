import { constants, openSync, writeSync } from 'node:fs';
import { amount } from './text.ts';

/**
 * A terminal that is written to without waiting for it. Node's own streams wait for terminals: one that does not
 * read, such as a remote one that hangs or one that Ctrl-S holds, would hold the whole service.
 *
 * Guarantees: a write never blocks, where the terminal can be opened anew; what it does not take waits in a bounded
 * buffer and is tried again, and past the bound whole texts are left out, which a line says when it reads again.
 */

export type Screen = {
  /** A text of whole lines. */
  write(text: string): void;
  /** What waits is tried once more. */
  flush(): void;
};

const MOST_WAITING_BYTES = 64 * 1024;
const RETRY_MS = 100;

type State = {
  waiting: Buffer[];
  bytes: number;
  leftOut: number;
  timer: NodeJS.Timeout | undefined;
  isGone: boolean;
};

/** Writes what it can and says how much that was. @throws what a file descriptor does: EAGAIN when it takes nothing */
export type WriteSome = (bytes: Buffer) => number;

type Stream = { fd: number; isTTY?: boolean; write(text: string): unknown };

export const openScreen = (stream: Stream): Screen => {
  // A file that is opened anew is written from its beginning.
  const fd = stream.isTTY ? openAnew(stream.fd) : undefined;
  if (fd === undefined) return { write: (text) => stream.write(text), flush() {} };
  return createScreen((bytes) => writeSync(fd, bytes));
};

/** With flags of its own: those of the descriptor are shared with the shell and everything that it started. */
const openAnew = (fd: number): number | undefined => {
  const name = process.platform === 'linux' ? `/proc/self/fd/${fd}` : '/dev/tty';
  try {
    return openSync(name, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
};

export const createScreen = (writeSome: WriteSome): Screen => {
  const state: State = { waiting: [], bytes: 0, leftOut: 0, timer: undefined, isGone: false };
  return {
    write(text) {
      if (state.isGone) return;
      if (state.bytes > MOST_WAITING_BYTES || state.leftOut > 0) {
        state.leftOut += text.split('\n').length - 1;
        return;
      }
      const bytes = Buffer.from(text);
      state.waiting.push(bytes);
      state.bytes += bytes.length;
      if (state.timer === undefined) drain(state, writeSome);
    },
    flush: () => drain(state, writeSome),
  };
};

const drain = (state: State, writeSome: WriteSome): void => {
  clearTimeout(state.timer);
  state.timer = undefined;
  try {
    for (let [first] = state.waiting; first; [first] = state.waiting) {
      const written = writeSome(first);
      state.bytes -= written;
      if (written < first.length) state.waiting[0] = first.subarray(written);
      else state.waiting.shift();
      if (written === 0) {
        tryLater(state, writeSome);
        return;
      }
      if (state.waiting.length === 0) sayLeftOut(state);
    }
  } catch (error) {
    if (isFull(error)) tryLater(state, writeSome);
    else leave(state);
  }
};

const tryLater = (state: State, writeSome: WriteSome): void => {
  state.timer = setTimeout(drain, RETRY_MS, state, writeSome).unref();
};

const sayLeftOut = (state: State): void => {
  if (state.leftOut === 0) return;
  const bytes = Buffer.from(
    `… ${amount(state.leftOut)} lines are left out: the terminal did not take them\n`,
  );
  state.leftOut = 0;
  state.waiting.push(bytes);
  state.bytes += bytes.length;
};

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EWOULDBLOCK');

/** Its window was closed. */
const leave = (state: State): void => {
  state.isGone = true;
  state.waiting = [];
  state.bytes = 0;
};
