import type { z } from 'zod';
import type { FRAMES, Progress } from '../schema/eval-answers.ts';
import type { EvalItem, EvalRun } from '../schema/eval-run.ts';

/**
 * Streams an eval run to one reader: a snapshot, then one event per item, then the end.
 *
 * Guarantees: a late reader, or one that was too slow for an item, receives a complete snapshot again; no items are
 * queued in memory for it.
 */

/** Receives frames; an event stream of `src/http` is one. Never blocks. */
export type FrameSink = {
  write(frame: string): void;
  end(): void;
  onDrain(listener: () => void): void;
  onClose(listener: () => void): void;
  readonly stalled: boolean;
};

export type Shown = {
  run: EvalRun;
  progress: Progress;
  /** True if no more events will follow. */
  isOver: boolean;
};

const frame = <Name extends keyof typeof FRAMES>(event: Name, data: z.input<(typeof FRAMES)[Name]>): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

export const createRunReader = (stream: FrameSink, show: () => Shown) => {
  let isBehind = false;

  const writeSnapshot = (): void => {
    const { run, progress, isOver } = show();
    isBehind = false;
    stream.write(frame('snapshot', { run, progress }));
    if (!isOver) return;
    stream.write(frame('end', { status: run.status ?? 'done', progress }));
    stream.end();
  };

  stream.onDrain(() => {
    if (isBehind) writeSnapshot();
  });
  writeSnapshot();

  return {
    item(item: EvalItem, progress: Progress): void {
      if (stream.stalled || isBehind) isBehind = true;
      else stream.write(frame('item', { item, progress }));
    },
    /** The run has ended, or the service has released it. */
    ended({ status, progress }: z.input<typeof FRAMES.end>): void {
      if (stream.stalled || isBehind) {
        isBehind = true;
        return;
      }
      stream.write(frame('end', { status, progress }));
      stream.end();
    },
  };
};
