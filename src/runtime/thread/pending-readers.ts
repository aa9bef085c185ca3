import type { RunRecord } from '../../schema/run-state.ts';
import { type Attach, type Channel, createChannel } from '../run/live-channel.ts';
import { startOf, syntheticFinish } from '../run/outcome.ts';

/** Readers of runs that do not execute yet, until the runs have a channel. */

export type Readers = {
  readonly waiting: Map<string, Attach[]>;
  /**
   * Channels of runs that an earlier actor of the thread has released: their readers already received a `run_start`.
   */
  readonly adopted: Map<string, Channel>;
};

export const createReaders = (): Readers => ({ waiting: new Map(), adopted: new Map() });

/** Adds a reader for a run that does not execute yet. */
export const attachTo = ({ waiting }: Readers, run_id: string, attach: Attach): void => {
  waiting.set(run_id, [...(waiting.get(run_id) ?? []), attach]);
};

/** Returns the channel of a run that starts or continues, with the readers that waited for it. */
export const takeChannel = (
  { waiting, adopted }: Readers,
  run_id: string,
): { channel: Channel; isAnnounced: boolean } => {
  const kept = adopted.get(run_id);
  const channel = kept ?? createChannel({ held: false });
  for (const attach of waiting.get(run_id) ?? []) attach(channel);
  waiting.delete(run_id);
  adopted.delete(run_id);
  return { channel, isAnnounced: kept !== undefined };
};

/** Whether a reader waits for a run that does not execute. */
export const isAwaited = ({ waiting, adopted }: Readers): boolean => waiting.size > 0 || adopted.size > 0;

/** Returns the runs that have waiting readers. */
export const awaitedRuns = ({ waiting, adopted }: Readers): string[] => [
  ...new Set([...waiting.keys(), ...adopted.keys()]),
];

/** Ends the streams of readers whose run became inactive without being executed here. */
export const endReaders = (readers: Readers, run: RunRecord): void => {
  if (!readers.waiting.has(run.run_id) && !readers.adopted.has(run.run_id)) return;
  const { channel, isAnnounced } = takeChannel(readers, run.run_id);
  if (!isAnnounced) channel.emit(startOf(run));
  channel.emit(syntheticFinish(run));
  channel.close();
};

/** Creates the channel for a request that starts a run: it emits nothing before the input is durable. */
export const createBufferedChannel = (attach: Attach | undefined): Channel => {
  const channel = createChannel({ held: true });
  attach?.(channel);
  return channel;
};
