import type { ReactNode } from 'react';
import { Card } from '../design/Layout.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import { type ColumnsOf, StatTable } from './StatTable.tsx';
import { modelsIn, runsIn, type Stats, shareOf, tokensIn, toolsIn } from './stats.ts';
import texts from './texts.json' with { type: 'json' };

/** Figures by agent, tool and model. */

/** Under this name the service counts calls of tools that do not exist. */
const NO_TOOL = 'unknown';

const Frame = <Row,>(props: {
  title: string;
  none: string;
  rows: readonly Row[];
  rowId: (row: Row) => string;
  columns: ColumnsOf<Row>;
}) => (
  <Card title={props.title} flush>
    <StatTable {...props} label={props.title} sortedBy={1} />
  </Card>
);

const useCells = () => {
  const format = useFormat();
  return {
    format,
    share: (value: number): ReactNode => (
      <span className={value > 0 ? 'bad' : 'quiet'}>{format.percent(value)}</span>
    ),
    link: (path: string) => (id: string) => (
      <ScreenLink to={path.replace('{id}', encodeURIComponent(id))}>{id}</ScreenLink>
    ),
  };
};

export const AgentTable = ({ stats }: { stats: Stats }) => {
  const t = useTexts(texts);
  const { format, share, link } = useCells();
  return (
    <Frame
      title={t('agents')}
      none={t('none')}
      rows={stats.agents.filter((one) => runsIn(one) + one.inference_count > 0)}
      rowId={({ agent_id }) => agent_id}
      columns={(column) => [
        column(t('common.agent'), ({ agent_id }) => agent_id, link('/agents/{id}/dashboard')),
        column(t('common.runs'), runsIn, format.number, 'bar'),
        column(t('failed'), (one) => shareOf(one.failed_runs, runsIn(one)), share),
        column(t('time.p95'), (one) => one.p95_inference_duration_ms, format.duration),
        column(t('tokens'), tokensIn, format.compact),
        column(
          t('common.cost'),
          ({ cost_usd = -1 }) => cost_usd,
          (usd) => format.usd(usd < 0 ? undefined : usd),
        ),
      ]}
    />
  );
};

const TIMES = ['avg', 'p50', 'p95', 'p99', 'max', 'total'] as const;

/** @param isShort only the columns that matter most */
export const ToolTable = ({ stats, isShort }: { stats: Stats; isShort?: boolean }) => {
  const t = useTexts(texts);
  const { format, share, link } = useCells();
  const name = (tool: string): ReactNode =>
    tool === NO_TOOL ? (
      <span title={t('tools.unknownNote')}>{t('tools.unknown')}</span>
    ) : (
      link('/tools/{id}')(tool)
    );
  return (
    <Frame
      title={t('tools')}
      none={t('tools.none')}
      rows={toolsIn(stats)}
      rowId={({ tool }) => tool}
      columns={(column) => [
        column(t('common.tool'), ({ tool }) => tool, name),
        column(t('common.calls'), ({ call_count }) => call_count, format.number, 'bar'),
        column(t('failed'), (one) => shareOf(one.failure_count, one.call_count), share),
        ...TIMES.filter((time) => !isShort || time === 'p95').map((time) =>
          column(t(`time.${time}`), (one) => one[`${time}_duration_ms`], format.duration),
        ),
      ]}
    />
  );
};

export const ModelTable = ({ stats }: { stats: Stats }) => {
  const t = useTexts(texts);
  const { format, share } = useCells();
  return (
    <Frame
      title={t('common.models')}
      none={t('models.none')}
      rows={modelsIn(stats.agents)}
      rowId={({ provider_id, model }) => `${provider_id}/${model}`}
      columns={(column) => [
        column(
          t('common.model'),
          ({ provider_id, model }) => `${provider_id}/${model}`,
          (name, { provider_id: id }) => (
            <ScreenLink to={`/providers?edit=${encodeURIComponent(id)}`}>{name}</ScreenLink>
          ),
        ),
        column(t('common.calls'), ({ inference_count }) => inference_count, format.number, 'bar'),
        column(t('failed'), (one) => shareOf(one.error_count, one.inference_count), share),
        column(t('tokens'), tokensIn, format.compact),
        column(
          t('common.cost'),
          ({ cost_usd = -1 }) => cost_usd,
          (usd) => (usd < 0 ? t('cost.noPrice') : format.usd(usd)),
        ),
      ]}
    />
  );
};
