import { useEffect, useMemo, useState } from 'react';
import type { Chart as ChartData } from '../../schema/chart.ts';
import { useTexts } from '../i18n/locale.ts';
import type { Actor } from './actors.ts';
import { Chart } from './Chart.tsx';
import { arrowFor, litBy } from './chart.ts';
import type { Feed } from './feed.ts';
import { momentOf } from './path.ts';
import { texts } from './texts.ts';

/** One actor in its chart: where it stands, the way that it came, and the step that it takes right now. */
export const ActorChart = ({
  chart,
  feed,
  actor,
  at,
  chosen,
  onChoose,
}: {
  chart: ChartData;
  feed: Feed | undefined;
  actor: Actor;
  /** Steps taken at the moment that is looked at; undefined: now. */
  at: number | undefined;
  chosen?: string | undefined;
  onChoose?: (path: string) => void;
}) => {
  const t = useTexts(texts);
  const [flash, setFlash] = useState<{ arrow: number; nonce: number }>();
  const moment = useMemo(() => momentOf(chart, actor, at), [chart, actor, at]);
  const lit = useMemo(() => litBy(chart, moment.states), [chart, moment]);
  useEffect(() => {
    if (at !== undefined) return;
    return feed?.onFrame(({ frame }) => {
      if (frame.type !== 'transition' || frame.actor !== actor.id) return;
      const arrow = arrowFor(chart, frame.transition);
      if (arrow !== undefined) setFlash((before) => ({ arrow, nonce: (before?.nonce ?? 0) + 1 }));
    });
  }, [feed, chart, actor.id, at]);
  const states = moment.states.join(' ');
  return (
    <div data-testid={`${actor.machine}-statechart`} data-state={states}>
      <Chart
        chart={chart}
        label={t('inState', { name: actor.machine, states })}
        lit={lit}
        passed={moment.passed}
        flash={at === undefined ? flash : undefined}
        chosen={chosen}
        onChoose={onChoose}
      />
    </div>
  );
};
