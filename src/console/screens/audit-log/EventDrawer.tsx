import { useEffect, useState } from 'react';
import { Button, IconButton } from '../../design/Button.tsx';
import { Id } from '../../design/Copy.tsx';
import { Drawer } from '../../design/Dialog.tsx';
import { Diff } from '../../design/Diff.tsx';
import { Json } from '../../design/Json.tsx';
import { Facts } from '../../design/Layout.tsx';
import { Notice } from '../../design/Notice.tsx';
import { Ago, DateTime } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { ActionChip } from './ActionChip.tsx';
import css from './AuditLog.module.css';
import { type AuditEvent, unmirrored } from './audit-event.ts';
import { hrefOf } from './places.ts';
import { Restore } from './Restore.tsx';
import { texts } from './texts.ts';

const Details = ({ event }: { event: AuditEvent }) => {
  const t = useTexts(texts);
  const [, setQuery] = useQueryState();
  const { restored_from: from } = event;
  const rows: [string, React.ReactNode][] = [
    [
      t('column.time'),
      <span key="time" className={css.time}>
        <DateTime at={event.ts} />
        <span className={css.quiet}>
          <Ago at={event.ts} />
        </span>
      </span>,
    ],
    [t('column.actor'), <code key="actor">{event.actor}</code>],
    [t('column.action'), <ActionChip key="action" action={event.action} />],
    [
      t('column.resource'),
      <ScreenLink key="resource" to={hrefOf(event.resource)} className={css.mono}>
        {event.resource}
      </ScreenLink>,
    ],
    [t('detail.id'), <Id key="id" id={event.id} whole />],
    [t('detail.ip'), event.ip || '—'],
    [t('detail.request'), event.request_id ? <Id key="request" id={event.request_id} /> : '—'],
  ];
  if (from) {
    rows.push([
      t('detail.from'),
      <Button key="from" small tone="quiet" onClick={() => setQuery({ event: from })}>
        <span className={css.mono}>{from.slice(0, 8)}</span>
      </Button>,
    ]);
  }
  if (event.error) rows.push([t('detail.error'), event.error]);
  return <Facts rows={rows} />;
};

const Raw = ({ event }: { event: AuditEvent }) => {
  const t = useTexts(texts);
  return (
    <div className={css.raw}>
      {(['before', 'after', 'overrides'] as const).map((part) =>
        event[part] === undefined ? null : (
          <section key={part}>
            <h3>{t(part)}</h3>
            <Json value={event[part]} />
          </section>
        ),
      )}
    </div>
  );
};

/** The event of the address, and the way to the ones beside it. */
export const EventDrawer = ({ id, events }: { id: string; events: readonly AuditEvent[] }) => {
  const t = useTexts(texts);
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
          <div className={css.tools}>
            <Restore key={event.id} event={event} />
            <Button onClick={() => setQuery({ resource: event.resource, event: undefined })}>
              {t('all')}
            </Button>
            <Button tone="quiet" aria-pressed={isRaw} onClick={() => showRaw(!isRaw)}>
              {t(isRaw ? 'fields' : 'raw')}
            </Button>
          </div>
          {isRaw ? (
            <Raw event={event} />
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
