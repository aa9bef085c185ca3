import { useMemo } from 'react';
import { useResource } from '../../data/queries.ts';
import { Chip } from '../../design/Chip.tsx';
import { datasets, EVALS_OFF, type ListedDataset } from '../../fixtures/dataset.ts';
import { useTexts } from '../../i18n/locale.ts';
import { FIRST } from '../../list/columns.tsx';
import { ListScreen } from '../../list/ListScreen.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { ScreenLink } from '../../navigation/links.tsx';
import { type RunSummary, useEvalRuns } from '../eval-runs/runs.ts';
import { DeleteDataset } from './DeleteDataset.tsx';
import { NewDialog } from './NewDialog.tsx';
import texts from './texts.json' with { type: 'json' };

type Row = ListedDataset & { last: RunSummary | undefined };

const Last = ({ row: { last } }: { row: Row }) => {
  const t = useTexts(texts);
  if (!last) return <span className="quiet">{t('last.none')}</span>;
  const { passed_count: passed, item_count: items, failed_count: failed } = last;
  return (
    <ScreenLink to={`/eval-runs/${encodeURIComponent(last.id)}`}>
      <Chip tone={failed > 0 ? 'error' : 'success'}>{t('last.passed', { passed, items })}</Chip>
    </ScreenLink>
  );
};

const columnsOf: ColumnsOf<Row, keyof typeof texts> = (t) => [
  { id: 'id', label: t('column.dataset'), ...FIRST, isCode: true, value: (row) => row.id },
  { id: 'description', shortened: true, value: (row) => row.description },
  { id: 'fixtures', align: 'end', value: (row) => row.fixture_count },
  {
    id: 'last',
    value: (row) => (row.last ? row.last.passed_count / Math.max(1, row.last.item_count) : undefined),
    text: () => '',
    cell: (row) => <Last row={row} />,
  },
];

export default function Datasets() {
  const t = useTexts(texts);
  const query = useResource(datasets);
  const runs = useEvalRuns().data;
  const rows = useMemo(
    () =>
      (query.data?.datasets ?? []).map((dataset) => ({
        ...dataset,
        last: runs?.find((run) => run.dataset_id === dataset.id),
      })),
    [query.data, runs],
  );
  return (
    <ListScreen
      name="datasets"
      texts={texts}
      query={query}
      off={EVALS_OFF}
      rows={rows}
      columns={columnsOf}
      rowId={({ id }) => id}
      rowHref={({ id }) => `/datasets/${encodeURIComponent(id)}`}
      menu={(row) => [
        { label: t('runs'), icon: 'evalRuns', act: `/eval-runs?dataset=${encodeURIComponent(row.id)}` },
        {
          label: t('delete.confirm'),
          icon: 'trash',
          tone: 'danger',
          dialog: (close) => <DeleteDataset id={row.id} revision={row.revision} onClose={close} />,
        },
      ]}
      create={{ label: t('new'), hasPlus: true, dialog: (close) => <NewDialog onClose={close} /> }}
    />
  );
}
