import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { anything } from '../../data/guard.ts';
import { useMayInvoke } from '../../data/identity.ts';
import { invalidate, useResource } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { Button, buttonLook, IconButton } from '../../design/Button.tsx';
import { CopyButton } from '../../design/Copy.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Notice, SkeletonRows } from '../../design/Notice.tsx';
import { Segmented } from '../../design/Segmented.tsx';
import { Ago } from '../../design/Time.tsx';
import { useEvents } from '../../event-log/use-events.ts';
import { TextDialog } from '../../feedback/FormDialog.tsx';
import { toast, toastError } from '../../feedback/toasts.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ChartToggle, useChartShown } from '../../live-charts/ChartToggle.tsx';
import { ScreenLink } from '../../navigation/links.tsx';
import { NoSuch } from '../../navigation/NoSuch.tsx';
import { cancelThread, interruptThread } from '../../run-records/control.ts';
import { newestRuns } from '../../run-records/pages.ts';
import { RunChip, shortId } from '../../run-records/RunChip.tsx';
import { isOpen, type Run, threadHref } from '../../run-records/run.ts';
import { DeleteThread } from './DeleteThread.tsx';
import { Side } from './Side.tsx';
import { ThreadComposer } from './ThreadComposer.tsx';
import { Conversation } from './ThreadConversation.tsx';
import css from './Threads.module.css';
import texts from './texts.json' with { type: 'json' };
import { currentOf, firstWordsOf, type Thread, threadOf } from './thread.ts';
import { useConversation, VISIBILITIES, type Visibility } from './use-conversation.ts';

const ThreadChart = lazy(() => import('../../live-charts/ThreadChart.tsx'));

const MOST_RUNS = 1000;

const RenameDialog = ({ thread, onClose }: { thread: Thread; onClose: () => void }) => {
  const t = useTexts(texts);
  return (
    <TextDialog
      title={t('rename.title')}
      label={t('rename.name')}
      confirm={t('common.rename')}
      initial={thread.metadata.title}
      mayBeEmpty
      onSave={async (title) => {
        await send({ method: 'PATCH', path: pathOf`/v1/threads/${thread.id}`, body: { title } }, anything);
        invalidate('/v1/threads');
        toast('success', t('act.renamed'));
      }}
      onClose={onClose}
    />
  );
};

const playgroundHref = (thread: string, agent: string | undefined): string =>
  `/playground?${new URLSearchParams({ thread, ...(agent !== undefined && { agent }) })}`;

const Actions = (props: { thread: Thread; agentId: string | undefined; isBusy: boolean }) => {
  const { thread, agentId, isBusy } = props;
  const t = useTexts(texts);
  const [open, setOpen] = useState<'rename' | 'delete'>();
  const close = (): void => setOpen(undefined);
  const changed = (said: string): void => {
    toast('info', said);
    invalidate('/v1/threads', '/v1/runs');
  };
  return (
    <>
      <ScreenLink to={playgroundHref(thread.id, agentId)} className={buttonLook}>
        {t('talk.play')}
      </ScreenLink>
      <Button icon="edit" onClick={() => setOpen('rename')}>
        {t('common.rename')}
      </Button>
      {isBusy && (
        <>
          <Button
            onClick={() =>
              void interruptThread(thread.id).then(
                (count) => changed(t('act.interrupted', { count })),
                toastError,
              )
            }
          >
            {t('act.interrupt')}
          </Button>
          <Button
            icon="stop"
            onClick={() => void cancelThread(thread.id).then(() => changed(t('act.cancelled')), toastError)}
          >
            {t('common.cancel')}
          </Button>
        </>
      )}
      <IconButton icon="trash" tone="danger" label={t('act.delete')} onClick={() => setOpen('delete')} />
      {open === 'rename' && <RenameDialog thread={thread} onClose={close} />}
      {open === 'delete' && <DeleteThread thread={thread} onClose={close} />}
    </>
  );
};

const isVisibility = (value: string | undefined): value is Visibility =>
  VISIBILITIES.some((each) => each === value);

/** The conversation of another thread, for comparison. */
const Beside = ({ threadId, onClose }: { threadId: string; onClose: () => void }) => {
  const t = useTexts(texts);
  const talk = useConversation(threadId, 'external', undefined);
  const runs = useRuns(threadId);
  return (
    <section className={`card column clip ${css.side}`} aria-label={t('beside.title')}>
      <header className="row bar spread">
        <span>
          {t('beside.title')} <ScreenLink to={threadHref(threadId)}>{shortId(threadId)}</ScreenLink>
        </span>
        <IconButton small icon="close" label={t('beside.close')} onClick={onClose} />
      </header>
      <Conversation {...{ threadId, talk, runs }} />
    </section>
  );
};

const NO_RUNS: readonly Run[] = [];

const useRuns = (threadId: string): readonly Run[] =>
  useResource(newestRuns({ thread: threadId }, MOST_RUNS)).data?.items ?? NO_RUNS;

/** Events after which other data of the thread has changed. */
const CHANGES = /^(Run|Mailbox|ToolCallSuspended)/;

const Shown = ({ thread, isGone }: { thread: Thread; isGone: boolean }) => {
  const t = useTexts(texts);
  const [address, setQuery] = useQueryState();
  const visibility = isVisibility(address.show) ? address.show : 'external';
  const { id } = thread;
  const path = pathOf`/v1/threads/${id}`;
  const log = useEvents('thread', `${path}/events`);
  const changes = useMemo(
    () => log.events.filter(({ event_kind }) => CHANGES.test(event_kind)).length,
    [log.events],
  );
  useEffect(() => {
    if (changes > 0) invalidate(path);
  }, [changes, path]);
  const newest = log.events.findLast(({ event_kind }) => event_kind === 'MessageCommitted')?.payload
    .message_seq;
  const talk = useConversation(id, visibility, typeof newest === 'number' ? newest : undefined);
  const runs = useRuns(id);
  const current = currentOf(runs);
  const mayInvoke = useMayInvoke();
  const [isChartShown, showChart] = useChartShown();
  return (
    <>
      <div className="row">
        {current && <RunChip run={current} />}
        {runs[0] && (
          <ScreenLink to={`/agents/${encodeURIComponent(runs[0].agent_id)}`}>{runs[0].agent_id}</ScreenLink>
        )}
        {thread.resource_id !== undefined && (
          <span className="quiet">
            {t('common.resource')} {thread.resource_id}
          </span>
        )}
        <span className="quiet">
          {t('common.started')} <Ago at={thread.metadata.created_at} />
        </span>
        <span className="quiet">
          {t('fact.updated')} <Ago at={thread.metadata.updated_at} />
        </span>
        <span className="row quiet mono push">
          {id} <CopyButton text={id} />
        </span>
      </div>
      <div className={css.columns}>
        <section className={`card column clip ${css.side}`}>
          <header className="row bar spread">
            <strong>{t('talk.title')}</strong>
            <Segmented
              label={t('talk.visibility')}
              value={visibility}
              options={VISIBILITIES.map((each) => [each, t(`talk.${each}`)] as const)}
              onChange={(to) => setQuery({ show: to === 'external' ? undefined : to })}
            />
            <ChartToggle isShown={isChartShown} onChange={showChart} />
          </header>
          <Conversation threadId={id} talk={talk} runs={runs} />
          {mayInvoke && (
            <div className="foot">
              <ThreadComposer threadId={id} isGone={isGone} />
            </div>
          )}
        </section>
        <div className={`column ${css.rows}`}>
          {isChartShown && !isGone && (
            <Suspense fallback={<SkeletonRows rows={4} />}>
              <ThreadChart threadId={id} />
            </Suspense>
          )}
          {address.beside === undefined ? (
            <Side thread={thread} runs={runs} events={log.events} />
          ) : (
            <Beside threadId={address.beside} onClose={() => setQuery({ beside: undefined })} />
          )}
        </div>
      </div>
    </>
  );
};

/** Polling interval, because the deletion of a thread is not reported. */
const LOOK_MS = 5000;

const OneThread = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const mayInvoke = useMayInvoke();
  const [isGone, setGone] = useState(false);
  const query = useResource({ ...threadOf(id), every: isGone ? undefined : LOOK_MS });
  const isMissing = statusOf(query.error) === 404;
  if (isMissing !== isGone) setGone(isMissing);
  const runs = useRuns(id);
  const thread = query.data;
  const isUntitled = thread !== undefined && !thread.metadata.title && !isMissing;
  const words = useResource(firstWordsOf(id), isUntitled).data;
  if (isMissing && !thread) {
    return (
      <NoSuch title={t('missing.title', { id })} to="/threads" all={t('missing.all')}>
        {t('missing.text')}
      </NoSuch>
    );
  }
  return (
    <Page
      title={thread?.metadata.title || words || t('untitled', { id: shortId(id) })}
      actions={
        thread &&
        !isMissing &&
        mayInvoke && <Actions thread={thread} agentId={runs[0]?.agent_id} isBusy={runs.some(isOpen)} />
      }
    >
      {isMissing && (
        <Notice tone="warn" title={t('gone.title')}>
          {t('gone.text')}
        </Notice>
      )}
      <Loaded query={query}>{(found) => <Shown thread={found} isGone={isMissing} />}</Loaded>
    </Page>
  );
};

export default function ThreadDetail() {
  const { id = '' } = useParams({ strict: false });
  return <OneThread key={id} id={id} />;
}
