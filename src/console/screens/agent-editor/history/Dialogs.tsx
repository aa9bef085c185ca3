import type { JsonObject } from '../../../data/guard.ts';
import { Button } from '../../../design/Button.tsx';
import { Id } from '../../../design/Copy.tsx';
import { ConfirmDialog, Dialog, DialogClose } from '../../../design/Dialog.tsx';
import { Diff } from '../../../design/Diff.tsx';
import { Facts } from '../../../design/Layout.tsx';
import { DateTime } from '../../../design/Time.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { type AuditEvent, unmirrored } from '../../audit-log/audit-event.ts';
import css from './History.module.css';
import { texts } from './texts.ts';
import { versionOf } from './versions.ts';

const WIDE = 860;

export const View = (props: {
  event: AuditEvent;
  events: readonly AuditEvent[];
  onView: (event: AuditEvent) => void;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const { event } = props;
  const source = props.events.find(({ id }) => id === event.restored_from);
  return (
    <Dialog title={t('view.title')} size={WIDE} onClose={props.onClose}>
      <Facts
        rows={[
          [t('column.time'), <DateTime key="time" at={event.ts} />],
          [t('column.actor'), <code key="actor">{event.actor}</code>],
          [t('version'), <Id key="id" id={event.id} whole />],
          ...(event.restored_from
            ? [
                [
                  t('from'),
                  source ? (
                    <Button key="from" small tone="quiet" onClick={() => props.onView(source)}>
                      <code>{event.restored_from}</code>
                    </Button>
                  ) : (
                    <code key="from">{event.restored_from}</code>
                  ),
                ] as const,
              ]
            : []),
        ]}
      />
      {event.error && <p className={css.wrong}>{event.error}</p>}
      <Diff before={unmirrored(event.before)} after={unmirrored(event.after)} />
      <DialogClose onClose={props.onClose} />
    </Dialog>
  );
};

export const Compare = (props: { before: AuditEvent; after: AuditEvent; onClose: () => void }) => {
  const t = useTexts(texts);
  const { before, after } = props;
  return (
    <Dialog title={t('compare.title')} size={WIDE} onClose={props.onClose}>
      <Facts
        rows={[
          [t('before'), <DateTime key="before" at={before.ts} />],
          [t('after'), <DateTime key="after" at={after.ts} />],
        ]}
      />
      <Diff before={versionOf(before)} after={versionOf(after)} />
      <DialogClose onClose={props.onClose} />
    </Dialog>
  );
};

export const ConfirmRestore = (props: {
  event: AuditEvent;
  current: JsonObject;
  onConfirm: () => void;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  return (
    <ConfirmDialog
      title={t('restore.title')}
      confirm={t('restore')}
      tone="primary"
      size={WIDE}
      onConfirm={props.onConfirm}
      onClose={props.onClose}
    >
      <p>{t('restore.text')}</p>
      <Diff before={unmirrored(props.current)} after={versionOf(props.event)} />
    </ConfirmDialog>
  );
};
