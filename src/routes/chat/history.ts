import { toUIMessage, type UIMessage } from '../../protocols/ai-sdk/messages.ts';
import { createOutline, type Outline } from '../../protocols/ai-sdk/outline.ts';
import { type Suspensions, suspensionsIn } from '../../protocols/ai-sdk/suspensions.ts';
import {
  type HistoryPosition,
  type MessageFilter,
  type MessageStart,
  openHistory,
  WINDOW_ROWS,
} from '../../runtime/index.ts';
import { fillPage } from '../../schema/page-rows.ts';
import { ownTurn } from '../../schema/turns.ts';
import type { Store } from '../../store/index.ts';

/**
 * A page of a history as messages of the chat client (chat-and-agui.md 8). Tool results are parts of the messages that
 * contain the calls, however far apart they are stored, and pages and their total count messages of the client. So a
 * page costs one pass over all messages that match the filters. The pass retains no message and yields to other work
 * after each window; then the messages of the page are read, with their results and runs.
 *
 * Guarantees: the page shows the history at the beginning of the pass, without messages that were removed since.
 */

type ChatItem = UIMessage & { seq: number };

export type ChatPage = {
  items: ChatItem[];
  /** The JSON of each item as the client receives it. */
  texts: string[];
  total: number;
  has_more: boolean;
  has_previous: boolean;
};

type HistoryOf = { store: Store; scope: string; thread_id: string };

export type PageRequest = {
  filter: MessageFilter;
  start: MessageStart;
  limit: number;
  /** Aborted when the page is no longer needed. */
  signal: AbortSignal;
  windowRows?: number;
};

type Pass = {
  outline: Outline<HistoryPosition>;
  read(place: HistoryPosition): ReturnType<ReturnType<typeof openHistory>['read']>;
  suspensions: Suspensions;
};

/** Returns undefined if the request was aborted. */
export const chatPage = async (of: HistoryOf, request: PageRequest): Promise<ChatPage | undefined> => {
  while (!request.signal.aborted) {
    const pass = await passOver(of, request);
    const page = pass && pageOf(pass, request);
    if (page) return page;
  }
  return undefined;
};

/** The pass restarts after more removals than this, because each removed message costs a useless read. */
const MAX_REMOVED = 200;

/** Returns undefined if the request was aborted or the thread was deleted during the pass. */
const passOver = async (
  of: HistoryOf,
  { filter, signal, windowRows = WINDOW_ROWS }: PageRequest,
): Promise<Pass | undefined> => {
  const { windows, isCurrent, read } = openHistory(of, filter, windowRows);
  const outline = createOutline<HistoryPosition>();
  const suspensions = suspensionsIn((run_id) => of.store.runs.get(of.scope, run_id), openRuns(of));
  for (;;) {
    const { done, value } = windows.next();
    if (done) return { outline, read, suspensions };
    for (const message of value) outline.add(message, { seq: message.seq, id: message.id });
    await ownTurn();
    if (signal.aborted || !isCurrent()) return undefined;
  }
};

/** Returns the runs whose state may change during the pass. */
const openRuns = ({ store, scope, thread_id }: HistoryOf) => {
  const running = store.runs.newest(scope, thread_id, 'running');
  return [...store.runs.waitingOf(scope, thread_id), ...(running ? [running] : [])];
};

/** Returns undefined if too many messages were removed during the pass. */
const pageOf = (
  { outline, read, suspensions }: Pass,
  { filter, start, limit }: PageRequest,
): ChatPage | undefined => {
  const found = filter.order === 'desc' ? outline.messages : outline.messages.toReversed();
  const total = found.length;
  let removed = 0;
  function* items(outlined: typeof found): Iterable<ChatItem> {
    for (const each of outlined) {
      const item = toUIMessage(each, { read, suspensions });
      if (item) yield { ...item, seq: each.place.seq };
      else removed += 1;
      if (removed > MAX_REMOVED) return;
    }
  }
  const places = found.map(({ place }) => place);
  const place = placeOf(places, filter.order, start);
  const isBackwards = 'before' in place;
  const paged = isBackwards ? found.slice(0, place.before).reverse() : found.slice(place.from);
  const { rows, texts, more } = fillPage(items(paged), limit, shown);
  if (removed > MAX_REMOVED) return undefined;
  return isBackwards
    ? {
        items: rows.reverse(),
        texts: texts.reverse(),
        total,
        has_more: place.before < total,
        has_previous: more,
      }
    : { items: rows, texts, total, has_more: more, has_previous: place.from > 0 };
};

const shown = ({ seq: _, ...item }: ChatItem): UIMessage => item;

/** Returns the index of the first item of a page, or of the first item after it. */
const placeOf = (
  items: readonly { seq: number }[],
  order: MessageFilter['order'],
  start: MessageStart,
): { from: number } | { before: number } => {
  /** Counts the items before a mark, which need not be an item itself. */
  const before = (mark: number): number =>
    items.filter(({ seq }) => (order === 'asc' ? seq < mark : seq > mark)).length;
  const upTo = (mark: number): number =>
    items.filter(({ seq }) => (order === 'asc' ? seq <= mark : seq >= mark)).length;
  if ('inFrontOf' in start) return { before: before(start.inFrontOf) };
  const past = 'behind' in start ? upTo(start.behind) : start.offset;
  return { from: Math.min(past, items.length) };
};
