import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { GrantList } from '../../access/Grants.tsx';
import { statusOf } from '../../data/error.ts';
import { useMay } from '../../data/identity.ts';
import { useResource } from '../../data/queries.ts';
import { Button } from '../../design/Button.tsx';
import { Card, Facts, Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Ago, DateTime } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { type MenuItem, OverflowMenu } from '../../list/RowMenu.tsx';
import { NoSuch } from '../../navigation/NoSuch.tsx';
import { useIsScreen } from '../../navigation/screen-paths.ts';
import { accessHref } from '../access-log/access-event.ts';
import { usageHref } from '../usage/usage.ts';
import texts from './texts.json' with { type: 'json' };
import { KindChip, StateChip } from './UserChips.tsx';
import { UserConnections, UserKeys, UserSessions } from './UserTables.tsx';
import { identityOf, type User as UserRecord, userOf } from './user.ts';
import { USER_DIALOGS } from './user-acts.tsx';

type What = keyof typeof USER_DIALOGS;

const Actions = ({ user, open }: { user: UserRecord; open: (what: What) => void }) => {
  const t = useTexts(texts);
  const may = useMay();
  const isScreen = useIsScreen();
  const resource = `users/${encodeURIComponent(user.scope)}/${encodeURIComponent(user.id)}`;
  const manages = may(['manage']);
  const links: MenuItem[] = [
    { label: t('menu.usage'), icon: 'usage', act: usageHref(user.id) },
    { label: t('menu.access'), icon: 'accessLog', act: accessHref({ user: user.id }) },
    { label: t('changes'), icon: 'history', act: `/audit-log?resource=${encodeURIComponent(resource)}` },
  ];
  return (
    <>
      {manages && (
        <>
          <Button tone="primary" icon="edit" onClick={() => open('edit')}>
            {t('edit')}
          </Button>
          <Button onClick={() => open('disable')}>{t(user.disabled ? 'enable' : 'disable')}</Button>
        </>
      )}
      <OverflowMenu
        label={t('actions', { id: user.id })}
        items={[
          ...(manages ? [{ label: t('signOut'), icon: 'lock', act: () => open('signOut') } as const] : []),
          ...links.filter(({ act }) => typeof act !== 'string' || isScreen(act)),
          ...(manages
            ? ([
                { label: t('delete.confirm'), icon: 'trash', tone: 'danger', act: () => open('delete') },
              ] as const)
            : []),
        ]}
      />
    </>
  );
};

const Identity = ({ user }: { user: UserRecord }) => {
  const t = useTexts(texts);
  const identity = identityOf(user);
  if (identity === undefined) return <>{t('identity.none')}</>;
  if (identity === 'pending') return <>{t('identity.pending')}</>;
  return (
    <span className="grow">
      {identity.subject} <span className="quiet">{identity.issuer}</span>
    </span>
  );
};

const Details = ({ user }: { user: UserRecord }) => {
  const t = useTexts(texts);
  return (
    <Facts
      rows={[
        [t('column.state'), <StateChip key="state" disabled={user.disabled} />],
        [t('field.kind'), <KindChip key="kind" kind={user.kind} />],
        [t('field.name'), user.name ?? '—'],
        [t('field.email'), user.email ?? '—'],
        [t('identity'), <Identity key="identity" user={user} />],
        [
          t('column.seen'),
          user.last_seen_at === null ? t('never') : <Ago key="seen" at={user.last_seen_at} />,
        ],
        [t('created'), <DateTime key="created" at={user.created_at} />],
        user.tokens_not_before > 0 && [t('signedOut'), <DateTime key="out" at={user.tokens_not_before} />],
      ]}
    />
  );
};

export default function User() {
  const t = useTexts(texts);
  const { id = '' } = useParams({ strict: false });
  const query = useResource(userOf(id));
  const [what, open] = useState<What>();
  const user = query.data;
  const Dialog = what && USER_DIALOGS[what];
  if (statusOf(query.error) === 404) {
    return <NoSuch title={t('notFound', { id })} to="/users" all={t('all')} />;
  }
  return (
    <Page title={id} actions={user && <Actions user={user} open={open} />}>
      <Loaded query={query}>
        {(found) => (
          <>
            <div className="halves">
              <Card title={t('details')}>
                <Details user={found} />
              </Card>
              <Card title={t('field.grants')}>
                <GrantList grants={found.grants} none={t('field.grants.none')} />
                {found.token_grants.length > 0 && (
                  <>
                    <h3>{t('grants.byToken')}</h3>
                    <GrantList grants={found.token_grants} none={t('field.grants.none')} />
                  </>
                )}
              </Card>
            </div>
            <UserKeys user={found.id} />
            <UserSessions user={found.id} />
            <UserConnections user={found.id} />
          </>
        )}
      </Loaded>
      {user && Dialog && <Dialog user={user} onClose={() => open(undefined)} />}
    </Page>
  );
}
