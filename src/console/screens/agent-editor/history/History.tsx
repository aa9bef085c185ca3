import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JsonObject } from '../../../data/guard.ts';
import type { Meta } from '../../../data/meta.ts';
import { changed } from '../../../data/records.ts';
import { publish, restoreVersion } from '../../../data/undo.ts';
import { Button } from '../../../design/Button.tsx';
import { Loaded } from '../../../design/Loaded.tsx';
import { EmptyState, Notice } from '../../../design/Notice.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { toast, toastError } from '../../../shell/toasts.ts';
import type { AuditEvent } from '../../audit-log/audit-event.ts';
import { AUDIT_OFF, useAudit } from '../../audit-log/use-audit.ts';
import { type Editing, isDirty } from '../editing.ts';
import { readMeta, readSpec } from '../use-opened.ts';
import { Compare, ConfirmRestore, View } from './Dialogs.tsx';
import css from './History.module.css';
import { Rows } from './Rows.tsx';
import { texts } from './texts.ts';
import { comparedIn, withChosen } from './versions.ts';

/** What has become of an agent, and the way back to any of its versions. */

type HistoryProps = {
  editing: Editing;
  onReopen: (spec: JsonObject, meta: Meta | undefined) => void;
};

const useRestore = ({ editing, onReopen }: HistoryProps) => {
  const t = useTexts(texts);
  const { id } = editing.start;
  const [isPending, setPending] = useState(false);
  const reread = async (): Promise<void> => {
    changed('agents');
    const [spec, meta] = await Promise.all([readSpec(id), readMeta(id)]);
    onReopen(spec, meta);
  };
  const restore = useMutation({
    mutationFn: async (event: AuditEvent) => {
      await restoreVersion('agents', id, event.id);
      await reread();
    },
    onSuccess: (_, event) => {
      toast('success', t('restored', { version: event.id.slice(0, 8) }));
      setPending(true);
    },
    onError: toastError,
  });
  const activate = useMutation({
    mutationFn: async () => {
      await publish('agents', id);
      await reread();
    },
    onSuccess: () => {
      toast('success', t('published', { id }));
      setPending(false);
    },
    onError: toastError,
  });
  return { restore, activate, isPending };
};

const Pending = ({ busy, onPublish }: { busy: boolean; onPublish: () => void }) => {
  const t = useTexts(texts);
  return (
    <Notice
      tone="warn"
      title={t('pending')}
      actions={
        <Button small tone="primary" disabled={busy} onClick={onPublish}>
          {t('publish')}
        </Button>
      }
    >
      {t('pending.text')}
    </Notice>
  );
};

const Versions = (props: HistoryProps) => {
  const t = useTexts(texts);
  const { editing } = props;
  const { query, events } = useAudit({ resource: `agents/${editing.start.id}` }, false);
  const [chosen, choose] = useState<readonly string[]>([]);
  const [viewed, view] = useState<AuditEvent>();
  const [target, restoreTo] = useState<AuditEvent>();
  const [isComparing, compare] = useState(false);
  const { restore, activate, isPending } = useRestore(props);
  const pair = comparedIn(events, chosen);
  const dirty = isDirty(editing);
  return (
    <Loaded query={query} off={AUDIT_OFF}>
      {() => (
        <>
          {isPending && <Pending busy={activate.isPending} onPublish={() => activate.mutate()} />}
          {dirty && <p className={css.note}>{t('dirty')}</p>}
          {events.length === 0 ? (
            <EmptyState title={t('empty')}>{t('empty.text')}</EmptyState>
          ) : (
            <Rows
              events={events}
              chosen={chosen}
              locked={dirty}
              onChoose={(id, wanted) => choose(withChosen(chosen, id, wanted))}
              onView={view}
              onRestore={restoreTo}
            />
          )}
          <div className={css.foot}>
            <Button disabled={!pair} onClick={() => compare(true)}>
              {t('compare')}
            </Button>
            {query.hasNextPage && (
              <Button disabled={query.isFetching} onClick={() => void query.fetchNextPage()}>
                {t('more')}
              </Button>
            )}
          </div>
          {viewed && <View event={viewed} events={events} onView={view} onClose={() => view(undefined)} />}
          {isComparing && pair && <Compare {...pair} onClose={() => compare(false)} />}
          {target && (
            <ConfirmRestore
              event={target}
              current={editing.start}
              onClose={() => restoreTo(undefined)}
              onConfirm={() => {
                restoreTo(undefined);
                restore.mutate(target);
              }}
            />
          )}
        </>
      )}
    </Loaded>
  );
};

export const History = (props: HistoryProps) => {
  const t = useTexts(texts);
  return props.editing.isNew ? (
    <EmptyState title={t('new')}>{t('empty.text')}</EmptyState>
  ) : (
    <Versions {...props} />
  );
};
