import type { Result, Totals } from '../../evals/compare.ts';
import { failureText } from '../../evals/failure-text.ts';
import { cellText } from '../../evals/report.ts';
import { texts as evalTexts } from '../../evals/texts.ts';
import { say } from '../../i18n/locale.ts';
import { texts } from './texts.ts';

const sayEval = (key: keyof typeof evalTexts.en, values?: Record<string, string | number>): string =>
  say(evalTexts, key, values);

const why = ({ item }: Result): string =>
  item.report.failures.map((failure) => failureText(failure, sayEval)).join('; ');

/** What begins a formula in a spreadsheet is text there too. */
const csvCell = (value: string | number | undefined): string => {
  const text = String(value ?? '');
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const csvOf = (results: readonly Result[]): string =>
  [
    ['fixture', 'cell', 'passed', 'kind', 'failures', 'tokens', 'duration_ms', 'cost_usd', 'judge_score'],
    ...results.map((result) => {
      const { item, entry } = result;
      const { passed, total_tokens, session_duration_ms, cost_usd, judge_score } = item.report;
      return [
        item.fixture_id,
        cellText(item),
        String(passed),
        entry?.kind,
        why(result),
        total_tokens,
        session_duration_ms,
        cost_usd,
        judge_score,
      ];
    }),
  ]
    .map((row) => row.map(csvCell).join(','))
    .join('\r\n');

const markdownCell = (text: string): string => text.replace(/[\\|`*_<>[\]]/g, '\\$&').replace(/\s+/g, ' ');

/** Whatever passed is in the numbers; the others are named. */
export const markdownOf = (results: readonly Result[], { items, passed }: Totals): string => {
  const wrong = results.filter(({ item, isGone }) => isGone || !item.report.passed);
  const rows = wrong.map((result) => {
    const kind = result.entry?.kind ?? '';
    return `| ${[result.item.fixture_id, cellText(result.item), kind, why(result)].map(markdownCell).join(' | ')} |`;
  });
  const table = ['| fixture | cell | kind | failures |', '| --- | --- | --- | --- |', ...rows];
  return [
    `# ${say(texts, 'markdown.title')}`,
    '',
    say(texts, 'markdown.passed', { passed, items }),
    ...(wrong.length > 0 ? ['', ...table] : []),
    '',
  ].join('\n');
};
