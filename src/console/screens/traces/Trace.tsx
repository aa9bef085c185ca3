import { Navigate, useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { statusOf } from '../../data/error.ts';
import { useResource } from '../../data/queries.ts';
import { Button } from '../../design/Button.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded, LoadedById } from '../../design/Loaded.tsx';
import { FixtureButton } from '../../fixtures/FixtureDialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { NoSuch } from '../../navigation/NoSuch.tsx';
import { shortId } from '../../run-records/RunChip.tsx';
import { type Run, runHref, runOf } from '../../run-records/run.ts';
import { RunView } from '../../run-view/RunView.tsx';
import { type Story, storyOfTrace, useRunLog, useStory } from '../../run-view/story.ts';
import { type TraceEvent, tracedRuns, traceEvents } from '../../trace-records/traces.ts';
import texts from './texts.json' with { type: 'json' };

/** A trace is a run seen as spans, so the page of a stored run shows it. Here are pairs, and runs that are not stored. */

const ANY_TRACE = tracedRuns({}, 1);

const lengthOf = ({ spans: [run] }: Story): number => (run?.to === undefined ? 0 : run.to - run.from);

const OneStory = ({ story, length }: { story: Story; length?: number | undefined }) => {
  const t = useTexts(texts);
  return (
    <section aria-label={t('one', { id: shortId(story.id) })}>
      <header className="row" style={{ marginBottom: 8 }}>
        <code title={story.id}>{shortId(story.id)}</code>
        {story.run && <ScreenLink to={runHref(story.id)}>{t('common.openRun')}</ScreenLink>}
        <span className="push" />
        <FixtureButton small runId={story.id} />
      </header>
      <RunView story={story} length={length} rowTestId="recent-traces-event-row" />
    </section>
  );
};

type Shown = (story: Story) => React.ReactNode;

const Logged = ({ run, children }: { run: Run; children: Shown }) => {
  const { log } = useRunLog(run.run_id);
  return children(useStory(run, log.events));
};

const Traced = ({ id, trace, children }: { id: string; trace: readonly TraceEvent[]; children: Shown }) =>
  children(useMemo(() => storyOfTrace(id, trace), [id, trace]));

const Unstored = ({ id, children }: { id: string; children: Shown }) => {
  const t = useTexts(texts);
  const query = useResource(traceEvents(id));
  const unknown = <NoSuch title={t('one.missing', { id })} to="/traces" all={t('one.all')} />;
  return (
    <LoadedById query={query} list={ANY_TRACE} unknown={unknown}>
      {(trace) => (
        <Traced id={id} trace={trace}>
          {children}
        </Traced>
      )}
    </LoadedById>
  );
};

/** The story of a run, from its events if it is stored, and from its trace otherwise. */
const WithStory = ({ id, children }: { id: string; children: Shown }) => {
  const run = useResource(runOf(id));
  if (statusOf(run.error) === 404) return <Unstored id={id}>{children}</Unstored>;
  return <Loaded query={run}>{(stored) => <Logged run={stored}>{children}</Logged>}</Loaded>;
};

export default function Trace() {
  const t = useTexts(texts);
  const { id = '' } = useParams({ strict: false });
  const [{ with: beside }, setQuery] = useQueryState();
  if (beside === undefined) {
    return (
      <WithStory key={id} id={id}>
        {(story) =>
          story.run ? (
            <Navigate to={runHref(id)} replace />
          ) : (
            <Page title={t('one', { id: shortId(id) })}>
              <OneStory story={story} />
            </Page>
          )
        }
      </WithStory>
    );
  }
  return (
    <Page
      title={t('one', { id: shortId(id) })}
      purpose={`${t('one.beside')} ${shortId(beside)}`}
      actions={<Button onClick={() => setQuery({ with: undefined })}>{t('one.alone')}</Button>}
    >
      <WithStory key={`${id} ${beside}`} id={id}>
        {(one) => (
          <WithStory id={beside}>
            {(other) => (
              <div className="stack">
                <OneStory story={one} length={lengthOf(other)} />
                <OneStory story={other} length={lengthOf(one)} />
              </div>
            )}
          </WithStory>
        )}
      </WithStory>
    </Page>
  );
}
