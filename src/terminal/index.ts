/** What people see who start the service in a terminal. */
import { paintFor } from './paint.ts';
import { openScreen } from './screen.ts';
import { type ShownLog, showLog } from './show-log.ts';

/** Of a terminal that does not say how wide it is. */
const COLUMNS = 80;

/**
 * Draws a log. `end` is for when nothing is logged any more.
 *
 * @param hidden messages that are told otherwise
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
