import type { z } from 'zod';
import type { FRAMES, Progress } from '../schema/eval-answers.ts';
import type { EvalItem, EvalRun } from '../schema/eval-run.ts';

/**
 * One reader of an eval run: what there is, then one event an item, then the end.
 *
 * Guarantees: whoever comes late, or was too slow for an item, gets what there is as a whole again, and nothing
 * waits in memory for them meanwhile.
 */

/** Where frames go; an event stream of `src/http` is one. Never blocks. */
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
  /** Nothing will come any more. */
  isOver: boolean;
};

const frame = <Name extends keyof typeof FRAMES>(event: Name, data: z.input<(typeof FRAMES)[Name]>): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

export const createRunReader = (stream: FrameSink, show: () => Shown) => {
  let isBehind = false;

  const tellAll = (): void => {
    const { run, progress, isOver } = show();
    isBehind = false;
    stream.write(frame('snapshot', { run, progress }));
    if (!isOver) return;
    stream.write(frame('end', { status: run.status ?? 'done', progress }));
    stream.end();
  };

  stream.onDrain(() => {
    if (isBehind) tellAll();
  });
  tellAll();

  return {
    item(item: EvalItem, progress: Progress): void {
      if (stream.stalled || isBehind) isBehind = true;
      else stream.write(frame('item', { item, progress }));
    },
    /** The service lets go of it, or it is over. */
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
