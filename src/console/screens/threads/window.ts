import type { Message } from '../../history/messages.ts';

/**
 * The part of a conversation that is held: whole, without gaps, and never more than so many messages, however long its
 * reader scrolls. What is let go at one end is read again when somebody goes back there.
 */
export type Held = {
  readonly messages: readonly Message[];
  /** There are older ones that are not held. */
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
};

export const NOTHING: Held = { messages: [], hasOlder: true, hasNewer: false };

export const MOST_HELD = 1200;

const bySeq = (a: Message, b: Message): number => a.seq - b.seq;

const joined = (held: readonly Message[], read: readonly Message[]): Message[] => {
  const known = new Set(held.map(({ seq }) => seq));
  return [...held, ...read.filter(({ seq }) => !known.has(seq))].sort(bySeq);
};

/** @param more there are still older ones */
export const withOlder = ({ messages, hasNewer }: Held, read: readonly Message[], more: boolean): Held => {
  const all = joined(messages, read);
  const cut = all.length > MOST_HELD;
  return { messages: cut ? all.slice(0, MOST_HELD) : all, hasOlder: more, hasNewer: hasNewer || cut };
};

/** @param more there are still newer ones */
export const withNewer = ({ messages, hasOlder }: Held, read: readonly Message[], more: boolean): Held => {
  const all = joined(messages, read);
  const cut = all.length > MOST_HELD;
  return { messages: cut ? all.slice(-MOST_HELD) : all, hasOlder: hasOlder || cut, hasNewer: more };
};
