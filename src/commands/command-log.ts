import type { Settings } from '../settings.ts';
import { createLog, type Log } from '../telemetry/log.ts';

/** The log of a command that serves: drawn for whoever sits at a terminal, lines of JSON for everything else. */
export type CommandLog = {
  log: Log;
  /** Standard output is that terminal too, so that what the log tells needs no second line there. */
  isTold: boolean;
  /** Runs this without drawing the end of a service, which another one replaces. */
  withoutStop(replace: () => Promise<void>): Promise<void>;
};

export const openCommandLog = async ({
  log_level: level,
  log_format: format,
}: Settings): Promise<CommandLog> => {
  const { stderr, stdout } = process;
  const isDrawn = format === 'pretty' || (format === 'auto' && stderr.isTTY === true);
  if (!isDrawn) return { log: createLog({ level }), isTold: false, withoutStop: (replace) => replace() };
  const { drawLog } = await import('../terminal/index.ts');
  const isTold = stderr.isTTY === true && stdout.isTTY === true;
  // The banner reports the start.
  const hidden = new Set(isTold ? ['started'] : []);
  const shown = drawLog(stderr, hidden);
  process.once('exit', shown.end);
  const withoutStop: CommandLog['withoutStop'] = async (replace) => {
    hidden.add(STOPPED);
    await replace().finally(() => hidden.delete(STOPPED));
  };
  return { log: createLog({ level, destination: shown }), isTold, withoutStop };
};

const STOPPED = 'stopped';
