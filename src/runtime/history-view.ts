import type { ListedMessage, Message } from '../schema/message.ts';
import { fillPage } from '../schema/page-rows.ts';
import type { MessageBounds, MessageRow, Retraction } from '../store/index.ts';
import {
  createRanks,
  type HistoryOf,
  hiddenIn,
  type MessageFilter,
  type Ranks,
  type Visibility,
} from './history-ranks.ts';

/**
 * The read view of a history (runtime.md 4.1), applied before counting and paging:
 * a call is shown only while history holds a visible answer to it and no retraction; tool messages of a
 * retracted call are hidden, and so are the retraction, a message of which refusals leave nothing, and what a client
 * went back over. A call
 * has its first answer in its own step, if it ever has one, so a row is judged from its neighbours and from what
 * retractions say of it; a page reads its own rows and the rest of the step at its end.
 */

/** Where a page begins: after so many rows, behind a row, or in front of one (the page that ends there). */
export type MessageStart = { offset: number } | { behind: number } | { inFrontOf: number };

export type MessagePage = {
  rows: ListedMessage[];
  /** The JSON of each row. */
  texts: string[];
  total: number;
  has_more: boolean;
  has_previous: boolean;
};

/**
 * What was there of stopped answers, where the filter lets it through. The number is that of the message behind which
 * it stands and a half: it has none of its own.
 */
export const stoppedAnswers = (of: HistoryOf, { after, before, visibility, run_id }: MessageFilter) => {
  if (visibility === 'internal') return [];
  const bounds = {
    ...(after !== undefined && { from: after }),
    ...(before !== undefined && { to: before - 1 }),
  };
  return of.store.stopped
    .range(of.scope, of.thread_id, bounds)
    .filter((each) => run_id === undefined || each.run_id === run_id)
    .map(({ seq, message, created_at }): ListedMessage => ({ ...message, seq: seq + 0.5, created_at }));
};

export const listMessages = (
  of: HistoryOf,
  filter: MessageFilter,
  start: MessageStart,
  limit: number,
): MessagePage => {
  const total = createRanks(of, filter).total;
  if ('inFrontOf' in start) {
    const page = fillPage(viewed(of, behind(reversed(filter), start.inFrontOf)), limit);
    const { rows, texts, more } = page;
    return { rows: rows.reverse(), texts: texts.reverse(), total, has_more: true, has_previous: more };
  }
  const found =
    'behind' in start ? viewed(of, behind(filter, start.behind)) : viewed(of, filter, start.offset);
  const { rows, texts, more } = fillPage(found, limit);
  const has_previous = rows.length > 0 && ('behind' in start || start.offset > 0);
  return { rows, texts, total, has_more: more, has_previous };
};

const reversed = (filter: MessageFilter): MessageFilter => ({
  ...filter,
  order: filter.order === 'asc' ? 'desc' : 'asc',
});

/** The filter, narrowed to what comes after a sequence number in its order. */
const behind = (filter: MessageFilter, seq: number): MessageFilter =>
  filter.order === 'asc'
    ? { ...filter, after: Math.max(seq, filter.after ?? 0) }
    : { ...filter, before: Math.min(seq, filter.before ?? Number.MAX_SAFE_INTEGER) };

/**
 * Rows that are read one after another although the view does not show them. After so many, the next visible row is
 * searched by rank, which costs a read for each halving.
 */
const MAX_SKIPPED = 32;

/**
 * Rows of the filter that the view shows, as the wire has them, in the order of the filter, from the row at the
 * offset on. Costs the rows that are shown, and a bounded number of reads for each gap between two of them.
 */
export function* viewed(of: HistoryOf, filter: MessageFilter, offset = 0): Iterable<ListedMessage> {
  let ranks: Ranks | undefined;
  let from = offset === 0 ? filter : undefined;
  if (!from) {
    ranks = createRanks(of, filter);
    from = startingAt(filter, ranks.seqAt(offset));
  }
  while (from) {
    const skipped: number | undefined = yield* shownRows(of, from);
    if (skipped === undefined) return;
    ranks ??= createRanks(of, filter);
    from = startingAt(from, ranks.nextBehind(skipped));
  }
}

const startingAt = (filter: MessageFilter, seq: number | undefined): MessageFilter | undefined => {
  if (seq === undefined) return undefined;
  return filter.order === 'asc' ? { ...filter, after: seq - 1 } : { ...filter, before: seq + 1 };
};

/** Ends early, and returns the last sequence number that was read, when too many rows in sequence are not shown. */
function* shownRows(of: HistoryOf, filter: MessageFilter): Generator<ListedMessage, number | undefined> {
  const { store, scope, thread_id } = of;
  const bounds = boundsOf(filter);
  const rows =
    filter.run_id === undefined
      ? store.messages.range(scope, thread_id, bounds)
      : store.messages.ofRun(scope, thread_id, filter.run_id, bounds);
  // Whatever its kind, what a client went back over is not there.
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = bounds;
  const hidden = new Set(hiddenIn(of, from, to).map(({ seq }) => seq));
  const seen = new Map<number, MessageRow | undefined>();
  const at = (seq: number): MessageRow | undefined => {
    if (!seen.has(seq)) seen.set(seq, store.messages.at(scope, thread_id, seq));
    return seen.get(seq);
  };
  let skipped = 0;
  for (const row of rows) {
    seen.set(row.seq, row);
    const retractions = (): Retraction[] => store.retractions.range(scope, thread_id, row.seq, row.seq);
    const message = hidden.has(row.seq) ? undefined : view(row, { at, retractions });
    if (message && isVisible(message, filter.visibility)) {
      skipped = 0;
      yield { ...message, seq: row.seq, created_at: row.created_at };
    } else {
      skipped += 1;
      if (skipped === MAX_SKIPPED) return row.seq;
    }
  }
  return undefined;
}

const boundsOf = ({ after, before, order }: MessageFilter): MessageBounds => ({
  ...(after !== undefined && { from: after + 1 }),
  ...(before !== undefined && { to: before - 1 }),
  reverse: order === 'desc',
});

const isVisible = (message: Message, visibility: Visibility): boolean =>
  visibility === 'all' || (message.visibility === 'internal') === (visibility === 'internal');

type At = (seq: number) => MessageRow | undefined;
type Around = { at: At; retractions(): Retraction[] };

/** The message as the view shows it, or nothing. */
const view = (row: MessageRow, { at, retractions }: Around): Message | undefined => {
  const { message } = row;
  if (message.role === 'tool') {
    const shown = message.visibility === undefined && retractions().length === 0;
    return shown ? message : undefined;
  }
  if (!message.tool_calls) return message;
  const retracted = new Set<string>();
  for (const each of retractions()) {
    if (!('call_id' in each)) return undefined;
    retracted.add(each.call_id);
  }
  const kept = message.tool_calls.filter(({ id }) => !retracted.has(id) && isAnswered(row.seq, id, at));
  if (kept.length === message.tool_calls.length) return message;
  const { tool_calls: _dropped, ...rest } = message;
  return kept.length === 0 ? rest : { ...rest, tool_calls: kept };
};

/** Is there an answer before the next step? Input of other runs may have come in between. */
const isAnswered = (asked: number, callId: string, at: At): boolean => {
  for (let seq = asked + 1; ; seq += 1) {
    const later = at(seq)?.message;
    if (!later || (later.role === 'assistant' && later.metadata?.step_index !== undefined)) return false;
    if (later.tool_call_id === callId) return true;
  }
};
