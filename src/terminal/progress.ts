import { cut, harmless } from './text.ts';

/**
 * One line at the bottom of a terminal that tells how far a command is, and is gone when the command has ended.
 * Where nobody looks, nothing is written.
 */
export type Progress = {
  show(text: string): void;
  /** Before anything else is written, and at the end. */
  clear(): void;
};

const NONE: Progress = { show() {}, clear() {} };

/** More often nobody reads. */
const EVERY_MS = 100;

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>;

export const createProgress = (stream: Stream = process.stderr, now: () => number = Date.now): Progress => {
  if (!stream.isTTY || process.env.TERM === 'dumb') return NONE;
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    show(text) {
      if (now() - shownAt < EVERY_MS) return;
      shownAt = now();
      stream.write(`\r${cut(harmless(text), (stream.columns || 80) - 1)}\x1b[K`);
    },
    clear() {
      if (shownAt !== Number.NEGATIVE_INFINITY) stream.write('\r\x1b[K');
      shownAt = Number.NEGATIVE_INFINITY;
    },
  };
};

/** `████░░░░ 47 %` */
export const bar = (done: number, of: number): string => {
  const share = of <= 0 ? 1 : Math.min(1, done / of);
  const filled = Math.round(share * WIDTH);
  return `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${Math.floor(share * 100)} %`;
};

const WIDTH = 20;
