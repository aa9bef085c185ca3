import { useMemo } from 'react';
import { useResource } from '../data/queries.ts';
import { Notice, SkeletonRows } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { Chart } from '../live-charts/Chart.tsx';
import { litBy } from '../live-charts/chart.ts';
import { useCharts } from '../live-charts/charts.ts';
import { Frame, SMALLEST_COMPACT } from '../live-charts/Frame.tsx';
import { momentOf } from '../live-charts/path.ts';
import { createWays, machines } from '../run-course/machine.ts';
import { type Part, partAt, stepsOf } from './parts.ts';
import css from './RunView.module.css';
import texts from './texts.json' with { type: 'json' };

const useWays = (machine: Part['machine']) => {
  const found = useResource(machines).data?.find(({ name }) => name === machine);
  return useMemo(() => found && createWays(found), [found]);
};

/** A call or a dispatch in the chart of its machine, with the path so far. */
export const PartChart = ({ part, at }: { part: Part; at: number }) => {
  const t = useTexts(texts);
  const charts = useCharts(part.machine);
  const ways = useWays(part.machine);
  const chart = charts?.compact.at(-1);
  if (charts === undefined) return <SkeletonRows rows={4} />;
  const now = partAt(part, at);
  if (!chart || !now) return <Notice title={t('chart.failed')}>{null}</Notice>;
  const steps = ways ? stepsOf(part, now.moves, ways) : [];
  const { passed } = momentOf(chart, { steps, state: [] }, undefined);
  return (
    <div className={css.chart} data-testid="part-statechart" data-state={now.state}>
      <Frame
        size={chart}
        smallest={SMALLEST_COMPACT}
        focus={chart.states.find(({ path }) => path === now.state)}
        bar={<code>{now.state}</code>}
      >
        <Chart
          chart={chart}
          label={`${t('chart')}: ${now.state}`}
          lit={litBy(chart, [now.state])}
          passed={passed}
        />
      </Frame>
    </div>
  );
};
