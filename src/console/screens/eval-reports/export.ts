import type { Result } from '../../eval-results/compare.ts';
import { failureText } from '../../eval-results/failure-text.ts';
import { cellText } from '../../eval-results/report.ts';
import evalTexts from '../../eval-results/texts.json' with { type: 'json' };
import { say } from '../../i18n/locale.ts';
import { toCsv } from '../../list/csv.ts';
import texts from './texts.json' with { type: 'json' };

const sayEval = (key: keyof typeof evalTexts, values?: Record<string, string | number>): string =>
  say(evalTexts, key, values);

const why = ({ item }: Result): string =>
  item.report.failures.map((failure) => failureText(failure, sayEval)).join('; ');

const HEAD = [
  'fixture',
  'cell',
  'passed',
  'kind',
  'failures',
  'tokens',
  'duration_ms',
  'cost_usd',
  'judge_cost_usd',
  'judge_score',
];

const cellsOf = (result: Result): (string | number | undefined)[] => {
  const { item, entry } = result;
  const { passed, total_tokens, session_duration_ms, cost_usd, judge_cost_usd, judge_score } = item.report;
  return [
    item.fixture_id,
    cellText(item),
    String(passed),
    entry?.kind,
    why(result),
    total_tokens,
    session_duration_ms,
    cost_usd,
    judge_cost_usd,
    judge_score,
  ];
};

export const csvOf = (results: readonly Result[]): string => toCsv([HEAD, ...results.map(cellsOf)]);

const markdownCell = (text: string): string => text.replace(/[\\|`*_<>[\]]/g, '\\$&').replace(/\s+/g, ' ');

/** Lists only the failures; passed items are included in the totals. */
export const markdownOf = (results: readonly Result[]): string => {
  const own = results.filter(({ isGone }) => !isGone);
  const passed = own.filter(({ item }) => item.report.passed).length;
  const wrong = results.filter(({ item, isGone }) => isGone || !item.report.passed);
  const rows = wrong.map((result) => {
    const kind = result.entry?.kind ?? '';
    return `| ${[result.item.fixture_id, cellText(result.item), kind, why(result)].map(markdownCell).join(' | ')} |`;
  });
  const table = ['| fixture | cell | kind | failures |', '| --- | --- | --- | --- |', ...rows];
  return [
    `# ${say(texts, 'markdown.title')}`,
    '',
    say(texts, 'markdown.passed', { passed, items: own.length }),
    ...(wrong.length > 0 ? ['', ...table] : []),
    '',
  ].join('\n');
};
