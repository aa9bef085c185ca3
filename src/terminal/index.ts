/** Terminal output of the commands that start the service. */
import { paintFor } from './paint.ts';
import { openScreen } from './screen.ts';
import { type ShownLog, showLog } from './show-log.ts';

/** Width of a terminal that does not report one. */
const COLUMNS = 80;

/**
 * Draws a log. Call `end` after the last line.
 *
 * @param hidden events that the command reports in another way
 */
export const drawLog = (
  stream: NodeJS.WriteStream & { fd: number },
  hidden?: ReadonlySet<string>,
): ShownLog => {
  const screen = openScreen(stream);
  const paint = paintFor(stream);
  const shown = showLog({
    screen,
    page: () => ({ paint, columns: stream.columns || COLUMNS }),
    clock: { now: Date.now },
    later: (act, ms) => {
      const timer = setTimeout(act, ms).unref();
      return () => clearTimeout(timer);
    },
    ...(hidden && { hidden }),
  });
  return {
    write: shown.write,
    end() {
      shown.end();
      screen.flush();
    },
  };
};
