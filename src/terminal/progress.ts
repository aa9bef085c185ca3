import { cut, harmless } from './text.ts';

/**
 * The progress of a command as one line at the bottom of a terminal, removed when the command ends. Without a terminal,
 * nothing is written.
 */
export type Progress = {
  show(text: string): void;
  /** Call before any other output, and at the end. */
  clear(): void;
};

const NONE: Progress = { show() {}, clear() {} };

/** Minimum interval between updates. */
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
