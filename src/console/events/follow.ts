import { framesOf } from '../../client/connection.ts';
import { RequestError, statusOf } from '../data/error.ts';
import { holdStream, type Next } from '../data/hold-stream.ts';
import { send, sendRaw } from '../data/request.ts';
import { addTo, createLog, cursorOf, EventPage, type Log, LogEvent, type LogScope } from './event.ts';

/**
 * Reads a log of events from its start, then follows it as it grows, for as long as somebody looks.
 *
 * Guarantees: no event is missed or told twice, whatever is cut; the connection is taken up again behind the last
 * event, and let go when the log is over. Listeners are told at most once a rendering, while the page is seen.
 */

export type FollowState =
  | { name: 'reading' }
  | { name: 'live' }
  /** For a while nothing is told, also because nobody sees the page. */
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

  const readStream = async (signal: AbortSignal, answered: () => void): Promise<void> => {
    const query = { cursor: lastCursor() };
    const response = await sendRaw({ path: `${path}/stream`, query, signal });
    answered();
    settle({ name: 'live' });
    for await (const { data } of framesOf(response)) {
      take([LogEvent(data, 'event')]);
      if (hasEnded) return;
    }
  };

  const read = async (signal: AbortSignal, answered: () => void): Promise<Next> => {
    await readPages(signal);
    if (!hasEnded) await readStream(signal, answered);
    if (!hasEnded) return 'after a pause';
    settle({ name: 'over' });
    return 'nothing';
  };

  const failed = (error: unknown): Next => {
    if (statusOf(error) === GONE) {
      log = createLog();
      wasReset = true;
      hasEnded = false;
      return 'at once';
    }
    if (!(error instanceof RequestError) || error.failure.kind === 'network') return 'after a pause';
    settle({ name: 'failed', error });
    return 'nothing';
  };

  const stream = holdStream({ read, failed, onCut: () => settle({ name: 'cut' }) });
  return {
    known: () => known,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    retry() {
      settle({ name: 'reading' });
      stream.again();
    },
    close: stream.close,
  };
};
