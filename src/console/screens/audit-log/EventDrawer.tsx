import { useEffect, useState } from 'react';
import { Button, IconButton } from '../../design/Button.tsx';
import { Id } from '../../design/Copy.tsx';
import { Drawer } from '../../design/Dialog.tsx';
import { Diff } from '../../design/Diff.tsx';
import { Json } from '../../design/Json.tsx';
import { Facts } from '../../design/Layout.tsx';
import { Notice } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink, useGo } from '../../navigation/links.tsx';
import { ActionChip, EventTime } from './ActionChip.tsx';
import { type AuditEvent, unmirrored } from './audit-event.ts';
import { hrefOf } from './audited-resource.ts';
import { Restore, type RestoreProps } from './Restore.tsx';
import texts from './texts.json' with { type: 'json' };

const Details = ({ event }: { event: AuditEvent }) => {
  const t = useTexts(texts);
  const [, setQuery] = useQueryState();
  const { restored_from: from, error, request_id: request } = event;
  return (
    <Facts
      rows={[
        [t('column.time'), <EventTime key="time" at={event.ts} />],
        [t('column.actor'), <code key="actor">{event.actor}</code>],
        [t('column.action'), <ActionChip key="action" action={event.action} />],
        [
          t('column.resource'),
          <ScreenLink key="resource" to={hrefOf(event.resource)} className="mono">
            {event.resource}
          </ScreenLink>,
        ],
        [t('detail.id'), <Id key="id" id={event.id} whole />],
        [t('detail.ip'), event.ip || '—'],
        [t('detail.request'), request ? <Id key="request" id={request} /> : '—'],
        from !== undefined && [
          t('detail.from'),
          <Button key="from" small tone="quiet" onClick={() => setQuery({ event: from })}>
            <code>{from.slice(0, 8)}</code>
          </Button>,
        ],
        error !== undefined && [t('detail.error'), error],
      ]}
    />
  );
};

/** The event selected in the address, with links to the newer and the older one. */
export const EventDrawer = (props: {
  id: string;
  events: readonly AuditEvent[];
  restore?: Omit<RestoreProps, 'event'>;
}) => {
  const t = useTexts(texts);
  const go = useGo();
  const { id, events } = props;
  const [, setQuery] = useQueryState();
  const [isRaw, showRaw] = useState(false);
  const at = events.findIndex((event) => event.id === id);
  const event = events[at];
  const [newer, older] = [events[at - 1]?.id, at < 0 ? undefined : events[at + 1]?.id];
  useEffect(() => {
    const onKey = (pressed: KeyboardEvent): void => {
      if (pressed.target instanceof HTMLElement && pressed.target.closest('input, textarea, select')) return;
      const next = pressed.key === 'ArrowLeft' ? newer : pressed.key === 'ArrowRight' ? older : undefined;
      if (next !== undefined) setQuery({ event: next });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [newer, older, setQuery]);
  const beside = (next: string | undefined) => () => next !== undefined && setQuery({ event: next });
  return (
    <Drawer
      title={event ? event.resource : t('missing')}
      onClose={() => setQuery({ event: undefined })}
      actions={
        <>
          <IconButton icon="chevronLeft" label={t('previous')} disabled={!newer} onClick={beside(newer)} />
          <IconButton icon="chevronRight" label={t('next')} disabled={!older} onClick={beside(older)} />
        </>
      }
    >
      {event ? (
        <>
          <Details event={event} />
          <div className="row">
            <Restore key={event.id} event={event} {...props.restore} />
            <Button onClick={() => go(`/audit-log?resource=${encodeURIComponent(event.resource)}`)}>
              {t('all')}
            </Button>
            <Button tone="quiet" aria-pressed={isRaw} onClick={() => showRaw(!isRaw)}>
              {t(isRaw ? 'fields' : 'raw')}
            </Button>
          </div>
          {isRaw ? (
            <Json value={{ before: event.before, after: event.after, overrides: event.overrides }} />
          ) : (
            <Diff before={unmirrored(event.before)} after={unmirrored(event.after)} />
          )}
        </>
      ) : (
        <Notice title={t('missing')}>{t('missing.text')}</Notice>
      )}
    </Drawer>
  );
};
