import { isRewound, type Message } from '../../schema/message.ts';

/**
 * Compacted ranges of a history (runtime.md 4.1): a summary is an internal system message with the range of sequence
 * numbers that it replaces. The model sees the summary in place of the range.
 *
 * Guarantees: the widest range wins, and the latest among equally wide ones; ranges that overlap a winner are ignored,
 * and messages that only they cover stay raw; all other summaries are hidden; a history without summaries is not
 * copied.
 * Relies on: a complete history, oldest first; the sequence number of a message is its position, from 1.
 * Costs: one pass, and a sort of the few summaries.
 */

export type Summary = { from_seq: number; to_seq: number; message: Message };

/** The effective summaries, in order and without overlap. */
export const findSummaries = (history: readonly Message[]): readonly Summary[] => {
  const found = history.flatMap((message, index) => {
    const range = rangeOf(message);
    // A summary is written after the messages that it covers.
    const holds = range && range.from_seq >= 1 && range.from_seq <= range.to_seq && range.to_seq <= index;
    return holds ? [{ ...range, message }] : [];
  });
  if (found.length < 2) return found;
  const won: Summary[] = [];
  for (const summary of found.reverse().sort((a, b) => width(b) - width(a))) {
    if (won.every((other) => summary.to_seq < other.from_seq || other.to_seq < summary.from_seq)) {
      won.push(summary);
    }
  }
  return won.sort((a, b) => a.from_seq - b.from_seq);
};

const width = ({ from_seq, to_seq }: Summary): number => to_seq - from_seq;

/** Only the runtime writes internal system messages; metadata of other messages can come from a client. */
const rangeOf = ({ role, visibility, metadata }: Message) =>
  role === 'system' && visibility === 'internal' ? metadata?.compaction : undefined;

export const isRaw = (message: Message): boolean => rangeOf(message) === undefined && !isRewound(message);

/** Replaces the covered ranges of a history by their summaries. */
export const foldHistory = (history: readonly Message[]): readonly Message[] => {
  if (history.every(isRaw)) return history;
  const folded: Message[] = [];
  let seen = 0;
  for (const { from_seq, to_seq, message } of findSummaries(history)) {
    folded.push(...history.slice(seen, from_seq - 1).filter(isRaw), message);
    seen = to_seq;
  }
  return [...folded, ...history.slice(seen).filter(isRaw)];
};
