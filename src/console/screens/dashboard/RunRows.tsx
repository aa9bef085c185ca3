import css from '../../activity/Activity.module.css';
import { useRange } from '../../activity/RangeBar.tsx';
import { useResource } from '../../data/queries.ts';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Ago, useNow } from '../../design/Time.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { RunChip, RunReason, shortId } from '../../run-records/RunChip.tsx';
import { durationOf, isOpen, type Run, runHref } from '../../run-records/run.ts';
import { endedIn, failuresIn, RUNNING } from './open-runs.ts';
import texts from './texts.json' with { type: 'json' };

/** Rows of runs: the first words of their input lead to the run. */

const MOST_SHOWN = 6;

const Row = ({ run }: { run: Run }) => {
  const format = useFormat();
  const now = useNow();
  return (
    <li className={`item ${css.line}`}>
      {isOpen(run) && <RunChip run={run} />}
      <span className={css.words}>
        <ScreenLink to={runHref(run.run_id)} title={run.preview ?? run.run_id} className="cut">
          {run.preview ?? shortId(run.run_id)}
        </ScreenLink>
        <span className="quiet cut" title={run.agent_id}>
          {run.agent_id}
        </span>
        {run.status !== 'running' && <RunReason run={run} />}
      </span>
      {isOpen(run) ? (
        <span className="quiet">{format.seconds(durationOf(run, now))}</span>
      ) : (
        <Ago at={run.finished_at ?? run.updated_at} />
      )}
    </li>
  );
};

const Rows = ({ runs, none }: { runs: readonly Run[]; none: string }) => (
  <ul className="divided">
    {runs.length === 0 && <li className={`item quiet ${css.line}`}>{none}</li>}
    {runs.slice(0, MOST_SHOWN).map((run) => (
      <Row key={run.run_id} run={run} />
    ))}
  </ul>
);

/** Runs that wait are counted among the required actions only. */
export const OpenRuns = () => {
  const t = useTexts(texts);
  const format = useFormat();
  const running = useResource(RUNNING);
  return (
    <Card
      flush
      title={t('now.title')}
      note={running.data && t('now.note', { running: format.number(running.data.total) })}
      actions={<ScreenLink to="/runs?status=running">{t('all.runs')}</ScreenLink>}
    >
      <Loaded query={running} plain>
        {({ items }) => <Rows runs={items} none={t('now.none')} />}
      </Loaded>
    </Card>
  );
};

/** The newest failed runs in the range, of one agent or of all. */
export const FailedRuns = ({ agent }: { agent?: string }) => {
  const t = useTexts(texts);
  const { range } = useRange();
  const now = useNow();
  const all = `/runs?status=failed${agent === undefined ? '' : `&agent=${encodeURIComponent(agent)}`}`;
  return (
    <Card flush title={t('failed.title')} actions={<ScreenLink to={all}>{t('failed.all')}</ScreenLink>}>
      <Loaded query={useResource(failuresIn(range, agent))} plain>
        {({ items }) => <Rows runs={endedIn(items, range, now)} none={t('failed.none')} />}
      </Loaded>
    </Card>
  );
};
