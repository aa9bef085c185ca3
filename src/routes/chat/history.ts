import { toUIMessages, type UIMessage } from '../../protocols/ai-sdk/messages.ts';
import { suspensionsIn } from '../../protocols/ai-sdk/suspensions.ts';
import { type MessageFilter, type MessageStart, stoppedAnswers, viewed } from '../../runtime/index.ts';
import type { Store } from '../../store/index.ts';

/**
 * A page of a history as messages of the chat client (chat-and-agui.md 8). Results of tools are parts of the messages
 * that asked for them, however far apart they are stored, and pages and their total count messages of the client: so
 * a page costs one pass over all that the filters let through, and a read of each of its runs.
 */

export type ChatPage = {
  items: (UIMessage & { seq: number })[];
  total: number;
  has_more: boolean;
  has_previous: boolean;
};

export const chatPage = (
  of: { store: Store; scope: string; thread_id: string },
  filter: MessageFilter,
  start: MessageStart,
  limit: number,
): ChatPage => {
  const rows = [...viewed(of, { ...filter, order: 'asc' }), ...stoppedAnswers(of, filter)].sort(
    (a, b) => a.seq - b.seq,
  );
  const seqs = new Map(rows.map(({ id, seq }) => [id, seq]));
  const suspensions = suspensionsIn((run_id) => of.store.runs.get(of.scope, run_id));
  const items = toUIMessages(rows, suspensions).map((item) => ({
    ...item,
    seq: seqs.get(item.id) ?? 0,
  }));
  if (filter.order === 'desc') items.reverse();
  const { from, to } = range(items, filter.order, start, limit);
  return {
    items: items.slice(from, to),
    total: items.length,
    has_more: to < items.length,
    has_previous: from > 0,
  };
};

const range = (
  items: readonly { seq: number }[],
  order: MessageFilter['order'],
  start: MessageStart,
  limit: number,
): { from: number; to: number } => {
  /** How many items come before the mark, and it does not matter whether it is one of them. */
  const before = (mark: number): number =>
    items.filter(({ seq }) => (order === 'asc' ? seq < mark : seq > mark)).length;
  const upTo = (mark: number): number =>
    items.filter(({ seq }) => (order === 'asc' ? seq <= mark : seq >= mark)).length;
  if ('inFrontOf' in start) {
    const to = before(start.inFrontOf);
    return { from: Math.max(0, to - limit), to };
  }
  const past = 'behind' in start ? upTo(start.behind) : start.offset;
  const from = Math.min(past, items.length);
  return { from, to: Math.min(from + limit, items.length) };
};
