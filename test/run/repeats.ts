import { type Ended, type RunOptions, runFiles } from './processes.ts';
import { type Report, reasonOf } from './report.ts';

/**
 * Files that may run again. A test that fails because the machine was busy fails alone; a fault of the code is there the
 * second time too, because random choices have the same seed.
 */
const MAX_REPEATED = 5;

const fails = (end: Ended): boolean => !end.ok || reasonOf(end) !== undefined;

/**
 * Runs the files of each queue in one process. If at most 5 fail, each runs once more after all others, alone on the
 * machine, and its second result counts; the first failure is printed and the file is reported as unstable.
 */
export const runWithRepeats = async (
  queues: string[][],
  options: RunOptions,
  report: Pick<Report, 'ended' | 'repeating'>,
): Promise<void> => {
  const failed: Ended[] = [];
  const ended = (end: Ended): void => {
    if (fails(end)) failed.push(end);
    else report.ended(end);
  };
  await Promise.all(queues.map((queue) => runFiles(queue, options, ended)));
  if (failed.length > MAX_REPEATED) for (const end of failed) report.ended(end);
  else if (failed.length > 0) {
    await report.repeating(failed);
    await runFiles(
      failed.map(({ file }) => file),
      options,
      (end) => report.ended(end),
    );
  }
};
