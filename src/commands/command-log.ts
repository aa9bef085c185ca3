import { createLog, type Log } from '../observability/log.ts';
import type { LogEvent } from '../schema/log-events.ts';
import type { Settings } from '../settings/index.ts';

/** The log of a command that serves: formatted on a terminal, JSON lines for any other output. */
export type CommandLog = {
  log: Log;
  /** True if standard output is the same terminal, so that log lines need not be repeated there. */
  isTold: boolean;
  /** Runs `replace` without logging the stop of the service that it replaces. */
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
  const hidden = new Set<string>(isTold ? [STARTED] : []);
  const shown = drawLog(stderr, hidden);
  process.once('exit', shown.end);
  const withoutStop: CommandLog['withoutStop'] = async (replace) => {
    hidden.add(STOPPED);
    await replace().finally(() => hidden.delete(STOPPED));
  };
  return { log: createLog({ level, destination: shown }), isTold, withoutStop };
};

const STARTED: LogEvent = 'service.started';
const STOPPED: LogEvent = 'service.stopped';
