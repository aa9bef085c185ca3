import { Fragment, useState } from 'react';
import { anything } from '../../data/guard.ts';
import { useMayInvoke } from '../../data/identity.ts';
import { invalidate, useResource } from '../../data/queries.ts';
import { redactText } from '../../data/redact-text.ts';
import { pathOf, send } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { Chip, type Tone } from '../../design/Chip.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { Ago, useNow } from '../../design/Time.tsx';
import { TextDialog } from '../../feedback/FormDialog.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { RunLink } from '../../run-records/RunChip.tsx';
import css from './Threads.module.css';
import texts from './texts.json' with { type: 'json' };
import { type Dispatch, LANES, type Lane, lanesOf, mailboxOf } from './thread.ts';

const TONES: Readonly<Record<string, Tone>> = {
  Queued: 'none',
  Claimed: 'info',
  Acked: 'success',
  Cancelled: 'warn',
  Superseded: 'warn',
  DeadLetter: 'error',
};

const Lease = ({ until }: { until: number }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const left = until - useNow();
  return (
    <span>{left > 0 ? t('mail.lease', { left: format.seconds(left / 1000) }) : t('mail.leaseOver')}</span>
  );
};

const Row = ({ dispatch }: { dispatch: Dispatch }) => {
  const t = useTexts(texts);
  const now = useNow();
  const { dispatch_id, run_id, status, attempt_count, max_attempts, last_error, lease_until } = dispatch;
  return (
    <li className={`item ${css.dispatch}`} data-testid={`mailbox-row-${dispatch_id}`} data-status={status}>
      <Chip tone={TONES[status]}>{status}</Chip>
      <RunLink id={run_id} />
      {attempt_count > 0 && <span>{t('mail.attempts', { count: attempt_count, most: max_attempts })}</span>}
      {status === 'Queued' && dispatch.available_at > now && (
        <span>
          {t('mail.from')} <Ago at={dispatch.available_at} />
        </span>
      )}
      {dispatch.priority !== 128 && <span>{t('mail.priority', { priority: dispatch.priority })}</span>}
      {dispatch.dedupe_key !== null && <code title={t('mail.dedupe')}>{dispatch.dedupe_key}</code>}
      {status === 'Claimed' && lease_until !== null && <Lease until={lease_until} />}
      {dispatch.claimed_by !== null && <code title={t('mail.by')}>{dispatch.claimed_by}</code>}
      <span className="push">
        <Ago at={dispatch.updated_at} />
      </span>
      {last_error !== null && <p>{redactText(last_error)}</p>}
    </li>
  );
};

const SHORT = 50;

const LaneList = ({ lane, dispatches }: { lane: Lane; dispatches: readonly Dispatch[] }) => {
  const t = useTexts(texts);
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? dispatches : dispatches.slice(0, SHORT);
  if (dispatches.length === 0 && lane !== 'queue') return null;
  return (
    <section aria-label={t(`lane.${lane}`)}>
      <h3 className={`inset small ${css.part}`}>
        {t(`lane.${lane}`)} <span>{dispatches.length}</span>
      </h3>
      {dispatches.length === 0 && <p className={`quiet inset small ${css.part}`}>{t('lane.none')}</p>}
      <ol className="divided">
        {shown.map((dispatch, index) => (
          <Fragment key={dispatch.dispatch_id}>
            {lane === 'queue' && shown[index - 1]?.dispatch_epoch !== dispatch.dispatch_epoch && (
              <li className={`quiet ${css.epoch}`}>{t('mail.epoch', { epoch: dispatch.dispatch_epoch })}</li>
            )}
            <Row dispatch={dispatch} />
          </Fragment>
        ))}
      </ol>
      {shown.length < dispatches.length && (
        <Button small tone="quiet" onClick={() => setWhole(true)}>
          {t('lane.all', { count: dispatches.length })}
        </Button>
      )}
    </section>
  );
};

const PushDialog = ({ threadId, onClose }: { threadId: string; onClose: () => void }) => {
  const t = useTexts(texts);
  return (
    <TextDialog
      title={t('mail.push')}
      label={t('mail.text')}
      hint={t('mail.hint')}
      confirm={t('mail.go')}
      rows={4}
      onSave={async (text) => {
        const body = { payload: { text } };
        await send({ method: 'POST', path: pathOf`/v1/threads/${threadId}/mailbox`, body }, anything);
        toast('success', t('mail.pushed'));
        invalidate(pathOf`/v1/threads/${threadId}`);
      }}
      onClose={onClose}
    />
  );
};

export const Mailbox = ({ threadId }: { threadId: string }) => {
  const t = useTexts(texts);
  const query = useResource(mailboxOf(threadId));
  const mayInvoke = useMayInvoke();
  const [isPushing, setPushing] = useState(false);
  return (
    <div className="stack">
      <Loaded query={query}>
        {(dispatches) => {
          const lanes = lanesOf(dispatches);
          return dispatches.length === 0 ? (
            <EmptyState title={t('mail.none')}>{t('mail.noneText')}</EmptyState>
          ) : (
            LANES.map((lane) => <LaneList key={lane} lane={lane} dispatches={lanes[lane]} />)
          );
        }}
      </Loaded>
      <div className={`inset small ${css.part}`}>
        {mayInvoke && (
          <Button small icon="plus" onClick={() => setPushing(true)}>
            {t('mail.push')}
          </Button>
        )}
      </div>
      {isPushing && <PushDialog threadId={threadId} onClose={() => setPushing(false)} />}
    </div>
  );
};
