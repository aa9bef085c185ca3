import { constants, openSync, writeSync } from 'node:fs';
import { amount } from './text.ts';

/**
 * Writes to a terminal without blocking. Node's own streams write to terminals synchronously: a terminal that does not
 * read, such as a hanging remote one or one stopped with Ctrl-S, would block the whole service.
 *
 * Guarantees: a write never blocks, provided that the terminal can be reopened; pending text is kept in a bounded
 * buffer and retried, and texts beyond the bound are dropped, which a line reports once the terminal reads again.
 */

export type Screen = {
  /** Writes complete lines. */
  write(text: string): void;
  /** Retries the pending text once. */
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

/**
 * Writes as much as possible and returns the number of bytes. @throws errors of the file descriptor: EAGAIN when it
 * accepts nothing
 */
export type WriteSome = (bytes: Buffer) => number;

type Stream = { fd: number; isTTY?: boolean; write(text: string): unknown };

export const openScreen = (stream: Stream): Screen => {
  // Reopening a file would overwrite it from the start.
  const fd = stream.isTTY ? reopen(stream.fd) : undefined;
  if (fd === undefined) return { write: (text) => stream.write(text), flush() {} };
  return createScreen((bytes) => writeSync(fd, bytes));
};

/**
 * Opens a new file description, because the flags of the existing one are shared with the shell and its other programs.
 */
const reopen = (fd: number): number | undefined => {
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
    `… ${amount(state.leftOut)} lines are left out: the terminal did not accept them\n`,
  );
  state.leftOut = 0;
  state.waiting.push(bytes);
  state.bytes += bytes.length;
};

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EWOULDBLOCK');

/** The window of the terminal was closed. */
const leave = (state: State): void => {
  state.isGone = true;
  state.waiting = [];
  state.bytes = 0;
};
