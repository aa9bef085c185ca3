import { useMemo } from 'react';
import { useResource } from '../../data/queries.ts';
import { Chip, type Tone } from '../../design/Chip.tsx';
import { EmptyState, Notice, SkeletonRows } from '../../design/Notice.tsx';
import type { LogEvent } from '../../events/event.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { shortId } from '../../runs/RunChip.tsx';
import { Chart } from '../../statechart/Chart.tsx';
import { litBy } from '../../statechart/chart.ts';
import { useCharts } from '../../statechart/charts.ts';
import { Frame } from '../../statechart/Frame.tsx';
import { momentOf } from '../../statechart/path.ts';
import { createWays, machines } from './machine.ts';
import css from './Parts.module.css';
import { type Part, partAt, partsOf, stepsOf } from './parts.ts';
import { texts } from './texts.ts';

const TONES: Readonly<Record<string, Tone>> = {
  running: 'info',
  resuming: 'info',
  claimed: 'info',
  suspended: 'warn',
  succeeded: 'success',
  acked: 'success',
  failed: 'error',
  deadLetter: 'error',
};

const useWays = (machine: Part['machine']) => {
  const found = useResource(machines).data?.find(({ name }) => name === machine);
  return useMemo(() => found && createWays(found), [found]);
};

/** The part in the chart of its machine, with the way that it had come. */
const PartChart = ({ part, at }: { part: Part; at: number }) => {
  const t = useTexts(texts);
  const charts = useCharts(part.machine);
  const ways = useWays(part.machine);
  const chart = charts?.levels.at(-1);
  if (charts === undefined) return <SkeletonRows rows={4} />;
  const now = partAt(part, at);
  if (!chart || !now) return <Notice title={t('chart.failed')}>{null}</Notice>;
  const steps = ways ? stepsOf(part, now.moves, ways) : [];
  const { passed } = momentOf(chart, { steps, state: [] }, undefined);
  return (
    <div className={css.chart} data-testid="part-statechart" data-state={now.state}>
      <Frame size={chart} levels={1} level={0} onLevel={() => {}} bar={<code>{part.machine}</code>}>
        <Chart
          chart={chart}
          label={`${t('chart.title')}: ${now.state}`}
          lit={litBy(chart, [now.state])}
          passed={passed}
        />
      </Frame>
    </div>
  );
};

/** Calls of tools and deliveries of a run, each in its chart, at the moment that is looked at. */
export const Parts = ({ events, at }: { events: readonly LogEvent[]; at: number | undefined }) => {
  const t = useTexts(texts);
  const [query, setQuery] = useQueryState();
  const parts = useMemo(() => partsOf(events), [events]);
  const place = at ?? events.length;
  const begun = parts.flatMap((part) => {
    const state = partAt(part, place)?.state;
    return state === undefined ? [] : [{ part, state }];
  });
  const chosen = begun.find(({ part }) => part.id === query.part) ?? begun[0];
  if (!chosen) return <EmptyState title={t('parts.none')}>{null}</EmptyState>;
  return (
    <div className={css.parts}>
      <ul className={css.list} aria-label={t('tab.parts')}>
        {begun.map(({ part, state }) => (
          <li key={`${part.machine} ${part.id}`}>
            <button
              type="button"
              aria-pressed={part === chosen.part}
              title={part.id}
              onClick={() => setQuery({ part: part.id })}
            >
              <code>{part.machine === 'dispatch' ? t('parts.delivery') : part.name}</code>
              <span className={css.id}>{shortId(part.id)}</span>
              <Chip tone={TONES[state] ?? 'none'}>{state}</Chip>
            </button>
          </li>
        ))}
      </ul>
      <PartChart part={chosen.part} at={place} />
    </div>
  );
};
