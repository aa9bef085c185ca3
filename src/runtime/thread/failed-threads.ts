import { monotonic } from '../../schema/clock.ts';
import type { RuntimeDeps } from '../deps.ts';
import { retryDelay } from '../run/dispatch-records.ts';
import type { Channel } from '../run/live-channel.ts';
import { finishOf } from '../run/outcome.ts';
import type { FailureHistory } from './state.ts';

/**
 * Keeps the threads whose actor failed with work left, until a new actor is created: by a request for the thread, or by
 * a retry after a delay that grows with every failure.
 *
 * Guarantees: readers of a released run are kept until the run continues, so that their stream ends with the run and
 * not before (runtime.md 10.4).
 * Cost: one entry for each of these threads.
 */

export type FailedThread = { past: FailureHistory | undefined; streams: ReadonlyMap<string, Channel> };

export type FailedThreads = {
  record(key: string, thread: Thread, past: FailureHistory): void;
  keepStream(key: string, thread: Thread, run_id: string, channel: Channel): void;
  get(key: string): FailedThread | undefined;
  /** A new actor serves the thread. */
  clear(key: string): void;
  /** The thread no longer exists at its place: ends the streams of its readers. */
  drop(key: string): void;
  /** Returns the threads whose delay is over; all of them when the store is known to work again. */
  dueForRetry(now: number, all: boolean): Thread[];
  /** The service stops: readers receive a terminal event, and their runs continue without them. */
  endStreams(reason: string): void;
};

type Thread = { scope: string; id: string };

/** `past` is missing while only streams of the thread are kept. */
type Entry = { thread: Thread; past: FailureHistory | undefined; due: number; streams: Map<string, Channel> };

export const createFailedThreads = ({
  clock,
  settings,
  store,
}: Pick<RuntimeDeps, 'clock' | 'settings' | 'store'>): FailedThreads => {
  const entries = new Map<string, Entry>();

  const dueAfter = (failures: number): number => monotonic(clock) + retryDelay(settings.mailbox, failures);

  const entryOf = (key: string, thread: Thread): Entry => {
    const entry = entries.get(key) ?? { thread, past: undefined, due: dueAfter(1), streams: new Map() };
    entries.set(key, entry);
    return entry;
  };

  return {
    record(key, thread, past) {
      const entry = entryOf(key, thread);
      // An actor fails once; the first failure is the reason.
      if (entry.past) return;
      entry.past = past;
      entry.due = dueAfter(past.failures);
    },
    keepStream: (key, thread, run_id, channel) => void entryOf(key, thread).streams.set(run_id, channel),
    get: (key) => entries.get(key),
    clear: (key) => void entries.delete(key),
    drop(key) {
      for (const channel of entries.get(key)?.streams.values() ?? []) channel.close();
      entries.delete(key);
    },
    dueForRetry: (now, all) =>
      Array.from(entries.values()).flatMap(({ thread, due }) => (all || due <= now ? [thread] : [])),
    endStreams(reason) {
      for (const { thread, streams } of entries.values()) {
        for (const [run_id, channel] of streams) {
          const run = store.runs.get(thread.scope, run_id);
          if (run) channel.emit(finishOf(run, { type: 'error', value: reason }));
          channel.close();
        }
        streams.clear();
      }
    },
  };
};
