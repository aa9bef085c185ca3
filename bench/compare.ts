import type { Machine } from './machine.ts';
import type { Outcome, Result } from './result-file.ts';
import type { Row } from './row.ts';

/**
 * Compares one result with another.
 *
 * A row has lost if its median is more than 10 % worse and its rounds do not overlap with those of the other: even the
 * best round is worse than the other's worst. Two rounds of one build often differ by 10 % on a busy host; that none of
 * three is as good as any of three happens by chance once in twenty. With fewer than three rounds on a side, no row
 * counts as lost.
 */

const MOST_LOSS = 0.1;
const LEAST_ROUNDS = 3;

/** `unclear`: the medians differ enough for a loss, but the rounds overlap. */
export type Verdict = 'same' | 'lost' | 'gained' | 'unclear' | 'does not count' | 'not in both';

export type Comparison = {
  benchmark: string;
  metric: string;
  unit: string;
  before?: number;
  now?: number;
  /** Relative loss: 0.1 for an increase of cost or time by a tenth; negative for a gain. */
  worse?: number;
  verdict: Verdict;
};

/** Compares all benchmarks that both results contain. */
export const compareResults = (before: readonly Outcome[], now: readonly Outcome[]): Comparison[] =>
  now.flatMap(({ name, rows }) => {
    const earlier = before.find((outcome) => outcome.name === name);
    return earlier ? compareRows(name, earlier.rows, rows) : [];
  });

const compareRows = (benchmark: string, before: readonly Row[], now: readonly Row[]): Comparison[] => {
  const keyOf = ({ metric, unit, better, baseline }: Row): string =>
    JSON.stringify([metric, unit, better, baseline?.name]);
  const earlier = new Map(before.map((row) => [keyOf(row), row]));
  const later = new Map(now.map((row) => [keyOf(row), row]));
  return Array.from(new Set([...earlier.keys(), ...later.keys()]), (key) =>
    compareRow(benchmark, earlier.get(key), later.get(key)),
  ).flatMap((comparison) => comparison ?? []);
};

const compareRow = (
  benchmark: string,
  before: Row | undefined,
  now: Row | undefined,
): Comparison | undefined => {
  const either = now ?? before;
  if (!either) return undefined;
  const { unit } = either;
  const metric = either.baseline ? `${either.metric}, against ${either.baseline.name}` : either.metric;
  const figures = {
    ...(before && { before: before.value.median }),
    ...(now && { now: now.value.median }),
  };
  if (!before || !now) return { benchmark, metric, unit, ...figures, verdict: 'not in both' };
  const worse = worseBy(now.better, before.value.median, now.value.median);
  const verdict = before.counted && now.counted ? verdictOf(before, now, worse) : 'does not count';
  return { benchmark, metric, unit, ...figures, worse, verdict };
};

/** Halving a rate is as bad as doubling a time. */
const worseBy = (better: Row['better'], before: number, now: number): number =>
  (better === 'lower' ? now / before : before / now) - 1;

const verdictOf = (before: Row, now: Row, worse: number): Verdict => {
  if (!Number.isFinite(worse)) return 'does not count';
  const back = worseBy(now.better, now.value.median, before.value.median);
  if (worse <= MOST_LOSS && back <= MOST_LOSS) return 'same';
  const enough = Math.min(before.samples.length, now.samples.length) >= LEAST_ROUNDS;
  const apart = now.value.min > before.value.max || now.value.max < before.value.min;
  if (!enough || !apart) return 'unclear';
  return worse > 0 ? 'lost' : 'gained';
};

export const losses = (comparisons: readonly Comparison[]): Comparison[] =>
  comparisons.filter(({ verdict }) => verdict === 'lost');

/** The reason why two results cannot be compared, or undefined. */
export const incomparable = (
  before: Pick<Result, 'machine' | 'settings'>,
  now: Pick<Result, 'machine' | 'settings'>,
): string | undefined => {
  const machine = ({ cpu, cores, memory_gib, pinned }: Machine): string =>
    `${cpu}, ${cores} cores, ${memory_gib} GiB, ${pinned ? 'pinned' : 'not pinned'}`;
  const facts: [string, string, string][] = [
    ['machine', machine(before.machine), machine(now.machine)],
    ['node', before.machine.node, now.machine.node],
    ['duration', String(before.settings.duration), String(now.settings.duration)],
    ['short', String(before.settings.short), String(now.settings.short)],
    ['open runs', String(before.settings.open_runs), String(now.settings.open_runs)],
  ];
  const different = facts.filter(([, then, today]) => then !== today);
  return different.map(([name, then, today]) => `${name}: ${then}, now ${today}`).join('; ') || undefined;
};
