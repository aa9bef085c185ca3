import { z } from 'zod';
import type { LoggedEvent } from '../schema/canonical-event.ts';
import { Invalid } from '../schema/outcome.ts';
import { asInteger } from '../schema/paging.ts';

/**
 * Positions in the replay of a thread in one protocol (chat-and-agui.md 7): an event of the log and one of its frames.
 * A cursor contains its protocol and the end of the event id, so that cursors of other protocols, other threads or
 * deleted events are detected. It is never all digits, because those are positions in a live stream.
 */

export type ReplayCursor = { protocol: string; seq: number; index: number; tail: string };

const CURSOR = /^prcur_([a-z0-9]+)_([1-9]\d{0,14})_(0|[1-9]\d{0,8})_([\w-]{1,12})$/;

const tailOf = (event: Pick<LoggedEvent, 'event_id'>): string => event.event_id.slice(-12);

/** @param protocol lowercase letters and digits */
export const replayCursor = (
  protocol: string,
  { seq, event }: { seq: number; event: Pick<LoggedEvent, 'event_id'> },
  index: number,
): string => `prcur_${protocol}_${seq}_${index}_${tailOf(event)}`;

/** @throws Invalid */
export const parseReplayCursor = (text: string): ReplayCursor => {
  if (text.trim() === '') throw new Invalid('cursor cannot be empty');
  const [, protocol, seq, index, tail] = CURSOR.exec(text) ?? [];
  if (protocol === undefined || tail === undefined) throw new Invalid('cursor must be a replay cursor');
  return { protocol, seq: Number(seq), index: Number(index), tail };
};

export const isAt = (cursor: ReplayCursor, row: { seq: number; event: LoggedEvent }): boolean =>
  cursor.seq === row.seq && cursor.tail === tailOf(row.event);

/** Frames per page: clamped to 1..500, 100 if absent. */
export const ReplayLimit = z
  .string()
  .regex(/^\d{1,15}$/, 'expected a non-negative integer')
  .transform((text) => Math.min(500, Math.max(1, Number(text))))
  .optional()
  .transform((limit) => limit ?? 100)
  .meta({ description: 'page size in frames, clamped to 1..500', ...asInteger({ default: 100 }) });

/** Interprets a `Last-Event-ID`: a position in the live stream, or a cursor of the durable replay. */
export const resumePoint = (
  lastEventId: string | undefined,
): { after: number | undefined } | { cursor: string } => {
  if (lastEventId === undefined || lastEventId === '') return { after: undefined };
  return /^\d+$/.test(lastEventId) ? { after: Number(lastEventId) } : { cursor: lastEventId };
};
