/** Geometry of charts over time: each point has the same width, and values are relative to the highest one. */

const STEPS = [1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8];
const SMALL_STEPS = [2, 4, 6, 8];

/** Rounds up to a value whose half is round, too: whole, if it counts something. */
export const niceTop = (highest: number): number => {
  if (highest <= 0) return 2;
  const power = 10 ** Math.floor(Math.log10(highest));
  const steps = power === 1 ? SMALL_STEPS : STEPS;
  return (steps.find((one) => one * power >= highest * 0.999) ?? 10) * power;
};

export type Span = readonly [from: number, to: number];

/** The lower and upper end of each part of a stack. */
export const stacked = (values: readonly number[]): Span[] => {
  let sum = 0;
  return values.map((value) => {
    const from = sum;
    sum += value;
    return [from, sum];
  });
};

const HEIGHT = 100;

const y = (value: number, top: number): number => Number((HEIGHT - (value / top) * HEIGHT).toFixed(2));

/** The outline of the bars between two values at each point; no bar without a height. */
export const barsPath = (spans: readonly (Span | undefined)[], top: number): string => {
  const gap = spans.length > 100 ? 0.1 : 0.2;
  return spans
    .map((span, index) => {
      if (!span || span[1] <= span[0]) return '';
      const [low, high] = span;
      return `M${index + gap / 2} ${y(low, top)}V${y(high, top)}h${1 - gap}V${y(low, top)}z`;
    })
    .join('');
};

/** Runs of consecutive points that have a value. */
const runsOf = <Value>(
  values: readonly (Value | undefined)[],
): (readonly [index: number, value: Value])[][] => {
  const runs: (readonly [number, Value])[][] = [];
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue;
    if (index === 0 || values[index - 1] === undefined) runs.push([]);
    runs.at(-1)?.push([index, value]);
  }
  return runs;
};

/** A line through the middle of the points, with a gap where a value is missing. A single point is a short line. */
export const linePath = (values: readonly (number | undefined)[], top: number): string =>
  runsOf(values)
    .map((run) => {
      const [[index, only] = [0, 0]] = run;
      if (run.length === 1) return `M${index + 0.1} ${y(only, top)}h.8`;
      return run
        .map(([at, value], place) => `${place === 0 ? 'M' : 'L'}${at + 0.5} ${y(value, top)}`)
        .join('');
    })
    .join('');

export const bandPath = (spans: readonly (Span | undefined)[], top: number): string =>
  runsOf(spans)
    .filter((run) => run.length > 1)
    .map((run) => {
      const up = run.map(([at, [, high]]) => `${at + 0.5} ${y(high, top)}`);
      const back = run.map(([at, [low]]) => `${at + 0.5} ${y(low, top)}`).reverse();
      return `M${[...up, ...back].join('L')}z`;
    })
    .join('');

/** Evenly spaced points that get a label: at most `most`. */
export const labelled = (count: number, most: number): number[] => {
  const step = Math.max(1, Math.ceil(count / most));
  return Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step);
};

export const selection = (start: number, end: number): Span => [Math.min(start, end), Math.max(start, end)];
