import { type ReactNode, useMemo } from 'react';
import { spentUsd } from '../../schema/usd.ts';
import { redactText } from '../data/redact-text.ts';
import { Chip, type Tone } from '../design/Chip.tsx';
import { FilterSelect } from '../design/Field.tsx';
import { EmptyState } from '../design/Notice.tsx';
import type { Fixture } from '../fixtures/dataset.ts';
import { type Format, type Say, useFormat, useTexts } from '../i18n/locale.ts';
import type { Column } from '../list/column.ts';
import { List } from '../list/List.tsx';
import { useQueryState } from '../list/use-query-state.ts';
import { KINDS, type Result, type Verdict } from './compare.ts';
import css from './EvalResults.module.css';
import { failureText } from './failure-text.ts';
import { ItemDrawer } from './ItemDrawer.tsx';
import { cellText, type Item, type Report, type Status, statusOf } from './report.ts';
import texts from './texts.json' with { type: 'json' };

/** The results of an eval run or a report file, worst first, with the details of one next to them. */

const STATUS_TONES: Readonly<Record<Status, Tone>> = {
  passed: 'success',
  failed: 'error',
  unplayable: 'warn',
};

const VERDICT_TONES: Readonly<Record<Verdict, Tone>> = {
  worse: 'error',
  missing: 'error',
  changed: 'warn',
  new: 'info',
  same: 'none',
  better: 'success',
};

type Translate = Say<keyof typeof texts>;

const problemsOf = ({ failures }: Report, t: Translate): string =>
  failures.map((failure) => failureText(failure, t)).join('; ');

/** The answer without the marks of Markdown, or why there is none. */
const outcomeText = (report: Report, t: Translate): string => {
  const { runtime_failure, final_text } = report;
  if (statusOf(report) === 'unplayable') return redactText(String(runtime_failure?.message ?? ''));
  return problemsOf(report, t) || redactText(final_text).replace(/[*`#|]+|:?-{3,}:?/g, '');
};

/** The outcome of one side: its status, and why it failed or what it answered. */
const Outcome = ({ item }: { item: Item | undefined }) => {
  const t = useTexts(texts);
  if (!item) return <span className="quiet">{t('absent')}</span>;
  const status = statusOf(item.report);
  return (
    <span className={css.outcome}>
      <Chip tone={STATUS_TONES[status]}>{t(status)}</Chip> {outcomeText(item.report, t)}
    </span>
  );
};

/** The items of a row by side; the later one is the last. */
const itemsOf = ({ item, before, isGone }: Result, isCompared: boolean): (Item | undefined)[] => {
  if (!isCompared) return [item];
  return [before, isGone ? undefined : item];
};

const outcomeColumns = (t: Translate, labels: readonly string[]): Column<Result>[] =>
  labels.map((label, place) => ({
    id: labels.length > 1 ? `result-${place}` : 'result',
    label: labels.length > 1 ? `${place === 0 ? 'A' : 'B'} · ${label}` : t('column.result'),
    shortened: true,
    value: (row) => {
      const item = itemsOf(row, labels.length > 1)[place];
      return item && (item.report.passed ? 1 : 0);
    },
    text: (row) => {
      const item = itemsOf(row, labels.length > 1)[place];
      return item ? `${problemsOf(item.report, t)} ${redactText(item.report.final_text)}`.trim() : '';
    },
    cell: (row) => <Outcome item={itemsOf(row, labels.length > 1)[place]} />,
  }));

/** A figure of both sides, one above the other. */
const figureColumn = (
  id: string,
  label: string,
  isCompared: boolean,
  of: (report: Report) => number | undefined,
  shown: (value: number) => string,
): Column<Result> => ({
  id,
  label,
  align: 'end',
  value: ({ item }) => of(item.report),
  text: () => '',
  cell: (row) => (
    <span className={css.stack}>
      {itemsOf(row, isCompared).map((item, place) => {
        const value = item && of(item.report);
        return <span key={place === 0 ? 'a' : 'b'}>{value === undefined ? '—' : shown(value)}</span>;
      })}
    </span>
  ),
});

const figureColumns = (t: Translate, format: Format, isCompared: boolean, isJudged: boolean) => [
  figureColumn('cost', t('column.cost'), isCompared, spentUsd, format.usd),
  figureColumn(
    'duration',
    t('column.duration'),
    isCompared,
    ({ session_duration_ms }) => session_duration_ms,
    format.duration,
  ),
  figureColumn('tokens', t('column.tokens'), isCompared, ({ total_tokens }) => total_tokens, format.number),
  ...(isJudged
    ? [
        figureColumn(
          'judge',
          t('column.judge'),
          isCompared,
          ({ judge_score }) => judge_score,
          (score) => score.toFixed(2),
        ),
      ]
    : []),
];

type Names = {
  /** The sides that are compared, or the only one. */
  labels: readonly string[];
  fixtures: ReadonlyMap<string, Fixture>;
};

const caseColumns = (t: Translate, { labels, fixtures }: Names, hasCells: boolean): Column<Result>[] => [
  {
    id: 'fixture',
    label: t('column.fixture'),
    always: true,
    shortened: true,
    value: ({ item }) => fixtures.get(item.fixture_id)?.user_input ?? item.fixture_id,
    text: ({ item }) => `${fixtures.get(item.fixture_id)?.user_input ?? ''} ${item.fixture_id}`.trim(),
    cell: ({ item: { fixture_id, sample_index } }, mark) => (
      <span className={css.case}>
        <span>{mark(redactText(fixtures.get(fixture_id)?.user_input ?? fixture_id))}</span>
        {fixtures.has(fixture_id) && <small>{mark(fixture_id)}</small>}
        {labels.length > 1 && sample_index !== undefined && <small> #{sample_index + 1}</small>}
      </span>
    ),
  },
  ...(labels.length > 1
    ? [
        {
          id: 'verdict',
          label: t('column.verdict'),
          value: ({ entry }: Result) => (entry ? KINDS.indexOf(entry.kind) : KINDS.length),
          text: () => '',
          cell: ({ verdict = 'same' }: Result) => (
            <Chip tone={VERDICT_TONES[verdict]}>{t(`verdict.${verdict}`)}</Chip>
          ),
        },
      ]
    : []),
  ...(labels.length === 1 && hasCells
    ? [{ id: 'cell', label: t('column.cell'), value: ({ item }: Result) => cellText(item) }]
    : []),
];

const useColumns = (results: readonly Result[], names: Names): Column<Result>[] => {
  const t = useTexts(texts);
  const format = useFormat();
  return useMemo(() => {
    const isCompared = names.labels.length > 1;
    const isJudged = results.some(({ item }) => item.report.judge_score !== undefined);
    const hasCells = results.some(({ item }) => item.cell);
    return [
      ...caseColumns(t, names, hasCells),
      ...outcomeColumns(t, names.labels),
      ...figureColumns(t, format, isCompared, isJudged),
    ];
  }, [t, format, results, names]);
};

const STATUSES = ['all', 'passed', 'failed', 'unplayable'] as const;
const COMPARED = ['worse', 'better', 'same', 'changed', 'missing'] as const;

const isShown = ({ item, verdict, isGone }: Result, status: string): boolean => {
  if (status === 'all' || verdict === status) return true;
  return !isGone && statusOf(item.report) === status;
};

export const Results = (props: {
  name: string;
  results: readonly Result[];
  names: Names;
  tools?: ReactNode;
  about?: (result: Result) => ReactNode;
}) => {
  const t = useTexts(texts);
  const { results, names } = props;
  const [{ status = 'all', item: openKey }, setQuery] = useQueryState();
  const columns = useColumns(results, names);
  const known = [...STATUSES, ...(names.labels.length > 1 ? COMPARED : [])];
  const statuses = known.filter(
    (one) => one === status || one === 'all' || results.some((result) => isShown(result, one)),
  );
  const chosen = statuses.find((one) => one === status) ?? 'all';
  const shown = useMemo(() => results.filter((result) => isShown(result, chosen)), [results, chosen]);
  const open = openKey === undefined ? -1 : shown.findIndex(({ key }) => key === openKey);
  const result = shown[open];
  const go = (to: number): void => setQuery({ item: shown[to]?.key });
  return (
    <>
      <List
        name={props.name}
        rows={shown}
        columns={columns}
        rowId={({ key }) => key}
        onOpen={({ key }) => setQuery({ item: key })}
        openId={openKey}
        searchPlaceholder={t('search')}
        filters={
          <>
            <FilterSelect
              label={t('filter.status')}
              value={chosen}
              options={statuses.map(
                (one) => [one, t(one === 'all' ? 'status.all' : statusKey(one))] as const,
              )}
              onChange={(value) => setQuery({ status: value === 'all' ? undefined : value, page: undefined })}
            />
            {props.tools}
          </>
        }
        filterKeys={['status']}
        empty={<EmptyState title={t('empty')} />}
      />
      {result && (
        <ItemDrawer
          result={result}
          about={props.about?.(result)}
          onPrevious={open > 0 ? () => go(open - 1) : undefined}
          onNext={open < shown.length - 1 ? () => go(open + 1) : undefined}
          onClose={() => setQuery({ item: undefined })}
        />
      )}
    </>
  );
};

const statusKey = (status: Status | (typeof COMPARED)[number]): keyof typeof texts =>
  status === 'passed' || status === 'failed' || status === 'unplayable' ? status : `verdict.${status}`;
