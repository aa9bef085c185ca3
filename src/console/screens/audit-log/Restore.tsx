import { useState } from 'react';
import { anyObject } from '../../data/guard.ts';
import { invalidate, useResource } from '../../data/queries.ts';
import type { Namespace } from '../../data/records.ts';
import { pathOf } from '../../data/request.ts';
import { publish, restoreVersion } from '../../data/undo.ts';
import { Button } from '../../design/Button.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { Diff } from '../../design/Diff.tsx';
import { Notice } from '../../design/Notice.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useWork } from '../../feedback/use-work.ts';
import { useTexts } from '../../i18n/locale.ts';
import { type AuditEvent, placeOf, restorable, unmirrored } from './audit-event.ts';
import texts from './texts.json' with { type: 'json' };

/**
 * Restores the recorded state of an event. The difference is shown first; afterwards, a notice says that the restored
 * entry is not live yet.
 */

type Place = { namespace: string; id: string };

const Confirm = (props: {
  event: AuditEvent;
  place: Place;
  busy: boolean;
  onConfirm: () => void;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const { event, place } = props;
  const current = useResource({ path: pathOf`/v1/config/${place.namespace}/${place.id}`, guard: anyObject });
  return (
    <ConfirmDialog
      title={t('restore.title', { resource: event.resource })}
      confirm={t('restore.confirm')}
      tone="primary"
      size={760}
      busy={props.busy || current.isPending}
      onConfirm={props.onConfirm}
      onClose={props.onClose}
    >
      <p>{t('restore.text')}</p>
      {!current.isPending && <Diff before={unmirrored(current.data)} after={unmirrored(restorable(event))} />}
    </ConfirmDialog>
  );
};

/** Says that the stored entry is not live, and publishes it. */
export const Pending = ({ place, onDone }: { place: Place; onDone: () => void }) => {
  const t = useTexts(texts);
  const [isBusy, run] = useWork();
  const write = async (): Promise<void> => {
    // The log contains only namespaces of the service.
    await publish(place.namespace as Namespace, place.id);
    toast('success', t('restore.published', { id: place.id }));
    onDone();
  };
  return (
    <Notice
      tone="warn"
      title={t('restore.pending')}
      actions={
        <Button small tone="primary" disabled={isBusy} onClick={() => run(write)}>
          {t('restore.publish')}
        </Button>
      }
    >
      {t('restore.pendingText')}
    </Notice>
  );
};

export type RestoreProps = {
  event: AuditEvent;
  /** The name of the entry in the confirmation. */
  what?: string;
  small?: boolean;
  disabled?: boolean;
  /** Called when the version is stored, to show `Pending` elsewhere. */
  onRestored?: () => void;
};

export const Restore = (props: RestoreProps) => {
  const t = useTexts(texts);
  const { event, what = event.resource, small, onRestored } = props;
  const [state, setState] = useState<'idle' | 'asks' | 'pending'>('idle');
  const place = placeOf(event.resource);
  const [isBusy, run] = useWork();
  const restore = async ({ namespace, id }: Place): Promise<void> => {
    await restoreVersion(namespace, id, event.id).finally(() => setState('idle'));
    toast('success', t('restore.done', { resource: what, version: event.id.slice(0, 8) }));
    invalidate('/v1/audit-log', `/v1/config/${namespace}`);
    if (onRestored) onRestored();
    else setState('pending');
  };
  if (!place || !restorable(event)) return null;
  if (state === 'pending') return <Pending place={place} onDone={() => setState('idle')} />;
  return (
    <>
      <Button
        tone={small ? 'quiet' : undefined}
        {...(small ? { small } : { icon: 'history' })}
        disabled={props.disabled}
        onClick={() => setState('asks')}
      >
        {t(small ? 'restore.confirm' : 'restore')}
      </Button>
      {state === 'asks' && (
        <Confirm
          event={event}
          place={place}
          busy={isBusy}
          onConfirm={() => run(() => restore(place))}
          onClose={() => setState('idle')}
        />
      )}
    </>
  );
};
