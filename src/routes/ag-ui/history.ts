import { type HistoryItem, toHistoryItems } from '../../protocols/ag-ui/messages.ts';
import { suspensionsIn } from '../../protocols/ai-sdk/suspensions.ts';
import { listMessages, type MessageFilter, type MessageStart, viewed } from '../../runtime/index.ts';
import type { ListedMessage } from '../../schema/message.ts';
import type { Store } from '../../store/index.ts';

/**
 * A page of a history in the form of AG-UI (chat-and-agui.md 14). Pages and their total count stored messages. So a
 * page costs its own rows, the rest of the steps at its end, and a read of each run with tool results. The placeholder
 * result of a suspended call is stored but not shown, so a page may contain fewer items.
 */

type HistoryOf = { store: Store; scope: string; thread_id: string };

export type HistoryPage = {
  /** At most as many items as rows. */
  items: HistoryItem[];
  /** The stored messages of the page in its order. */
  rows: ListedMessage[];
  total: number;
  has_more: boolean;
  has_previous: boolean;
};

export const historyPage = (
  of: HistoryOf,
  filter: MessageFilter,
  start: MessageStart,
  limit: number,
): HistoryPage => {
  const page = listMessages(of, filter, start, limit);
  const rows = filter.order === 'asc' ? page.rows : page.rows.toReversed();
  const paged = new Set(rows.map(({ id }) => id));
  const suspensions = suspensionsIn((run_id) => of.store.runs.get(of.scope, run_id));
  const items = toHistoryItems([...rows, ...resultsBehind(of, rows)], suspensions).filter(({ id }) =>
    paged.has(id),
  );
  if (filter.order === 'desc') items.reverse();
  return { ...page, items };
};

/** Reads the rest of a step at the end of the rows, which is needed to distinguish placeholders from results. */
const resultsBehind = (of: HistoryOf, rows: readonly ListedMessage[]): ListedMessage[] => {
  const after = rows.at(-1)?.seq ?? 0;
  const last = new Map(rows.map((row) => [row.metadata?.run_id, row]));
  const results = [...last].flatMap(([run_id, { role }]) =>
    run_id === undefined || role !== 'tool' ? [] : restOfStep(of, run_id, after),
  );
  return results.sort((a, b) => a.seq - b.seq);
};

const restOfStep = (of: HistoryOf, run_id: string, after: number): ListedMessage[] => {
  const rest: ListedMessage[] = [];
  for (const row of viewed(of, { order: 'asc', visibility: 'external', run_id, after })) {
    rest.push(row);
    if (row.role === 'assistant') break;
  }
  return rest;
};
