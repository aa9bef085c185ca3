import { isRewound, type Message } from '../../schema/message.ts';
import type { MessageRow, Retraction } from '../../store/index.ts';
import { retractedBy } from './retraction.ts';

/**
 * Rewinding a conversation: a user requests another answer, or has edited a message.
 *
 * Guarantees: nothing is deleted. A mark is appended, and all messages from the one that it names up to the mark itself,
 * or up to the last one that it names, are hidden from readers and from the model; sequence numbers and the log stay
 * unchanged. Ids of hidden messages stay
 * known, so that a client cannot submit such a message again.
 * Relies on a complete history, in which the number of a message is its position, starting at 1. In memory each hidden
 * message is replaced by a placeholder, so that all readers of a history need only one check: `isRewound`.
 */

/** The target of a rewind: after this message and the results of its calls, or before it with `drops`. */
export type Rewind = { message_id: string; drops: boolean };

/** Only the runtime writes internal system messages. */
const markIn = ({ role, visibility, metadata }: Message) =>
  role === 'system' && visibility === 'internal' ? metadata?.rewind : undefined;

type Mark = NonNullable<ReturnType<typeof markIn>>;

const REWOUND = { from_seq: 0 };

const standIn = ({ id, metadata }: Message): Message => ({
  id,
  role: 'system',
  content: [],
  visibility: 'internal',
  metadata: { rewind: REWOUND, ...(metadata?.replaces !== undefined && { replaces: metadata.replaces }) },
});

/** Replaces the messages that are hidden by marks at or after this index with placeholders; changes the list. */
export const applyRewinds = (history: Message[], from = 0): Message[] => {
  for (let index = from; index < history.length; index += 1) {
    const message = history[index];
    const mark = message && markIn(message);
    if (mark && mark.from_seq > 0) hideBy(history, mark, index);
  }
  return history;
};

/** Replaces the messages of a mark, and the mark itself, which is at this index. */
const hideBy = (history: Message[], { from_seq, to_seq }: Mark, index: number): void => {
  replaceFrom(history, from_seq - 1, to_seq === undefined ? index : to_seq - 1);
  replaceFrom(history, index, index);
};

const replaceFrom = (history: Message[], from: number, to: number): void => {
  for (let index = from; index <= to; index += 1) {
    const message = history[index];
    if (message) history[index] = standIn(message);
  }
};

/** Returns the first message to hide, and the retractions for the read view. */
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

/** Returns the retractions of visible messages from one index up to another. */
export const retractionsFrom = (
  history: readonly Message[],
  from: number,
  to = history.length,
): Retraction[] =>
  history.slice(0, to).flatMap((message, index): Retraction[] => {
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

/** Returns the retractions of all markers and marks of a history, for a copy of it. */
export const retractionsOf = (rows: readonly MessageRow[]): Retraction[] => {
  const history: Message[] = [];
  return rows.flatMap((row, index) => {
    history.push(row.message);
    const mark = markIn(row.message);
    if (!mark) return retractedBy(history, row);
    const hidden = retractionsFrom(history, mark.from_seq - 1, mark.to_seq ?? index);
    hideBy(history, mark, index);
    const { run_id } = row.message.metadata ?? {};
    return [...hidden, { seq: row.seq, external: false, ...(run_id !== undefined && { run_id }) }];
  });
};

/** Returns the current message for an id that a client names: the message itself, or its latest edit. */
export const currentOf = (history: readonly Message[], message_id: string): Message | undefined => {
  let sought = message_id;
  // The loop ends because each replacement is after the message that it replaces.
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
