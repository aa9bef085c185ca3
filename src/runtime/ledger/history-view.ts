import type { ListedMessage, Message } from '../../schema/message.ts';
import { fillPage } from '../../schema/page-rows.ts';
import type { MessageBounds, MessageRow, Retraction } from '../../store/index.ts';
import {
  createRanks,
  type HistoryOf,
  hiddenIn,
  type MessageFilter,
  type Ranks,
  type Visibility,
} from './history-ranks.ts';

/**
 * The read view of a history (runtime.md 4.1), applied before counting and paging: a call is shown only while the
 * history contains a visible result of it and no retraction. Hidden are tool messages of a retracted call, retractions,
 * messages without any content left after refusals, and messages that a client has rewound.
 *
 * A call has its first result in its own step, if at all, so the visibility of a row depends only on its neighbors and
 * on retractions; a page reads its own rows and the rest of the step at its end.
 */

/** Where a page starts: at an offset, after a row, or before a row (the page that ends there). */
export type MessageStart = { offset: number } | { behind: number } | { inFrontOf: number };

export type MessagePage = {
  rows: ListedMessage[];
  /** The JSON text of each row. */
  texts: string[];
  total: number;
  has_more: boolean;
  has_previous: boolean;
};

/**
 * Returns the stopped answers that match the filter. A stopped answer has no sequence number; it is listed with the
 * number of the message before it plus one half.
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

/** Narrows the filter to the rows after a sequence number in its order. */
const behind = (filter: MessageFilter, seq: number): MessageFilter =>
  filter.order === 'asc'
    ? { ...filter, after: Math.max(seq, filter.after ?? 0) }
    : { ...filter, before: Math.min(seq, filter.before ?? Number.MAX_SAFE_INTEGER) };

/**
 * Maximum number of consecutive hidden rows that are read. After these, the next visible row is found by rank, which
 * costs a read for each step of the binary search.
 */
const MAX_SKIPPED = 32;

/**
 * Returns the visible rows of the filter in their wire format, in the order of the filter, starting at the offset.
 * Cost: the rows that are shown, and a bounded number of reads for each gap between two of them.
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

/** Stops early, and returns the last sequence number read, after too many consecutive hidden rows. */
function* shownRows(of: HistoryOf, filter: MessageFilter): Generator<ListedMessage, number | undefined> {
  const { store, scope, thread_id } = of;
  const bounds = boundsOf(filter);
  const rows =
    filter.run_id === undefined
      ? store.messages.range(scope, thread_id, bounds)
      : store.messages.ofRun(scope, thread_id, filter.run_id, bounds);
  // Rewound messages are hidden, whatever their kind.
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
type HistorySource = { at: At; retractions(): Retraction[] };

/** Returns the message as the view shows it, or undefined. */
const view = (row: MessageRow, { at, retractions }: HistorySource): Message | undefined => {
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

/** Whether there is a result before the next step. Input of other runs may be in between. */
const isAnswered = (requestSeq: number, callId: string, at: At): boolean => {
  for (let seq = requestSeq + 1; ; seq += 1) {
    const later = at(seq)?.message;
    if (!later || (later.role === 'assistant' && later.metadata?.step_index !== undefined)) return false;
    if (later.tool_call_id === callId) return true;
  }
};
