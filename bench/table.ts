import type { Outcome, Row } from './result.ts';

const HEAD = ['metric', 'Troupe', 'baseline', 'ratio (min to max)', 'p50', 'p99', 'target'];

export const formatOutcome = (title: string, { rows, notes }: Outcome): string => {
  const table = [HEAD, ...rows.map(cells)];
  const widths = HEAD.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = table.map((row) =>
    row
      .map((cell, column) => aligned(cell, column, widths))
      .join('  ')
      .trimEnd(),
  );
  return [title, '', ...lines, ...notes.map((note) => `  ${note}`), ''].join('\n');
};

const aligned = (cell: string, column: number, widths: readonly number[]): string =>
  column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);

const cells = ({ metric, unit, troupe, baseline, ratio, p50, p99, target }: Row): string[] => [
  `${metric} [${unit}]`,
  figure(troupe),
  figure(baseline),
  ratio ? `${figure(ratio.value)} (${figure(ratio.min)} to ${figure(ratio.max)})` : '',
  figure(p50),
  figure(p99),
  target ?? '',
];

const figure = (value: number | undefined): string => {
  if (value === undefined) return '';
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3);
};
