import type { Retraction, Store } from '../../store/index.ts';

/**
 * Counts the messages of a filter up to a sequence number, from the running counts in the rows and from the messages
 * that retractions hide, so that a position in a list is found by binary search and not by reading all rows before it.
 * Cost: one read for each retraction of the filter, and one for each rank.
 */
export type Ranks = {
  readonly total: number;
  /** Returns the sequence number of the visible message at this offset in the order of the filter. */
  seqAt(offset: number): number | undefined;
  /** Returns the sequence number of the first visible message after this one in the order of the filter. */
  nextBehind(seq: number): number | undefined;
};

export type Visibility = 'external' | 'internal' | 'all';

export type MessageFilter = {
  after?: number;
  before?: number;
  order: 'asc' | 'desc';
  visibility: Visibility;
  run_id?: string;
};

export type HistoryOf = { store: Store; scope: string; thread_id: string };

type Rank = (seq: number) => number;

export const createRanks = (of: HistoryOf, filter: MessageFilter): Ranks => {
  const { store, scope, thread_id } = of;
  const last = store.messages.last(scope, thread_id);
  const to = Math.min(last?.seq ?? 0, (filter.before ?? Number.MAX_SAFE_INTEGER) - 1);
  const from = Math.max(0, filter.after ?? 0);
  if (to <= from) return { total: 0, seqAt: () => undefined, nextBehind: () => undefined };
  const isAscending = filter.order === 'asc';
  const rank = rankIn(of, filter, { from, to });
  const lowest = rank(from);
  const highest = rank(to);

  /** Returns the lowest sequence number with this rank. */
  const seqOf = (wanted: number): number | undefined => {
    if (wanted <= lowest || wanted > highest) return undefined;
    let [low, high] = [from, to];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (rank(middle) < wanted) low = middle;
      else high = middle;
    }
    return high;
  };

  return {
    total: highest - lowest,
    seqAt: (offset) => seqOf(isAscending ? lowest + offset + 1 : highest - offset),
    nextBehind: (seq) => seqOf(isAscending ? rank(seq) + 1 : rank(seq - 1)),
  };
};

/** Both bounds are those of the filter; ranks count from the start of the history, without hidden messages. */
const rankIn = (of: HistoryOf, filter: MessageFilter, { from, to }: { from: number; to: number }): Rank => {
  const { store, scope, thread_id } = of;
  const { run_id, visibility } = filter;
  const hidden = hiddenIn(of, from + 1, to).filter((each) => run_id === undefined || each.run_id === run_id);
  const isCounted = ({ external }: Hidden): boolean =>
    visibility === 'all' || external === (visibility === 'external');
  const hiddenSeqs = hidden.filter(isCounted).map(({ seq }) => seq);
  return (seq) => {
    const { count, external } =
      run_id === undefined
        ? { count: seq, external: store.messages.at(scope, thread_id, seq)?.external ?? 0 }
        : (store.messages.lastOfRun(scope, thread_id, run_id, seq) ?? NONE);
    const stored = { all: count, external, internal: count - external }[visibility];
    return stored - countUpTo(hiddenSeqs, seq);
  };
};

const NONE = { count: 0, external: 0 };

/** Counts the numbers up to `limit` in an ascending list. */
const countUpTo = (numbers: readonly number[], limit: number): number => {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
};

type Hidden = Extract<Retraction, { external: boolean }>;

/** Both bounds are inclusive; the result is in ascending order. */
export const hiddenIn = ({ store, scope, thread_id }: HistoryOf, from: number, to: number): Hidden[] =>
  store.retractions.range(scope, thread_id, from, to).filter((each) => 'external' in each);
