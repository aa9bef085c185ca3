import { toUIMessages, type UIMessage } from '../../protocols/ai-sdk/messages.ts';
import { suspensionsIn } from '../../protocols/ai-sdk/suspensions.ts';
import { type MessageFilter, type MessageStart, stoppedAnswers, viewed } from '../../runtime/index.ts';
import { fillPage } from '../../schema/page-rows.ts';
import type { Store } from '../../store/index.ts';

/**
 * A page of a history as messages of the chat client (chat-and-agui.md 8). Results of tools are parts of the messages
 * that asked for them, however far apart they are stored, and pages and their total count messages of the client: so
 * a page costs one pass over all that the filters let through, and a read of each of its runs.
 */

type ChatItem = UIMessage & { seq: number };

export type ChatPage = {
  items: ChatItem[];
  /** The JSON of each item, as the client has it. */
  texts: string[];
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
  const messages = [...viewed(of, { ...filter, order: 'asc' }), ...stoppedAnswers(of, filter)].sort(
    (a, b) => a.seq - b.seq,
  );
  const seqs = new Map(messages.map(({ id, seq }) => [id, seq]));
  const suspensions = suspensionsIn((run_id) => of.store.runs.get(of.scope, run_id));
  const items = toUIMessages(messages, suspensions).map((item) => ({
    ...item,
    seq: seqs.get(item.id) ?? 0,
  }));
  if (filter.order === 'desc') items.reverse();
  const total = items.length;
  const place = placeOf(items, filter.order, start);
  if ('before' in place) {
    const { rows, texts, more } = fillPage(items.slice(0, place.before).reverse(), limit, shown);
    return {
      items: rows.reverse(),
      texts: texts.reverse(),
      total,
      has_more: place.before < total,
      has_previous: more,
    };
  }
  const { rows, texts, more } = fillPage(items.slice(place.from), limit, shown);
  return { items: rows, texts, total, has_more: more, has_previous: place.from > 0 };
};

const shown = ({ seq: _, ...item }: ChatItem): UIMessage => item;

/** Where a page begins, or in front of what it ends. */
const placeOf = (
  items: readonly { seq: number }[],
  order: MessageFilter['order'],
  start: MessageStart,
): { from: number } | { before: number } => {
  /** How many items come before the mark, and it does not matter whether it is one of them. */
  const before = (mark: number): number =>
    items.filter(({ seq }) => (order === 'asc' ? seq < mark : seq > mark)).length;
  const upTo = (mark: number): number =>
    items.filter(({ seq }) => (order === 'asc' ? seq <= mark : seq >= mark)).length;
  if ('inFrontOf' in start) return { before: before(start.inFrontOf) };
  const past = 'behind' in start ? upTo(start.behind) : start.offset;
  return { from: Math.min(past, items.length) };
};
