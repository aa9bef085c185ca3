import type { DiffEntry, EvalDiff, EvalItem, EvalRun } from '../../schema/eval-run.ts';
import { failureText } from './failure-text.ts';
import { dollars, nameOf, type Outcome, percent } from './outcome.ts';

/** An eval run as a comment on a change: the verdict, then failures, then differences from the baseline. */

const MOST_ROWS = 50;

export const renderMarkdown = (run: EvalRun, diff: EvalDiff | undefined, outcome: Outcome): string => {
  const { totals, reasons } = outcome;
  const facts = [
    `${totals.passed} of ${totals.items} passed (${percent(totals.items === 0 ? 0 : totals.passed / totals.items)})`,
    `${totals.tokens} tokens`,
    ...(totals.cost_usd === undefined ? [] : [dollars(totals.cost_usd)]),
    `revision ${run.dataset_revision}`,
    `run \`${run.id}\``,
  ];
  const parts = [
    `## ${reasons.length === 0 ? '✅' : '❌'} ${inline(run.dataset_id)}`,
    facts.join(' · '),
    ...(reasons.length === 0 ? [] : [reasons.map((reason) => `- ${inline(reason)}`).join('\n')]),
    ...section('Failed', ['Item', 'Why'], run.items.filter(({ report }) => !report.passed).map(failedRow)),
    ...section('Compared with the baseline', ['Item', 'Difference', 'Details'], changes(diff).map(changeRow)),
  ];
  return `${parts.join('\n\n')}\n`;
};

const changes = (diff: EvalDiff | undefined): readonly DiffEntry[] =>
  (diff?.entries ?? []).filter(({ kind }) => kind !== 'unchanged');

const section = (
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] => {
  if (rows.length === 0) return [];
  const lines = [head, head.map(() => '---'), ...rows.slice(0, MOST_ROWS).map((row) => row.map(inline))];
  const table = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  const more = rows.length - MOST_ROWS;
  return [`### ${title} (${rows.length})`, more > 0 ? `${table}\n\n… and ${more} more` : table];
};

const failedRow = (item: EvalItem): readonly string[] => [
  nameOf(item),
  item.report.failures.map(failureText).join('; '),
];

const changeRow = (entry: DiffEntry): readonly string[] => [nameOf(entry), entry.kind, detailsOf(entry)];

const detailsOf = (entry: DiffEntry): string => {
  if (entry.kind === 'drift') return entry.fields.join(', ');
  if (entry.kind === 'newly_added') return entry.passed ? 'passed' : 'failed';
  return 'new_failures' in entry ? entry.new_failures.join(', ') : '';
};

const LONGEST = 300;

/** Escapes a text of a model for one table cell, so that Markdown and HTML in it are shown as text. */
const inline = (text: string): string => {
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return short.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_{}[\]<>|~#@]/g, '\\$&');
};
