import { useState } from 'react';
import { changed } from '../../../data/records.ts';
import { Button } from '../../../design/Button.tsx';
import { Dialog, DialogClose } from '../../../design/Dialog.tsx';
import { Diff } from '../../../design/Diff.tsx';
import { boxLook } from '../../../design/Field.tsx';
import { Facts } from '../../../design/Layout.tsx';
import { Loaded } from '../../../design/Loaded.tsx';
import { EmptyState } from '../../../design/Notice.tsx';
import { Scroller } from '../../../design/Scroller.tsx';
import { Ago, DateTime } from '../../../design/Time.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { useQueryState } from '../../../list/use-query-state.ts';
import { ActionChip } from '../../audit-log/ActionChip.tsx';
import { type AuditEvent, actorParts, summaryOf } from '../../audit-log/audit-event.ts';
import { EventDrawer } from '../../audit-log/EventDrawer.tsx';
import { Pending, Restore, type RestoreProps } from '../../audit-log/Restore.tsx';
import { AUDIT_OFF, useAudit } from '../../audit-log/use-audit.ts';
import css from '../AgentEditor.module.css';
import { useAgent } from '../agent-form.ts';
import { texts } from './texts.ts';
import { comparedIn, versionOf, withChosen } from './versions.ts';

/** The stored versions of an agent. Two of them can be compared, and each can be restored. */

const COLUMNS = ['time', 'actor', 'action', 'summary'] as const;

type Chosen = { chosen: readonly string[]; choose: (chosen: readonly string[]) => void };

const Row = (props: Chosen & { event: AuditEvent; restore: Omit<RestoreProps, 'event'> }) => {
  const t = useTexts(texts);
  const [, setQuery] = useQueryState();
  const { event, chosen, choose } = props;
  const actor = actorParts(event.actor);
  const version = versionOf(event);
  const isChosen = chosen.includes(event.id);
  return (
    <tr data-chosen={isChosen || undefined}>
      <td>
        {version && (
          <input
            type="checkbox"
            className={boxLook}
            aria-label={t('choose', { version: event.id.slice(-8) })}
            checked={isChosen}
            onChange={({ target }) => choose(withChosen(chosen, event.id, target.checked))}
          />
        )}
      </td>
      <td>
        <Ago at={event.ts} />
      </td>
      <td title={event.actor} className={css.mono}>
        {actor.label || actor.short}
      </td>
      <td>
        <ActionChip action={event.action} />
      </td>
      <td className={css.wide} title={summaryOf(event)}>
        {summaryOf(event) || '—'}
      </td>
      <td data-number>
        <Button small tone="quiet" onClick={() => setQuery({ event: event.id })}>
          {t('view')}
        </Button>
        {version && <Restore event={event} {...props.restore} small />}
      </td>
    </tr>
  );
};

const Compare = (props: { before: AuditEvent; after: AuditEvent; onClose: () => void }) => {
  const t = useTexts(texts);
  const { before, after } = props;
  return (
    <Dialog title={t('compare.title')} size={860} onClose={props.onClose}>
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

const Versions = () => {
  const t = useTexts(texts);
  const { opened: agent, isDirty: dirty, reopen } = useAgent().form;
  const { id } = agent.start;
  const [{ event: opened }] = useQueryState();
  const { query, events } = useAudit({ resource: `agents/${id}` }, false);
  const [chosen, choose] = useState<readonly string[]>([]);
  const [isComparing, compare] = useState(false);
  const [isPending, setPending] = useState(false);
  const pair = comparedIn(events, chosen);
  const reread = (isStored: boolean): void => {
    setPending(isStored);
    changed('agents');
    void reopen();
  };
  const restore = { what: t('agent'), disabled: dirty, onRestored: () => reread(true) };
  return (
    <Loaded query={query} off={AUDIT_OFF}>
      {() => (
        <>
          {isPending && <Pending place={{ namespace: 'agents', id }} onDone={() => reread(false)} />}
          {dirty && <p className={css.note}>{t('dirty')}</p>}
          {events.length === 0 && <EmptyState title={t('empty')}>{t('empty.text')}</EmptyState>}
          <Scroller label={t('versions')} className={css.versions}>
            <table className={css.table} hidden={events.length === 0}>
              <thead>
                <tr>
                  <th scope="col">{t('compare')}</th>
                  {COLUMNS.map((column) => (
                    <th key={column} scope="col">
                      {t(`column.${column}`)}
                    </th>
                  ))}
                  <th scope="col">{t('column.actions')}</th>
                </tr>
              </thead>
              <tbody>
                {events.map((event) => (
                  <Row key={event.id} event={event} chosen={chosen} choose={choose} restore={restore} />
                ))}
              </tbody>
            </table>
          </Scroller>
          <div className={css.barActions}>
            <Button disabled={!pair} onClick={() => compare(true)}>
              {t('compare')}
            </Button>
            {query.hasNextPage && (
              <Button disabled={query.isFetching} onClick={() => void query.fetchNextPage()}>
                {t('more')}
              </Button>
            )}
          </div>
          {opened && <EventDrawer id={opened} events={events} restore={restore} />}
          {isComparing && pair && <Compare {...pair} onClose={() => compare(false)} />}
        </>
      )}
    </Loaded>
  );
};

export default function History() {
  const t = useTexts(texts);
  if (useAgent().form.opened.isNew) return <EmptyState title={t('new')}>{t('empty.text')}</EmptyState>;
  return <Versions />;
}
