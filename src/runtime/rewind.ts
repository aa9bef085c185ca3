import { isRewound, type Message } from '../schema/message.ts';
import type { Retraction } from '../store/index.ts';

/**
 * Going back in a conversation: a user wants another answer, or has edited what was said.
 *
 * Guarantees: nothing is deleted. A mark is appended, and from the message that it names up to itself nothing is in
 * the history any more, for readers and for the model; numbers of messages stay what they are, and so does the log.
 * Ids of such messages stay known, so that a client that still has one does not say it anew.
 * Relies on a whole history, in which the number of a message is its position, from 1. In memory a stand-in takes the
 * place of each such message, so that whoever reads a history has one rule to go by: `isRewound`.
 */

/** Where to go back to: behind this message and the results of its calls, or with `drops` in front of it. */
export type Rewind = { message_id: string; drops: boolean };

/** Only the runtime writes internal system messages. */
const markIn = ({ role, visibility, metadata }: Message) =>
  role === 'system' && visibility === 'internal' ? metadata?.rewind : undefined;

const REWOUND = { from_seq: 0 };

const standIn = ({ id, metadata }: Message): Message => ({
  id,
  role: 'system',
  content: [],
  visibility: 'internal',
  metadata: { rewind: REWOUND, ...(metadata?.replaces !== undefined && { replaces: metadata.replaces }) },
});

/** Puts stand-ins where marks from this index on say so; changes the list. */
export const applyRewinds = (history: Message[], from = 0): Message[] => {
  for (let index = from; index < history.length; index += 1) {
    const message = history[index];
    const mark = message && markIn(message);
    if (mark && mark.from_seq > 0) replaceFrom(history, mark.from_seq - 1, index);
  }
  return history;
};

const replaceFrom = (history: Message[], from: number, to: number): void => {
  for (let index = from; index <= to; index += 1) {
    const message = history[index];
    if (message) history[index] = standIn(message);
  }
};

/** Where what a client goes back over begins, and what that takes out of the read view. */
export const rewound = (
  history: readonly Message[],
  { message_id, drops }: Rewind,
): { from_seq: number; retractions: Retraction[] } | undefined => {
  const found = history.findLastIndex((message) => message.id === message_id && !isRewound(message));
  if (found < 0) return undefined;
  let from = drops ? found : found + 1;
  while (!drops && history[from]?.role === 'tool') from += 1;
  return { from_seq: from + 1, retractions: retractionsFrom(history, from) };
};

const retractionsFrom = (history: readonly Message[], from: number): Retraction[] =>
  history.flatMap((message, index): Retraction[] => {
    if (index < from || isRewound(message)) return [];
    const run_id = message.metadata?.run_id;
    return [
      {
        seq: index + 1,
        external: message.visibility === undefined,
        ...(run_id !== undefined && { run_id }),
      },
    ];
  });

/** What stands in the history for a message that a client names: itself, or what it was edited to. */
export const currentOf = (history: readonly Message[], message_id: string): Message | undefined => {
  let sought = message_id;
  // Each replacement is behind what it replaces, so this ends.
  for (let from = 0; ; ) {
    const own = history.find((message) => message.id === sought && !isRewound(message));
    if (own) return own;
    const next = history.findLastIndex(
      ({ metadata }, index) => index >= from && metadata?.replaces === sought,
    );
    const found = history[next];
    if (!found) return undefined;
    if (!isRewound(found)) return found;
    sought = found.id;
    from = next + 1;
  }
};
