/**
 * Keeps a stream of the service open while the page is visible.
 *
 * A browser allows six connections to an origin for all its pages together, and a stream occupies one until it ends. A
 * hidden page therefore closes its streams after a few seconds, and a page that is opened hidden opens none; both
 * connect as soon as the page is visible. An interrupted stream reconnects after increasing pauses.
 */

/** Action after a stream has ended or failed. */
export type Next = 'after a pause' | 'at once' | 'nothing';

type Held = {
  /** Restarts the stream, even if it has ended. */
  again(): void;
  close(): void;
};

const PAUSES = [1000, 2000, 4000, 8000, 15_000, 30_000];

/** Delay before a hidden page closes its stream, so that a short look at another page interrupts nothing. */
const UNSEEN_MS = 3000;

export const isSeen = (): boolean => document.visibilityState === 'visible';

export const holdStream = (stream: {
  /**
   * Reads the stream from its last position.
   * @param answered called once the service has responded
   */
  read(signal: AbortSignal, answered: () => void): Promise<Next>;
  failed(error: unknown): Next;
  /** Until the stream reconnects, the page may miss events. */
  onCut(): void;
}): Held => {
  let connection: AbortController | undefined;
  let isOver = false;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const leave = (): void => {
    clearTimeout(timer);
    connection?.abort();
    connection = undefined;
  };

  const letGo = (): void => {
    leave();
    stream.onCut();
  };

  const begin = async (): Promise<void> => {
    leave();
    isOver = false;
    const attempt = new AbortController();
    connection = attempt;
    const answered = (): void => {
      failures = 0;
    };
    const next = await stream
      .read(attempt.signal, answered)
      .catch((error) => (attempt.signal.aborted ? 'nothing' : stream.failed(error)));
    if (attempt.signal.aborted) return;
    leave();
    goOn[next]();
  };

  const goOn: Record<Next, () => void> = {
    'at once': () => void begin(),
    'after a pause'() {
      stream.onCut();
      if (!isSeen()) return;
      timer = setTimeout(() => void begin(), PAUSES[Math.min(failures, PAUSES.length - 1)]);
      failures += 1;
    },
    nothing() {
      isOver = true;
    },
  };

  const onVisibility = (): void => {
    if (isOver) return;
    if (isSeen() && !connection) void begin();
    else {
      clearTimeout(timer);
      if (!isSeen()) timer = setTimeout(letGo, UNSEEN_MS);
    }
  };

  document.addEventListener('visibilitychange', onVisibility);
  if (isSeen()) void begin();
  else stream.onCut();
  return {
    again: () => void begin(),
    close() {
      document.removeEventListener('visibilitychange', onVisibility);
      leave();
    },
  };
};
