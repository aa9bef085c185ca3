import { Tooltip } from '@mantine/core';
import { useMemo } from 'react';
import { Chip, Dot } from '../../design/Chip.tsx';
import { SourceChip } from '../../design/SourceChip.tsx';
import { Bars } from '../../design/Sparkline.tsx';
import { Ago } from '../../design/Time.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { ScreenLink } from '../../shell/links.tsx';
import css from './Agents.module.css';
import type { AgentRow } from './agent-row.ts';
import { texts } from './texts.ts';

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
    <span className={css.model}>
      {row.isDangling && (
        <Tooltip label={t('dangling')}>
          <span role="img" aria-label={t('dangling')}>
            <Dot tone="error" />
          </span>
        </Tooltip>
      )}
      <ScreenLink to={`/models?edit=${encodeURIComponent(row.model)}`} className={css.mono}>
        {row.model}
      </ScreenLink>
    </span>
  );
};

const Inferences = ({ row, isOff }: { row: AgentRow; isOff: boolean }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { stats } = row;
  if (isOff) return <span className={css.quiet}>{t('stats.na')}</span>;
  if (!stats || stats.inference_count === 0) return <span className={css.quiet}>0</span>;
  const share = stats.error_count / stats.inference_count;
  return (
    <span className={css.stats}>
      <Bars values={stats.inference_duration_histogram.map(({ count }) => count)} label={t('histogram')} />
      <span className={css.quiet}>
        {t('p95', { duration: format.duration(stats.p95_inference_duration_ms) })}
        {share > 0 && <span className={css.bad}> · {t('errors', { share: format.percent(share) })}</span>}
      </span>
      <strong>{format.number(stats.inference_count)}</strong>
    </span>
  );
};

export const useAgentColumns = (isStatsOff: boolean): Column<AgentRow>[] => {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        id: 'id',
        label: t('column.agent'),
        always: true,
        value: (row) => row.id,
        text: (row) => `${row.id} ${row.description}`,
        cell: (row, mark) => (
          <span className={css.agent}>
            <span className={css.mono}>{mark(row.id)}</span>
            {row.isRemote && <Chip tone="agent">{t('remote')}</Chip>}
            {row.description !== '' && (
              <span className={css.description} title={row.description}>
                {mark(row.description)}
              </span>
            )}
          </span>
        ),
      },
      {
        id: 'model',
        label: t('column.model'),
        value: (row) => row.model,
        cell: (row) => <Model row={row} />,
      },
      {
        id: 'plugins',
        label: t('column.plugins'),
        value: (row) => row.plugins.join(' '),
        unsorted: true,
        cell: (row) => <Plugins ids={row.plugins} />,
      },
      {
        id: 'modified',
        label: t('column.modified'),
        value: (row) => row.modified,
        text: () => '',
        cell: (row) => (
          <span title={row.actor}>
            <Ago at={row.modified} />
          </span>
        ),
      },
      {
        id: 'source',
        label: t('column.source'),
        value: (row) => row.source,
        text: () => '',
        cell: (row) => <SourceChip state={row.source} />,
      },
      {
        id: 'inferences',
        label: t('column.inferences'),
        align: 'end',
        value: (row) => row.stats?.inference_count ?? 0,
        text: () => '',
        cell: (row) => <Inferences row={row} isOff={isStatsOff} />,
      },
    ],
    [t, isStatsOff],
  );
};
