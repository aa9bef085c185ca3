import { useEffect, useState } from 'react';
import { useResource } from '../../data/queries.ts';
import { type RunsSummary, runsSummary } from '../../data/resources.ts';
import { Card, Stat } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Sparkline } from '../../design/Sparkline.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../shell/links.tsx';
import css from './Dashboard.module.css';
import { texts } from './texts.ts';

/** Ten minutes of looks. */
const MOST_KEPT = 120;

const useCourse = (summary: RunsSummary | undefined, at: number): readonly RunsSummary[] => {
  const [course, setCourse] = useState<readonly RunsSummary[]>([]);
  useEffect(() => {
    if (summary && at > 0) setCourse((before) => [...before, summary].slice(-MOST_KEPT));
  }, [summary, at]);
  return course;
};

const Numbers = ({ summary, course }: { summary: RunsSummary; course: readonly RunsSummary[] }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { waiting, running, created } = summary;
  return (
    <div className={css.workload}>
      <ScreenLink to="/inbox">
        <Stat
          size="hero"
          tone={waiting > 0 ? 'warn' : undefined}
          label={t('workload.waiting')}
          value={format.number(waiting)}
        />
      </ScreenLink>
      <div className={css.pair}>
        <ScreenLink to="/runs?status=running">
          <Stat label={t('workload.running')} value={format.number(running)} />
        </ScreenLink>
        <ScreenLink to="/runs?status=created">
          <Stat label={t('workload.queued')} value={format.number(created)} />
        </ScreenLink>
      </div>
      <div className={css.course}>
        <div>
          <Sparkline
            width={240}
            values={course.map((one) => one.running)}
            color="--info"
            label={t('workload.course')}
          />
          <Sparkline
            width={240}
            values={course.map((one) => one.waiting)}
            color="--warn"
            label={t('workload.waiting')}
          />
        </div>
        {t('workload.since')}
      </div>
    </div>
  );
};

export const Workload = () => {
  const t = useTexts(texts);
  const query = useResource(runsSummary);
  const course = useCourse(query.data, query.dataUpdatedAt);
  return (
    <Card className={css.four} title={t('workload.title')} note={t('workload.note')}>
      <Loaded query={query} off={runsSummary.off} plain>
        {(summary) => <Numbers summary={summary} course={course} />}
      </Loaded>
    </Card>
  );
};
