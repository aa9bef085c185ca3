import { framesOf } from '../../client/connection.ts';
import { RequestError, statusOf } from '../data/error.ts';
import { send, sendRaw } from '../data/request.ts';
import { addTo, createLog, cursorOf, EventPage, type Log, LogEvent, type LogScope } from './event.ts';

/**
 * Reads a log of events from its start, then follows it as it grows, for as long as somebody looks.
 *
 * Guarantees: no event is missed or told twice, whatever is cut; the connection is taken up again behind the last
 * event, after growing pauses; it is let go when the page has been hidden for a minute, and when the log is over.
 * Listeners are told at most once a rendering.
 */

export type FollowState =
  | { name: 'reading' }
  | { name: 'live' }
  | { name: 'cut' }
  /** Nothing more comes. */
  | { name: 'over' }
  | { name: 'failed'; error: unknown };

export type Followed = {
  events: readonly LogEvent[];
  state: FollowState;
  /** What was known was no longer kept by the service: it was read anew. */
  wasReset: boolean;
};

export type Follower = {
  known(): Followed;
  subscribe(listener: () => void): () => void;
  retry(): void;
  close(): void;
};

const PAUSES = [1000, 2000, 4000, 8000, 15_000, 30_000];
const HIDDEN_MS = 60_000;
const PAGE = 200;

/** The service does not keep the events before some time: a place in them can go. */
const GONE = 410;

export const followEvents = (options: {
  scope: LogScope;
  /** Such as `/v1/runs/…/events`. */
  path: string;
  /** Behind this event comes no other. */
  isLast?: (event: LogEvent) => boolean;
}): Follower => {
  const { scope, path, isLast = () => false } = options;
  const listeners = new Set<() => void>();
  let log: Log = createLog();
  let state: FollowState = { name: 'reading' };
  let wasReset = false;
  /** The last event was told. */
  let hasEnded = false;
  let known: Followed = { events: [], state, wasReset };
  let isDue = false;
  let failures = 0;
  let connection: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const changed = (): void => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      known = { events: [...log.events], state, wasReset };
      for (const listener of listeners) listener();
    });
  };

  const settle = (next: FollowState): void => {
    state = next;
    changed();
  };

  const take = (events: readonly LogEvent[]): void => {
    if (!addTo(log, events)) return;
    hasEnded ||= events.some(isLast);
    changed();
  };

  const lastCursor = (): string | undefined => {
    const last = log.events.at(-1);
    return last && cursorOf(last, scope);
  };

  const readPages = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const query = { limit: PAGE, cursor: lastCursor() };
      const page = await send({ path, query, signal }, EventPage);
      take(page.items);
      if (!page.has_more || page.items.length === 0) return;
    }
  };

  const read = async (signal: AbortSignal): Promise<void> => {
    await readPages(signal);
    if (hasEnded) return;
    const query = { cursor: lastCursor() };
    const response = await sendRaw({ path: `${path}/stream`, query, signal });
    failures = 0;
    settle({ name: 'live' });
    for await (const { data } of framesOf(response)) {
      take([LogEvent(data, 'event')]);
      if (hasEnded) return;
    }
  };

  const failed = (error: unknown): void => {
    if (statusOf(error) === GONE) {
      log = createLog();
      wasReset = true;
      hasEnded = false;
      void connect();
      return;
    }
    if (error instanceof RequestError && error.failure.kind !== 'network') settle({ name: 'failed', error });
    else later();
  };

  const later = (): void => {
    settle({ name: 'cut' });
    timer = setTimeout(() => void connect(), PAUSES[Math.min(failures, PAUSES.length - 1)]);
    failures += 1;
  };

  const connect = async (): Promise<void> => {
    const attempt = new AbortController();
    connection?.abort();
    connection = attempt;
    clearTimeout(timer);
    try {
      await read(attempt.signal);
      if (attempt.signal.aborted) return;
      if (hasEnded) {
        settle({ name: 'over' });
        attempt.abort();
      } else later();
    } catch (error) {
      if (!attempt.signal.aborted) failed(error);
    }
  };

  const leave = (): void => {
    clearTimeout(timer);
    connection?.abort();
    connection = undefined;
  };

  const onVisibility = (): void => {
    clearTimeout(timer);
    if (state.name === 'over' || state.name === 'failed') return;
    if (document.visibilityState === 'hidden') timer = setTimeout(leave, HIDDEN_MS);
    else if (!connection || state.name === 'cut') void connect();
  };

  document.addEventListener('visibilitychange', onVisibility);
  void connect();
  return {
    known: () => known,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    retry() {
      settle({ name: 'reading' });
      void connect();
    },
    close() {
      document.removeEventListener('visibilitychange', onVisibility);
      leave();
    },
  };
};
