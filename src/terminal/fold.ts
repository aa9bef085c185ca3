import type { RunEntry } from './run-entry.ts';

/**
 * Decides which lines are shown and which are only counted, so that the output stays readable at any rate. Time is
 * divided into windows of one second that start with a line. In each window, the first few lines of a kind are shown
 * and the others counted; after a window with more, the next one shows no runs, and of any other kind one line. The
 * counts are shown as one line per kind. Warnings are separate kinds by their text, so the cause of a counted failure
 * is always shown.
 *
 * Costs a Map entry per kind and second, and one timer while there are counts.
 */

export const WINDOW_MS = 1000;

/** Lines of one kind that a person can read in a second. */
export const FEW_RUNS = 10;
const FEW_OTHERS = 3;

/** Texts are usually few; those beyond this limit share one kind. */
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

/** True if the run is shown individually. */
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
  /** True if the counts of this window reduce the limits of the next one. */
  isBusy: boolean;
};

/** Ends the window, returns its counts, and starts the next window. */
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
