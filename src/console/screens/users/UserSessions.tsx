import { useState } from 'react';
import { ActDialog } from '../../access/ActDialog.tsx';
import { useResource } from '../../data/queries.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { DataTable } from '../../design/DataTable.tsx';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import look from '../../design/Look.module.css';
import { SkeletonRows } from '../../design/Notice.tsx';
import { Ago, DateTime } from '../../design/Time.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { browserOf, endSession, type Session, sessionsOf } from './session.ts';
import { texts } from './texts.ts';

const EndSession = ({ of, onClose }: { of: Session; onClose: () => void }) => {
  const t = useTexts(texts);
  const act = async (): Promise<void> => {
    await endSession(of.id);
    toast('success', t('session.done'));
  };
  return (
    <ActDialog title={t('session.title')} confirm={t('session.end')} act={act} onClose={onClose}>
      <p>{t('session.text', { browser: browserOf(of.user_agent), ip: of.ip ?? '—' })}</p>
    </ActDialog>
  );
};

/** The browsers in which a user is signed in. */
export const UserSessions = ({ user }: { user: string }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const source = sessionsOf(user);
  const sessions = useResource(source);
  const [ending, end] = useState<Session>();
  return (
    <Card title={t('sessions')} note={sessions.data && format.number(sessions.data.items.length)} flush>
      <Loaded query={sessions} off={source.off} plain skeleton={<SkeletonRows rows={1} />}>
        {({ items }) => (
          <DataTable
            label={t('sessions')}
            rows={items}
            rowId={({ id }) => id}
            none={t('sessions.none')}
            columns={[
              {
                label: t('session.browser'),
                cell: ({ user_agent: agent, current }) => (
                  <span className={look.row}>
                    <span title={agent ?? undefined}>{browserOf(agent)}</span>
                    {current && <Chip tone="success">{t('session.current')}</Chip>}
                  </span>
                ),
              },
              {
                label: t('session.ip'),
                cell: ({ ip, last_used_ip: last }) => <code>{last ?? ip ?? '—'}</code>,
              },
              { label: t('session.created'), cell: ({ created_at: at }) => <DateTime at={at} /> },
              { label: t('session.used'), cell: ({ last_used_at: at }) => <Ago at={at} /> },
              { label: t('session.expires'), cell: ({ expires_at: at }) => <DateTime at={at} /> },
              {
                label: t('keys.actions'),
                cell: (session) => (
                  <Button small onClick={() => end(session)}>
                    {t('session.end')}
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      {ending && <EndSession of={ending} onClose={() => end(undefined)} />}
    </Card>
  );
};
