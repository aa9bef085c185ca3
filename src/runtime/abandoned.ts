import { monotonic } from '../schema/clock.ts';
import type { Channel } from './channel.ts';
import type { RuntimeDeps } from './deps.ts';
import { retryDelay } from './dispatch-records.ts';
import { finishOf } from './ending.ts';
import type { Past } from './thread.ts';

/**
 * Threads whose actor failed with work left, until another actor is made: by whoever asks for the thread, or when
 * they are taken up again after a delay that grows with every failure.
 *
 * Guarantees: readers of a run that was let go are kept until the run goes on, so that their stream ends with the
 * run and not before (runtime.md 10.4). Costs an entry for each of these threads.
 */

export type Left = { past: Past | undefined; streams: ReadonlyMap<string, Channel> };

export type Abandoned = {
  add(key: string, thread: Thread, past: Past): void;
  keep(key: string, thread: Thread, run_id: string, channel: Channel): void;
  of(key: string): Left | undefined;
  /** Another actor has it. */
  taken(key: string): void;
  /** Those whose delay is over; all of them when the store is known to work again. */
  due(now: number, all: boolean): Thread[];
  /** The service stops: readers are told that their runs go on without them. */
  endStreams(reason: string): void;
};

type Thread = { scope: string; id: string };

/** `past` is missing while only streams are known of the thread. */
type Entry = { thread: Thread; past: Past | undefined; due: number; streams: Map<string, Channel> };

export const createAbandoned = ({
  clock,
  settings,
  store,
}: Pick<RuntimeDeps, 'clock' | 'settings' | 'store'>): Abandoned => {
  const entries = new Map<string, Entry>();

  const dueAfter = (failures: number): number => monotonic(clock) + retryDelay(settings.mailbox, failures);

  const entryOf = (key: string, thread: Thread): Entry => {
    const entry = entries.get(key) ?? { thread, past: undefined, due: dueAfter(1), streams: new Map() };
    entries.set(key, entry);
    return entry;
  };

  return {
    add(key, thread, past) {
      const entry = entryOf(key, thread);
      // An actor fails once; what fails behind that is not another reason.
      if (entry.past) return;
      entry.past = past;
      entry.due = dueAfter(past.failures);
    },
    keep: (key, thread, run_id, channel) => void entryOf(key, thread).streams.set(run_id, channel),
    of: (key) => entries.get(key),
    taken: (key) => void entries.delete(key),
    due: (now, all) =>
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
