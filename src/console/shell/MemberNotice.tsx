import { useIdentity } from '../data/identity.ts';
import { mayUse } from '../data/principal.ts';
import { useResource } from '../data/queries.ts';
import { health, systemInfo } from '../data/resources.ts';
import { Icon } from '../design/Icon.tsx';
import { useTexts } from '../i18n/locale.ts';
import css from './Shell.module.css';
import shellTexts from './texts.json' with { type: 'json' };

/** A notice while the member of a cluster that serves the console is cut off from the database (cluster.md 1.3). */
export const MemberNotice = () => {
  const t = useTexts(shellTexts);
  const { data: who, isPending } = useIdentity();
  const info = useResource(systemInfo, !isPending && mayUse(who, ['observe'])).data;
  const { data } = useResource(health, info?.member != null);
  if (!data || data.components.database === 'ok' || data.components.database === 'none') return null;
  const isIsolated = data.components.member === 'isolated';
  return (
    <div className={`bar tint ${css.open}`} data-tone={isIsolated ? 'error' : 'warn'} role="alert">
      <Icon name="warn" />
      <span>{t(isIsolated ? 'member.isolated' : 'member.database')}</span>
    </div>
  );
};
