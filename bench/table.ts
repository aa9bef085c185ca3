import type { Comparison } from './compare.ts';
import type { Outcome } from './result-file.ts';
import { type Aim, meetsAim, type Range, type Row } from './row.ts';

/** Results as text: for a terminal, for a comparison, and for the manual. */

/** Heads of text columns, which are left-aligned, unlike figures. */
const LEFT = new Set(['metric', 'row', '', 'aim']);

const HEAD = ['metric', 'Troupe', 'baseline', '', 'ratio (min to max)', 'rates/s', 'p50', 'p99', 'aim'];

export const formatOutcome = ({ title, rows, notes }: Outcome): string =>
  [
    title,
    '',
    ...aligned([HEAD, ...rows.map(cells)]),
    ...uncounted(rows),
    ...notes.map((note) => `  ${note}`),
    '',
  ].join('\n');

/** Each reason once, with the number of rows that it marks. */
const uncounted = (rows: readonly Row[]): string[] =>
  [...new Set(rows.flatMap(({ reason }) => reason ?? []))].map((reason) => {
    const count = rows.filter((row) => row.reason === reason).length;
    return `  (!) does not count, ${count === 1 ? 'one row' : `${count} rows`}: ${reason}`;
  });

const cells = (row: Row): string[] => [
  `${row.counted ? '' : '(!) '}${row.metric} [${row.unit}]`,
  figure(row.value.median),
  figure(row.baseline?.value.median),
  row.baseline?.name ?? '',
  row.ratio ? `${figure(row.ratio.median)} (${figure(row.ratio.min)} to ${figure(row.ratio.max)})` : '',
  ratesText(row),
  figure(row.p50),
  figure(row.p99),
  aimText(row),
];

const ratesText = ({ rates }: Row): string =>
  rates
    ? [rates.troupe, ...(rates.baseline === undefined ? [] : [rates.baseline])].map(figure).join(' : ')
    : '';

const aimText = (row: Row): string => {
  if (!row.aim) return '';
  const met = meetsAim(row);
  if (met === undefined) return wanted(row.aim);
  return `${wanted(row.aim)}, ${met ? 'met' : 'missed'}`;
};

const wanted = (aim: Aim): string => {
  const of = aim.of === 'value' ? '' : `${aim.of} `;
  return 'most' in aim ? `${of}at most ${aim.most}` : `${of}at least ${aim.least}`;
};

const figure = (value: number | undefined): string => {
  if (value === undefined) return '';
  if (!Number.isFinite(value)) return '?';
  return Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString('en-US')
    : String(Number(value.toPrecision(3)));
};

export const formatComparison = (comparisons: readonly Comparison[]): string => {
  const rows = comparisons.map(({ benchmark, metric, unit, before, now, worse, verdict }) => [
    `${benchmark}: ${metric} [${unit}]`,
    figure(before),
    figure(now),
    worse === undefined ? '' : `${worse > 0 ? '+' : ''}${(worse * 100).toFixed(1)} %`,
    verdict,
  ]);
  return aligned([['row', 'before', 'now', 'worse by', ''], ...rows])
    .map((line) => `${line}\n`)
    .join('');
};

const aligned = (table: readonly (readonly string[])[]): string[] => {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number): string =>
    LEFT.has(table[0]?.[column] ?? '')
      ? cell.padEnd(widths[column] ?? 0)
      : cell.padStart(widths[column] ?? 0);
  return table.map((row) => row.map(pad).join('  ').trimEnd());
};

const HEAD_CELLS = ['What', 'Troupe', 'Baseline', 'Ratio', 'Aim'];

/** The rows of all benchmarks as one Markdown table; rows that do not count are marked. */
export const markdownTable = (outcomes: readonly Outcome[]): string =>
  [HEAD_CELLS, HEAD_CELLS.map(() => '---'), ...outcomes.flatMap(({ rows }) => rows.map(markdownCells))]
    .map((row) => `| ${row.join(' | ')} |\n`)
    .join('');

const markdownCells = (row: Row): string[] => [
  `${row.metric}${row.counted ? '' : ' (does not count)'}`,
  `${figure(row.value.median)} ${row.unit}${beside(row.rates?.troupe)}${tail(row)}`,
  row.baseline
    ? `${figure(row.baseline.value.median)}${beside(row.rates?.baseline)}, ${row.baseline.name}`
    : '',
  row.ratio ? `${figure(row.ratio.median)}${spread(row.ratio)}` : '',
  aimText(row),
];

const beside = (rate: number | undefined): string => (rate === undefined ? '' : ` (${figure(rate)}/s)`);

/** Omitted for a row whose value is the p99. */
const tail = ({ p99, unit, rates, value }: Row): string =>
  p99 === undefined || p99 === value.median || rates || unit.endsWith('/s') ? '' : `, p99 ${figure(p99)}`;

const spread = ({ min, max }: Range): string => (min === max ? '' : ` (${figure(min)} to ${figure(max)})`);
