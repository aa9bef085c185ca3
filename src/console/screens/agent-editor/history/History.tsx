import { type ReactNode, useState } from 'react';
import { changed } from '../../../data/records.ts';
import { Button } from '../../../design/Button.tsx';
import { DataTable } from '../../../design/DataTable.tsx';
import { Dialog, DialogClose } from '../../../design/Dialog.tsx';
import { Diff } from '../../../design/Diff.tsx';
import { boxLook } from '../../../design/Field.tsx';
import { Facts } from '../../../design/Layout.tsx';
import { EmptyState } from '../../../design/Notice.tsx';
import { Ago, DateTime } from '../../../design/Time.tsx';
import designTexts from '../../../design/texts.json' with { type: 'json' };
import { useTexts } from '../../../i18n/locale.ts';
import { LoadedPages, More } from '../../../list/PagedList.tsx';
import { useQueryState } from '../../../list/use-query-state.ts';
import { ActionChip } from '../../audit-log/ActionChip.tsx';
import { type AuditEvent, actorParts, summaryOf } from '../../audit-log/audit-event.ts';
import { EventDrawer } from '../../audit-log/EventDrawer.tsx';
import { Pending, Restore, type RestoreProps } from '../../audit-log/Restore.tsx';
import auditTexts from '../../audit-log/texts.json' with { type: 'json' };
import { useAudit } from '../../audit-log/use-audit.ts';
import { useAgent } from '../agent-form.ts';
import texts from './texts.json' with { type: 'json' };
import { comparedIn, versionOf, withChosen } from './versions.ts';

/** The stored versions of an agent. Two of them can be compared, and each can be restored. */

const Actions = ({ event, restore }: { event: AuditEvent; restore: Omit<RestoreProps, 'event'> }) => {
  const t = useTexts(texts);
  const [, setQuery] = useQueryState();
  return (
    <>
      <Button small tone="quiet" onClick={() => setQuery({ event: event.id })}>
        {t('view')}
      </Button>
      {versionOf(event) && <Restore event={event} {...restore} small />}
    </>
  );
};

const Actor = ({ actor }: Pick<AuditEvent, 'actor'>) => {
  const { label, short } = actorParts(actor);
  return <code title={actor}>{label || short}</code>;
};

const Compare = (props: { before: AuditEvent; after: AuditEvent; onClose: () => void }) => {
  const t = useTexts(texts);
  const design = useTexts(designTexts);
  const { before, after } = props;
  return (
    <Dialog title={t('compare.title')} size={860} onClose={props.onClose}>
      <Facts
        rows={[
          [design('diff.before'), <DateTime key="before" at={before.ts} />],
          [design('diff.after'), <DateTime key="after" at={after.ts} />],
        ]}
      />
      <Diff before={versionOf(before)} after={versionOf(after)} />
      <DialogClose onClose={props.onClose} />
    </Dialog>
  );
};

type TableProps = {
  events: readonly AuditEvent[];
  restore: Omit<RestoreProps, 'event'>;
  chosen: readonly string[];
  choose: (chosen: readonly string[]) => void;
};

const VersionTable = ({ events, restore, chosen, choose }: TableProps) => {
  const t = useTexts(texts);
  const audit = useTexts(auditTexts);
  const checkBox = (event: AuditEvent): ReactNode =>
    versionOf(event) && (
      <input
        type="checkbox"
        className={boxLook}
        aria-label={t('choose', { version: event.id.slice(-8) })}
        checked={chosen.includes(event.id)}
        onChange={({ target }) => choose(withChosen(chosen, event.id, target.checked))}
      />
    );
  return (
    <DataTable
      label={t('versions')}
      rows={events}
      rowId={({ id }) => id}
      columns={[
        { label: t('compare'), cell: checkBox },
        { label: audit('column.time'), cell: ({ ts }) => <Ago at={ts} /> },
        { label: audit('column.actor'), cell: ({ actor }) => <Actor actor={actor} /> },
        { label: audit('column.action'), cell: ({ action }) => <ActionChip action={action} /> },
        { label: audit('column.summary'), look: 'wide', cell: (event) => summaryOf(event) || '—' },
        {
          label: t('column.actions'),
          look: 'number',
          cell: (event) => <Actions event={event} restore={restore} />,
        },
      ]}
    />
  );
};

const Versions = () => {
  const t = useTexts(texts);
  const { opened: agent, isDirty: dirty, reopen } = useAgent().form;
  const { id } = agent.start;
  const [{ event: opened }] = useQueryState();
  const pages = useAudit({ resource: `agents/${id}` }, false);
  const events = pages.rows;
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
    <LoadedPages pages={pages}>
      {isPending && <Pending place={{ namespace: 'agents', id }} onDone={() => reread(false)} />}
      {dirty && <p className="quiet">{t('dirty')}</p>}
      {events.length === 0 ? (
        <EmptyState title={t('empty')}>{t('empty.text')}</EmptyState>
      ) : (
        <div className="card">
          <VersionTable events={events} restore={restore} chosen={chosen} choose={choose} />
        </div>
      )}
      <div className="row">
        <Button disabled={!pair} onClick={() => compare(true)}>
          {t('compare')}
        </Button>
        <More pages={pages} />
      </div>
      {opened && <EventDrawer id={opened} events={events} restore={restore} />}
      {isComparing && pair && <Compare {...pair} onClose={() => compare(false)} />}
    </LoadedPages>
  );
};

export default function History() {
  const t = useTexts(texts);
  if (useAgent().form.opened.isNew) return <EmptyState title={t('new')}>{t('empty.text')}</EmptyState>;
  return <Versions />;
}
