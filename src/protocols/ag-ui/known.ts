import type { Message as AgUiMessage } from '@ag-ui/core';
import type { Message } from '../../schema/message.ts';
import { toAgUiMessages } from './messages.ts';
import type { AgUiMessage as SentMessage } from './request.ts';

/**
 * The conversation as the client of a request has it, for snapshots that revoke shown events (chat-and-agui.md 12). The
 * official client drops messages that a snapshot lacks, and moves a message to the end if its id changes. So pending
 * messages of the request are included, and results that the client sent keep their ids.
 */

type Known = {
  /** The stored messages, oldest first. */
  history: readonly Message[];
  /** The messages of the request. */
  sent: readonly SentMessage[];
  /** The messages that the request adds to the history. */
  added: readonly (Omit<Message, 'id'> & { id?: string })[];
};

export const knownMessages = (
  { history, sent, added }: Known,
  waits: (call_id: string) => boolean,
): AgUiMessage[] => {
  const stored = new Set(history.map(({ id }) => id));
  const staged = added.flatMap(({ id, ...message }) =>
    id === undefined || stored.has(id) ? [] : [{ ...message, id }],
  );
  const messages = toAgUiMessages([...history, ...staged], (_run_id, call_id) => ({ open: waits(call_id) }));
  const sentIds = new Set(sent.map(({ id }) => id));
  const results = resultsIn(sent.filter(({ id }) => !id || !stored.has(id)));
  return messages.map((message) => {
    if (message.role !== 'tool' || sentIds.has(message.id)) return message;
    return { ...message, id: results.get(message.toolCallId)?.shift() ?? message.id };
  });
};

/** A model may reuse the id of a call. */
const resultsIn = (sent: readonly SentMessage[]): Map<string, string[]> => {
  const ids = new Map<string, string[]>();
  for (const { role, id, toolCallId } of sent) {
    if (role !== 'tool' || !id || !toolCallId) continue;
    ids.set(toolCallId, [...(ids.get(toolCallId) ?? []), id]);
  }
  return ids;
};
