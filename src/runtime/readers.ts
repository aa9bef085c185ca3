import type { Run } from '../schema/run.ts';
import { type Attach, type Channel, createChannel } from './channel.ts';
import { restOf, startOf } from './ending.ts';

/** Readers of runs that do not execute yet, until they have a channel. */

export type Readers = {
  readonly waiting: Map<string, Attach[]>;
  /** Channels of runs that another actor of the thread has let go of: their readers had a `run_start` already. */
  readonly adopted: Map<string, Channel>;
};

export const createReaders = (): Readers => ({ waiting: new Map(), adopted: new Map() });

/** A reader for a run that does not execute yet. */
export const attachTo = ({ waiting }: Readers, run_id: string, attach: Attach): void => {
  waiting.set(run_id, [...(waiting.get(run_id) ?? []), attach]);
};

/** The channel of a run that begins or goes on, with the readers that waited for it. */
export const channelOf = (
  { waiting, adopted }: Readers,
  run_id: string,
): { channel: Channel; isHeard: boolean } => {
  const kept = adopted.get(run_id);
  const channel = kept ?? createChannel({ held: false });
  for (const attach of waiting.get(run_id) ?? []) attach(channel);
  waiting.delete(run_id);
  adopted.delete(run_id);
  return { channel, isHeard: kept !== undefined };
};

/** Does somebody wait to read a run that does not execute? */
export const isAwaited = ({ waiting, adopted }: Readers): boolean => waiting.size > 0 || adopted.size > 0;

/** The runs that somebody waits for. */
export const unread = ({ waiting, adopted }: Readers): string[] => [
  ...new Set([...waiting.keys(), ...adopted.keys()]),
];

/** The run has come to rest without being executed here: its readers are told. */
export const dismiss = (readers: Readers, run: Run): void => {
  if (!readers.waiting.has(run.run_id) && !readers.adopted.has(run.run_id)) return;
  const { channel, isHeard } = channelOf(readers, run.run_id);
  if (!isHeard) channel.emit(startOf(run));
  channel.emit(restOf(run));
  channel.close();
};

/** For a request that starts a run: nothing leaves before its input is durable. */
export const heldChannel = (attach: Attach | undefined): Channel => {
  const channel = createChannel({ held: true });
  attach?.(channel);
  return channel;
};
