import { useMutation } from '@tanstack/react-query';
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
import { useTexts } from '../../i18n/locale.ts';
import { toast, toastError } from '../../shell/toasts.ts';
import { type AuditEvent, placeOf, restorable, unmirrored } from './audit-event.ts';
import { texts } from './texts.ts';

/** Brings back what an event recorded: what that changes is shown first, and that it is not live yet afterwards. */

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

const Pending = ({ event, place, onDone }: { event: AuditEvent; place: Place; onDone: () => void }) => {
  const t = useTexts(texts);
  const write = useMutation({
    // The log only has namespaces that the service has.
    mutationFn: () => publish(place.namespace as Namespace, place.id),
    onSuccess: () => {
      toast('success', t('restore.published', { resource: event.resource }));
      onDone();
    },
    onError: toastError,
  });
  return (
    <Notice
      tone="warn"
      title={t('restore.pending')}
      actions={
        <Button small tone="primary" disabled={write.isPending} onClick={() => write.mutate()}>
          {t('restore.publish')}
        </Button>
      }
    >
      {t('restore.pendingText')}
    </Notice>
  );
};

export const Restore = ({ event }: { event: AuditEvent }) => {
  const t = useTexts(texts);
  const [state, setState] = useState<'idle' | 'asks' | 'pending'>('idle');
  const place = placeOf(event.resource);
  const restore = useMutation({
    mutationFn: ({ namespace, id }: Place) => restoreVersion(namespace, id, event.id),
    onSuccess: () => {
      toast('success', t('restore.done', { resource: event.resource, version: event.id.slice(0, 8) }));
      invalidate('/v1/audit-log', `/v1/config/${place?.namespace}`);
      setState('pending');
    },
    onError: (error) => {
      toastError(error);
      setState('idle');
    },
  });
  if (!place || !restorable(event)) return null;
  if (state === 'pending') return <Pending event={event} place={place} onDone={() => setState('idle')} />;
  return (
    <>
      <Button icon="history" onClick={() => setState('asks')}>
        {t('restore')}
      </Button>
      {state === 'asks' && (
        <Confirm
          event={event}
          place={place}
          busy={restore.isPending}
          onConfirm={() => restore.mutate(place)}
          onClose={() => setState('idle')}
        />
      )}
    </>
  );
};
