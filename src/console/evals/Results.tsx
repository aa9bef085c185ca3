import { type ReactNode, useMemo } from 'react';
import { Chip, type Tone } from '../design/Chip.tsx';
import { FilterSelect } from '../design/Field.tsx';
import { EmptyState } from '../design/Notice.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import type { Column } from '../list/column.ts';
import { List } from '../list/List.tsx';
import { useQueryState } from '../list/use-query-state.ts';
import type { Result } from './compare.ts';
import css from './Evals.module.css';
import { failureText } from './failure-text.ts';
import { ItemDrawer } from './ItemDrawer.tsx';
import { cellText, KINDS, type Kind } from './report.ts';
import { texts } from './texts.ts';

/** The results of a run or a file, the worst first, with the details of each beside them. */

const TONES: Readonly<Record<Kind, Tone>> = {
  regression: 'error',
  missing_from_new: 'error',
  drift: 'warn',
  newly_added: 'info',
  still_failing: 'warn',
  fixed: 'success',
  unchanged: 'none',
};

const ORDER: readonly string[] = KINDS;

const KindChip = ({ kind }: { kind: string }) => {
  const t = useTexts(texts);
  const known = KINDS.find((one) => one === kind);
  return known ? <Chip tone={TONES[known]}>{t(`kind.${known}`)}</Chip> : <Chip>{kind}</Chip>;
};

const useColumns = (isCompared: boolean): Column<Result>[] => {
  const t = useTexts(texts);
  const format = useFormat();
  return useMemo(() => {
    const compared: Column<Result>[] = [
      {
        id: 'kind',
        label: t('column.kind'),
        value: ({ entry }) => (entry ? ORDER.indexOf(entry.kind) : undefined),
        text: ({ entry }) => entry?.kind ?? '',
        cell: ({ entry }) => (entry ? <KindChip kind={entry.kind} /> : '—'),
      },
    ];
    return [
      {
        id: 'fixture',
        label: t('column.fixture'),
        always: true,
        value: ({ item }) => item.fixture_id,
        cell: ({ item }, mark) => <span className={css.mono}>{mark(item.fixture_id)}</span>,
      },
      {
        id: 'result',
        label: t('column.result'),
        value: ({ item }) => (item.report.passed ? 1 : 0),
        text: () => '',
        cell: ({ item, isGone }) => {
          if (isGone) return '—';
          const { passed } = item.report;
          return <Chip tone={passed ? 'success' : 'error'}>{t(passed ? 'passed' : 'failed')}</Chip>;
        },
      },
      ...(isCompared ? compared : []),
      { id: 'cell', label: t('column.cell'), value: ({ item }) => cellText(item) },
      {
        id: 'failures',
        label: t('column.failures'),
        unsorted: true,
        value: () => undefined,
        text: ({ item }) => item.report.final_text,
        cell: ({ item, entry }) => {
          const said =
            item.report.failures.map((failure) => failureText(failure, t)).join('; ') ||
            entry?.fields.join(', ');
          return (
            <div className={css.failures} title={said}>
              {said || '—'}
            </div>
          );
        },
      },
      {
        id: 'tokens',
        label: t('column.tokens'),
        align: 'end',
        value: ({ item }) => item.report.total_tokens,
        text: () => '',
        cell: ({ item }) => format.number(item.report.total_tokens),
      },
      {
        id: 'duration',
        label: t('column.duration'),
        align: 'end',
        value: ({ item }) => item.report.session_duration_ms,
        text: () => '',
        cell: ({ item }) => format.duration(item.report.session_duration_ms),
      },
      {
        id: 'cost',
        label: t('column.cost'),
        align: 'end',
        value: ({ item }) => item.report.cost_usd,
        text: () => '',
        cell: ({ item }) => (item.report.cost_usd === undefined ? '—' : format.usd(item.report.cost_usd)),
      },
      {
        id: 'judge',
        label: t('column.judge'),
        align: 'end',
        value: ({ item }) => item.report.judge_score,
        text: () => '',
        cell: ({ item }) => item.report.judge_score?.toFixed(2) ?? '—',
      },
    ];
  }, [t, format, isCompared]);
};

const STATUSES = ['all', 'passed', 'failed'] as const;
const COMPARED = ['regression', 'fixed', 'drift'] as const;

const isShown = ({ item, entry, isGone }: Result, status: string): boolean => {
  if (status === 'passed') return item.report.passed && !isGone;
  if (status === 'failed') return !item.report.passed && !isGone;
  return status === 'all' || entry?.kind === status;
};

export const Results = (props: {
  name: string;
  results: readonly Result[];
  isCompared: boolean;
  /** What is known of a test case beside its results. */
  about?: (result: Result) => ReactNode;
}) => {
  const t = useTexts(texts);
  const { results, isCompared } = props;
  const [{ status = 'all', item: openKey }, setQuery] = useQueryState();
  const columns = useColumns(isCompared);
  const statuses = isCompared ? [...STATUSES, ...COMPARED] : STATUSES;
  const known = statuses.find((one) => one === status) ?? 'all';
  const shown = useMemo(() => results.filter((result) => isShown(result, known)), [results, known]);
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
          <FilterSelect
            label={t('filter.status')}
            value={known}
            options={statuses.map((one) => [one, t(`status.${one}`)] as const)}
            onChange={(value) => setQuery({ status: value === 'all' ? undefined : value, page: undefined })}
          />
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
