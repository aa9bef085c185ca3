import { useEffect, useMemo, useRef, useState } from 'react';
import type { Chart as ChartData } from '../../schema/chart.ts';
import { useResource } from '../data/queries.ts';
import { Button, buttonLook } from '../design/Button.tsx';
import { Scroller } from '../design/Scroller.tsx';
import { useEvents } from '../event-log/use-events.ts';
import { useTexts } from '../i18n/locale.ts';
import { Chart } from '../live-charts/Chart.tsx';
import { arrowFor, litBy } from '../live-charts/chart.ts';
import { useCharts } from '../live-charts/charts.ts';
import { momentOf } from '../live-charts/path.ts';
import { ScreenLink } from '../navigation/links.tsx';
import { isEnd } from '../run-course/moments.ts';
import { useCourse } from '../run-course/use-course.ts';
import { newestRuns } from '../run-records/pages.ts';
import { type Run, runHref, runOf } from '../run-records/run.ts';
import { noteWatched } from './choice.ts';
import css from './GettingStarted.module.css';
import texts from './texts.json' with { type: 'json' };

/** Time for each transition, so that a run of a few milliseconds can be followed. */
const TRANSITION_MS = 700;

const prefersStillness = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Counts from 0 to `count`, one for each transition; for readers who prefer reduced motion, it is `count` at once. */
const useReplay = (count: number): { at: number; again: () => void } => {
  const [at, setAt] = useState(0);
  useEffect(() => {
    if (at >= count) return undefined;
    const timer = setTimeout(() => setAt(prefersStillness() ? count : at + 1), TRANSITION_MS);
    return () => clearTimeout(timer);
  }, [at, count]);
  return { at: Math.min(at, count), again: () => setAt(0) };
};

/** Scrolls a chart that is larger than its frame to the innermost active state. */
const useInView = (chart: ChartData | undefined, lit: ReadonlySet<string>) => {
  const frame = useRef<HTMLElement>(null);
  const state = chart?.states.findLast(({ path }) => lit.has(path));
  useEffect(() => {
    const element = frame.current;
    if (!element || !state) return;
    element.scrollTo({
      left: state.x + state.width / 2 - element.clientWidth / 2,
      top: state.y + state.height / 2 - element.clientHeight / 2,
      behavior: prefersStillness() ? 'instant' : 'smooth',
    });
  }, [state]);
  return frame;
};

const NOWHERE: ReadonlySet<string> = new Set();

/** The run in its chart, transition by transition. */
const Replay = ({ run }: { run: Run }) => {
  const t = useTexts(texts);
  const charts = useCharts('run');
  const { events } = useEvents('run', `${runOf(run.run_id).path}/events`, isEnd);
  const { steps, moments } = useCourse(events);
  const { at, again } = useReplay(steps.length);
  const isOver = steps.length > 0 && at === steps.length;
  useEffect(() => {
    if (isOver) noteWatched();
  }, [isOver]);
  const chart = charts?.levels[0];
  const moment = useMemo(() => {
    const end = moments.at(-1)?.state;
    return chart && end !== undefined ? momentOf(chart, { steps, state: [end] }, at) : undefined;
  }, [chart, steps, moments, at]);
  const lit = useMemo(() => (chart && moment ? litBy(chart, moment.states) : NOWHERE), [chart, moment]);
  const frame = useInView(chart, lit);
  if (!chart || !moment) return null;
  const arrow = moment.step && arrowFor(chart, moment.step.transition);
  const states = moment.states.join(' ');
  return (
    <>
      <Scroller ref={frame} label={t('watch.chart')} className={`card ${css.chart}`}>
        <div style={{ width: chart.width, height: chart.height }}>
          <Chart
            chart={chart}
            label={t('watch.state', { state: states })}
            lit={lit}
            passed={moment.passed}
            flash={arrow === undefined ? undefined : { arrow, nonce: at }}
          />
        </div>
      </Scroller>
      <div className="row">
        <code style={{ minWidth: '20ch' }} data-testid="guide-state">
          {states}
        </code>
        <Button icon="refresh" disabled={!isOver} onClick={again}>
          {t('common.replay')}
        </Button>
        <ScreenLink to={runHref(run.run_id)} className={buttonLook}>
          {t('common.openRun')}
        </ScreenLink>
      </div>
    </>
  );
};

const NEWEST = newestRuns({}, 1);

/** Replays the newest run. */
export default function WatchStep() {
  const t = useTexts(texts);
  const newest = useResource(NEWEST).data;
  const run = newest?.items[0];
  if (run) return <Replay key={run.run_id} run={run} />;
  return newest ? <p className="soft">{t('watch.none')}</p> : null;
}
