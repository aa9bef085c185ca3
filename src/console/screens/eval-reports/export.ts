import type { Result } from '../../eval-results/compare.ts';
import { failureText } from '../../eval-results/failure-text.ts';
import { cellText } from '../../eval-results/report.ts';
import evalTexts from '../../eval-results/texts.json' with { type: 'json' };
import { type Say, say } from '../../i18n/locale.ts';
import { toCsv } from '../../list/csv.ts';
import texts from './texts.json' with { type: 'json' };

const sayEval: Say<keyof typeof evalTexts> = (key, values) => say(evalTexts, key, values);

const why = ({ item }: Result): string =>
  item.report.failures.map((failure) => failureText(failure, sayEval)).join('; ');

type Cell = string | number | undefined;

const COLUMNS: readonly (readonly [head: string, of: (result: Result) => Cell])[] = [
  ['fixture', ({ item }) => item.fixture_id],
  ['cell', ({ item }) => cellText(item)],
  ['passed', ({ item }) => String(item.report.passed)],
  ['kind', ({ entry }) => entry?.kind],
  ['failures', why],
  ['tokens', ({ item }) => item.report.total_tokens],
  ['duration_ms', ({ item }) => item.report.session_duration_ms],
  ['cost_usd', ({ item }) => item.report.cost_usd],
  ['judge_cost_usd', ({ item }) => item.report.judge_cost_usd],
  ['judge_score', ({ item }) => item.report.judge_score],
];

export const csvOf = (results: readonly Result[]): string =>
  toCsv([COLUMNS.map(([head]) => head), ...results.map((result) => COLUMNS.map(([, of]) => of(result)))]);

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
