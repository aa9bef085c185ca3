import type { Message } from '../../thread-messages/messages.ts';

/**
 * The loaded part of a conversation: contiguous and limited in size, however far the user scrolls. Messages dropped at
 * one end are read again when the user scrolls back.
 */
export type Held = {
  readonly messages: readonly Message[];
  /** True if older messages are not loaded. */
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

/** @param more whether there are still older messages */
export const withOlder = ({ messages, hasNewer }: Held, read: readonly Message[], more: boolean): Held => {
  const all = joined(messages, read);
  const cut = all.length > MOST_HELD;
  return { messages: cut ? all.slice(0, MOST_HELD) : all, hasOlder: more, hasNewer: hasNewer || cut };
};

/** @param more whether there are still newer messages */
export const withNewer = ({ messages, hasOlder }: Held, read: readonly Message[], more: boolean): Held => {
  const all = joined(messages, read);
  const cut = all.length > MOST_HELD;
  return { messages: cut ? all.slice(-MOST_HELD) : all, hasOlder: hasOlder || cut, hasNewer: more };
};
