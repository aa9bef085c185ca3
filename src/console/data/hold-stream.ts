/**
 * Holds a stream of the service for as long as somebody sees the page.
 *
 * A browser has six connections to a service, for all its pages together, and a stream takes one of them until it ends.
 * So a page that is not seen lets its streams go after a few seconds, and opens none when it is opened unseen; it takes
 * them up as soon as it is seen. A stream that breaks is taken up again after growing pauses.
 */

/** What follows an end or a failure. */
export type Next = 'after a pause' | 'at once' | 'nothing';

type Held = {
  /** Begins anew, also where nothing would follow. */
  again(): void;
  close(): void;
};

const PAUSES = [1000, 2000, 4000, 8000, 15_000, 30_000];

/** Whoever only glances at another page finds this one as it was. */
const UNSEEN_MS = 3000;

export const isSeen = (): boolean => document.visibilityState === 'visible';

export const holdStream = (stream: {
  /**
   * Reads all that comes, behind what it has read before.
   * @param answered to be called once the service has begun
   */
  read(signal: AbortSignal, answered: () => void): Promise<Next>;
  failed(error: unknown): Next;
  /** Until more comes, things may happen that the page is not told. */
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
