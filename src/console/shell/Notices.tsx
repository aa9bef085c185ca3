import type { ReactNode } from 'react';
import { useIdentity } from '../data/identity.ts';
import { mayUse } from '../data/principal.ts';
import { useResource } from '../data/queries.ts';
import { health, systemInfo } from '../data/resources.ts';
import { Icon } from '../design/Icon.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import css from './Shell.module.css';
import shellTexts from './texts.json' with { type: 'json' };

/** Lasting notices about the service and the user, above every screen. */

const Bar = ({ tone = 'warn', role, children }: { tone?: string; role: string; children: ReactNode }) => (
  <div className={`bar tint nowrap ${css.notice}`} data-tone={tone} role={role}>
    <Icon name="warn" />
    <span>{children}</span>
  </div>
);

export const Notices = () => {
  const t = useTexts(shellTexts);
  const format = useFormat();
  const { data: who, isPending } = useIdentity();
  const info = useResource(systemInfo, !isPending && mayUse(who, ['observe'])).data;
  const { database = 'none', member } = useResource(health, info?.member != null).data?.components ?? {};
  const isIsolated = member === 'isolated';
  const change = who?.identity_changed;
  return (
    <>
      {/* Requests without a credential are accepted from other hosts (identity.md 3.2). */}
      {info?.open_to_all === true && <Bar role="note">{t('open.text')}</Bar>}
      {/* The member of a cluster that serves the console is cut off from the database (cluster.md 1.3). */}
      {database !== 'ok' && database !== 'none' && (
        <Bar tone={isIsolated ? 'error' : 'warn'} role="alert">
          {t(isIsolated ? 'member.isolated' : 'member.database')}
        </Bar>
      )}
      {/* Another account may sign in as the user (identity.md 2.2). */}
      {change && (
        <Bar role="note">{t('identityChanged', { by: change.by, time: format.date(change.at) })}</Bar>
      )}
    </>
  );
};
