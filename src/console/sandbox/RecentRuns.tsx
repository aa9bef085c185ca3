import { useState } from 'react';
import { statusOf } from '../data/error.ts';
import { useResource } from '../data/queries.ts';
import { Chip } from '../design/Chip.tsx';
import { Drawer } from '../design/Dialog.tsx';
import { ErrorBox } from '../design/Loaded.tsx';
import { EmptyState, Notice } from '../design/Notice.tsx';
import { Ago } from '../design/Time.tsx';
import { FixtureButton } from '../fixtures/FixtureDialog.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import { TraceView } from '../run-view/RunView.tsx';
import { recentRuns, type TracedRun } from '../trace-records/traces.ts';
import css from './Sandbox.module.css';
import texts from './texts.json' with { type: 'json' };

const RunButton = (props: { run: TracedRun; isChosen: boolean; onChoose: () => void }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { run_id, started_at, ended_at, final_status } = props.run;
  /** The times of traces are whole seconds. */
  const secondsText = (seconds: number): string =>
    seconds === 0 ? `< ${format.seconds(1)}` : format.seconds(seconds);
  return (
    <button type="button" className="item" aria-pressed={props.isChosen} onClick={props.onChoose}>
      <Chip tone={final_status === 'error' ? 'error' : 'success'}>
        {t(final_status === 'error' ? 'run.error' : 'run.ok')}
      </Chip>
      <code className="grow cut" title={run_id}>
        {run_id}
      </code>
      <span className="number">{ended_at === undefined ? '—' : secondsText(ended_at - started_at)}</span>
      <Ago at={started_at} />
    </button>
  );
};

const Events = ({ runId }: { runId: string }) => {
  const t = useTexts(texts);
  return (
    <section className="stack" data-testid="recent-traces-events" aria-label={t('events')}>
      <div className="row">
        <h3 className="grow" style={{ fontSize: 13 }}>
          {t('events')}
        </h3>
        <ScreenLink to={`/runs/${encodeURIComponent(runId)}`}>{t('common.openRun')}</ScreenLink>
        <FixtureButton small runId={runId} />
      </div>
      <TraceView id={runId} rowTestId="recent-traces-event-row" />
    </section>
  );
};

/** The traced runs of an agent, and the trace of the selected run. */
export default function RecentRuns({ agentId, onClose }: { agentId: string; onClose: () => void }) {
  const t = useTexts(texts);
  const resource = recentRuns(agentId);
  const query = useResource(resource);
  const [chosen, setChosen] = useState<string>();
  const isOff = statusOf(query.error) === 404;
  const runs = query.data?.runs ?? [];
  return (
    <>
      <div className={css.scrim} data-testid="recent-traces-scrim" onPointerUp={onClose} />
      <Drawer title={t('runs.of', { agent: agentId })} onClose={onClose}>
        <div className="stack" data-wide data-testid="recent-traces-drawer">
          {isOff && (
            <div data-testid="recent-traces-not-configured">
              <Notice title={t('runs.off')}>{t('runs.off.text')}</Notice>
            </div>
          )}
          {query.error && !isOff && <ErrorBox error={query.error} onRetry={() => void query.refetch()} />}
          {query.data && runs.length === 0 && (
            <div data-testid="recent-traces-empty">
              <EmptyState title={t('runs.none')}>{t('runs.none.text')}</EmptyState>
            </div>
          )}
          {runs.length > 0 && (
            <ul className="card divided fixed frame" data-testid="recent-traces-list">
              {runs.map((run) => (
                <li key={run.run_id}>
                  <RunButton
                    run={run}
                    isChosen={run.run_id === chosen}
                    onChoose={() => setChosen(run.run_id)}
                  />
                </li>
              ))}
            </ul>
          )}
          {chosen !== undefined && <Events key={chosen} runId={chosen} />}
        </div>
      </Drawer>
    </>
  );
}
