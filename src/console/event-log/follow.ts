import { framesOf } from '../../client/connection.ts';
import { RequestError, statusOf } from '../data/error.ts';
import { holdStream, type Next } from '../data/hold-stream.ts';
import { createListeners } from '../data/listeners.ts';
import { send, sendRaw } from '../data/request.ts';
import { addTo, createLog, cursorOf, EventPage, type Log, LogEvent, type LogScope } from './event.ts';

/**
 * Reads a log of events from its start, then follows it as it grows.
 *
 * Guarantees: no event is missed or reported twice, whatever is interrupted; the stream resumes after the last event,
 * and is closed when the log has ended. Listeners are notified at most once per rendered frame, and only while the page
 * is visible.
 */

export type FollowState =
  | { name: 'reading' }
  | { name: 'live' }
  /** No events arrive, for example because the page is hidden. */
  | { name: 'cut' }
  /** The log has ended. */
  | { name: 'over' }
  | { name: 'failed'; error: unknown };

export type Followed = {
  events: readonly LogEvent[];
  state: FollowState;
  /** The service no longer kept the last known position, so the log was read again from the start. */
  wasReset: boolean;
};

export type Follower = {
  known(): Followed;
  subscribe(listener: () => void): () => void;
  retry(): void;
  close(): void;
};

const PAGE = 200;

/** The service deletes old events, so a position in the log may no longer exist. */
const GONE = 410;

const lastCursor = ({ events }: Log, scope: LogScope): string | undefined => {
  const last = events.at(-1);
  return last && cursorOf(last, scope);
};

export const followEvents = (options: {
  scope: LogScope;
  /** For example `/v1/runs/…/events`. */
  path: string;
  /** True for the last event of the log. */
  isLast?: (event: LogEvent) => boolean;
}): Follower => {
  const { scope, path, isLast = () => false } = options;
  let log: Log = createLog();
  let state: FollowState = { name: 'reading' };
  let wasReset = false;
  /** Set once the last event has been read. */
  let hasEnded = false;
  let known: Followed = { events: [], state, wasReset };
  const { changed, subscribe } = createListeners(requestAnimationFrame, () => {
    known = { events: [...log.events], state, wasReset };
  });

  const settle = (next: FollowState): void => {
    state = next;
    changed();
  };

  const take = (events: readonly LogEvent[]): void => {
    if (!addTo(log, events)) return;
    hasEnded ||= events.some(isLast);
    changed();
  };

  const readPages = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const query = { limit: PAGE, cursor: lastCursor(log, scope) };
      const page = await send({ path, query, signal }, EventPage);
      take(page.items);
      if (!page.has_more || page.items.length === 0) return;
    }
  };

  const readStream = async (signal: AbortSignal, answered: () => void): Promise<void> => {
    const query = { cursor: lastCursor(log, scope) };
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
    subscribe,
    retry() {
      settle({ name: 'reading' });
      stream.again();
    },
    close: stream.close,
  };
};
