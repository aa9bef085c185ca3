import type { RunEntry } from './run-entry.ts';

/**
 * Which lines are shown one by one, and which are only counted, so that whoever looks can read along however much
 * happens. Time goes in windows of a second that begin with a line. In each, the first few lines of a kind are shown
 * and the others counted; where a window had more, the next one shows none, and its count is one line. A failure that
 * is only counted has a cause that is shown: warnings are kinds of their own, by their text.
 *
 * Costs a Map entry a kind and second, and one timer while there is something to count.
 */

export const WINDOW_MS = 1000;

/** Lines of one kind that can be read in a second. */
export const FEW_RUNS = 10;
const FEW_OTHERS = 3;

/** Texts are few; were they many, what is over this is one kind. */
const MOST_KINDS = 50;

export type RunTally = {
  count: number;
  ends: Map<string, number>;
  tokens: number;
  fastest: number;
  slowest: number;
};

export type Fold = {
  runs: Kind;
  others: Map<string, Kind>;
  tally: RunTally;
};

type Kind = { level: string; msg: string; seen: number; limit: number };

const kindOf = (level: string, msg: string, limit: number): Kind => ({ level, msg, seen: 0, limit });

const newTally = (): RunTally => ({
  count: 0,
  ends: new Map(),
  tokens: 0,
  fastest: Number.POSITIVE_INFINITY,
  slowest: 0,
});

export const createFold = (): Fold => ({
  runs: kindOf('info', 'run', FEW_RUNS),
  others: new Map(),
  tally: newTally(),
});

/** True when the run is to be shown by itself. */
export const admitRun = (fold: Fold, { end, seconds, input, output }: RunEntry): boolean => {
  fold.runs.seen += 1;
  if (fold.runs.seen <= fold.runs.limit) return true;
  const { tally } = fold;
  tally.count += 1;
  tally.ends.set(end, (tally.ends.get(end) ?? 0) + 1);
  tally.tokens += input + output;
  tally.fastest = Math.min(tally.fastest, seconds);
  tally.slowest = Math.max(tally.slowest, seconds);
  return false;
};

export const admitOther = (fold: Fold, level: string, msg: string): boolean => {
  const isKnown = fold.others.has(keyOf(level, msg)) || fold.others.size < MOST_KINDS;
  const kind = isKnown ? otherOf(fold, level, msg) : otherOf(fold, level, 'other lines');
  kind.seen += 1;
  return kind.seen <= kind.limit;
};

const otherOf = ({ others }: Fold, level: string, msg: string): Kind => {
  const key = keyOf(level, msg);
  const kind = others.get(key) ?? kindOf(level, msg, FEW_OTHERS);
  others.set(key, kind);
  return kind;
};

const keyOf = (level: string, msg: string): string => `${level} ${msg}`;

export type Folded = {
  runs: RunTally | undefined;
  others: { level: string; msg: string; count: number }[];
  /** The next window goes by what this one had. */
  isBusy: boolean;
};

/** The window is over. What it counted is the caller's; the next one begins. */
export const closeWindow = (fold: Fold): Folded => {
  const { runs, tally } = fold;
  const isBusy = runs.seen > FEW_RUNS;
  const kinds = Array.from(fold.others.values());
  fold.runs = kindOf('info', 'run', isBusy ? 0 : FEW_RUNS);
  fold.tally = newTally();
  fold.others.clear();
  for (const { level, msg, seen } of kinds)
    if (seen > FEW_OTHERS) fold.others.set(keyOf(level, msg), kindOf(level, msg, 1));
  return {
    runs: tally.count > 0 ? tally : undefined,
    others: kinds
      .filter(({ seen, limit }) => seen > limit)
      .map(({ level, msg, seen, limit }) => ({ level, msg, count: seen - limit })),
    isBusy: isBusy || fold.others.size > 0,
  };
};
