import { useEffect, useMemo, useState } from 'react';
import type { Chart as ChartData } from '../../schema/chart.ts';
import { useResource } from '../data/queries.ts';
import { Card } from '../design/Layout.tsx';
import { SkeletonRows } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import { useLogged } from '../run-course/logged.ts';
import { newestRuns } from '../run-records/pages.ts';
import { runHref } from '../run-records/run.ts';
import { ActorChart } from './ActorChart.tsx';
import { Chart } from './Chart.tsx';
import { shownIn } from './chart.ts';
import { useCharts } from './charts.ts';
import { Frame, SMALLEST_COMPACT } from './Frame.tsx';
import { paceFor } from './pace.ts';
import { momentOf } from './path.ts';
import css from './ThreadChart.module.css';
import texts from './texts.json' with { type: 'json' };
import { currentRun, loggedId, type ShownRun, shownRun } from './thread-run.ts';
import { useFeed, useKnown } from './use-feed.ts';

/** The statechart of the current run, next to a conversation. */

/**
 * Follows a growing number so that each step can be seen, although a run may take many steps within a millisecond. The
 * follower catches up with a long backlog.
 */

/** @param from the number to begin at */
const usePaced = (count: number, from: number): number => {
  const [at, setAt] = useState(from);
  const shown = Math.min(at, count);
  useEffect(() => {
    if (shown >= count) return undefined;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      setAt(count);
      return undefined;
    }
    const timer = setTimeout(() => setAt(shown + 1), paceFor(count - shown));
    return () => clearTimeout(timer);
  }, [shown, count]);
  return shown;
};

const useShownRun = (threadId: string): ShownRun | undefined => {
  const feed = useFeed({ thread: threadId });
  const { actors } = useKnown(feed);
  const live = useMemo(() => currentRun(actors, threadId), [actors, threadId]);
  const newest = useResource(newestRuns({ thread: threadId }, 1)).data?.items[0]?.run_id;
  const course = useLogged(loggedId(live, newest));
  return useMemo(() => shownRun(live, newest, course), [live, newest, course]);
};

const Moving = ({ chart, run: { actor, known } }: { chart: ChartData; run: ShownRun }) => {
  const followed = usePaced(actor.steps.length - known, 0);
  const moment = useMemo(() => momentOf(chart, actor, known + followed), [chart, actor, known, followed]);
  const [state = ''] = moment.states;
  const focus = chart.states.find(({ path }) => path === shownIn(chart, state));
  return (
    <Frame
      size={chart}
      focus={focus}
      smallest={SMALLEST_COMPACT}
      bar={<code data-testid="thread-chart-state">{moment.states.join(' ')}</code>}
    >
      <ActorChart chart={chart} machine="run" moment={moment} />
    </Frame>
  );
};

export default function ThreadChart({ threadId }: { threadId: string }) {
  const t = useTexts(texts);
  const chart = useCharts('run')?.compact.at(-1);
  const run = useShownRun(threadId);
  return (
    <Card
      title={t('common.run')}
      flush
      className={css.card}
      actions={run && <ScreenLink to={runHref(run.runId)}>{t('common.openRun')}</ScreenLink>}
    >
      {!chart && <SkeletonRows rows={4} />}
      {chart && run && <Moving key={run.runId} chart={chart} run={run} />}
      {chart && !run && (
        <Frame
          size={chart}
          smallest={SMALLEST_COMPACT}
          bar={<span className="small">{t('thread.none')}</span>}
        >
          <Chart chart={chart} label={t('common.run')} />
        </Frame>
      )}
    </Card>
  );
}
