import { Tooltip } from '@mantine/core';
import { Chip, Dot } from '../../design/Chip.tsx';
import { Bars } from '../../design/Sparkline.tsx';
import { type Say, useFormat, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import css from './Agents.module.css';
import type { AgentRow } from './agent-row.ts';
import texts from './texts.json' with { type: 'json' };

const MOST_PLUGINS = 3;

const Plugins = ({ ids }: { ids: readonly string[] }) => {
  if (ids.length === 0) return <span>—</span>;
  return (
    <span className={css.chips} title={ids.join(', ')}>
      {ids.slice(0, MOST_PLUGINS).map((id) => (
        <Chip key={id}>{id}</Chip>
      ))}
      {ids.length > MOST_PLUGINS && <Chip>+{ids.length - MOST_PLUGINS}</Chip>}
    </span>
  );
};

const Model = ({ row }: { row: AgentRow }) => {
  const t = useTexts(texts);
  if (row.model === '') return <span>—</span>;
  return (
    <span>
      {row.isDangling && (
        <Tooltip label={t('dangling')}>
          <span role="img" aria-label={t('dangling')}>
            <Dot tone="error" />{' '}
          </span>
        </Tooltip>
      )}
      <ScreenLink to={`/models?edit=${encodeURIComponent(row.model)}`} className="mono">
        {row.model}
      </ScreenLink>
    </span>
  );
};

const Inferences = ({ row, isOff }: { row: AgentRow; isOff: boolean }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { stats } = row;
  if (isOff) return <span className="quiet">{t('stats.na')}</span>;
  if (!stats || stats.inference_count === 0) return <span className="quiet">0</span>;
  const share = stats.error_count / stats.inference_count;
  return (
    <span className={css.stats}>
      <Bars values={stats.inference_duration_histogram.map(({ count }) => count)} label={t('histogram')} />
      <span className="quiet">
        {t('p95', { duration: format.duration(stats.p95_inference_duration_ms) })}
        {share > 0 && <span className="bad"> · {t('errors', { share: format.percent(share) })}</span>}
      </span>
      <strong>{format.number(stats.inference_count)}</strong>
    </span>
  );
};

const Remote = () => {
  const t = useTexts(texts);
  return <Chip tone="agent">{t('remote')}</Chip>;
};

/** The id of an agent with its description. */
export const NAME: Pick<Column<AgentRow>, 'cell' | 'text'> = {
  text: ({ id, description }) => `${id} ${description}`,
  cell: (row, mark) => (
    <span className={css.agent}>
      <span className="mono">{mark(row.id)}</span>
      {row.isRemote && <Remote />}
      {row.description !== '' && (
        <span className={css.description} title={row.description}>
          {mark(row.description)}
        </span>
      )}
    </span>
  ),
};

export const columnsOf = (t: Say<keyof typeof texts>, isStatsOff: boolean): Column<AgentRow>[] => [
  {
    id: 'model',
    label: t('column.model'),
    shortened: true,
    value: (row) => row.model,
    cell: (row) => <Model row={row} />,
  },
  {
    id: 'plugins',
    label: t('column.plugins'),
    shortened: true,
    value: (row) => row.plugins.join(' '),
    unsorted: true,
    cell: (row) => <Plugins ids={row.plugins} />,
  },
  {
    id: 'inferences',
    label: t('column.inferences'),
    align: 'end',
    value: (row) => row.stats?.inference_count ?? 0,
    text: () => '',
    cell: (row) => <Inferences row={row} isOff={isStatsOff} />,
  },
];
