import { useIdentity } from '../data/identity.ts';
import { mayUse } from '../data/principal.ts';
import { useResource } from '../data/queries.ts';
import { systemInfo } from '../data/resources.ts';
import { Icon } from '../design/Icon.tsx';
import { useTexts } from '../i18n/locale.ts';
import css from './Shell.module.css';
import shellTexts from './texts.json' with { type: 'json' };

/** A lasting notice that requests without a credential are accepted from other hosts (identity.md 3.2). */
export const OpenNotice = () => {
  const t = useTexts(shellTexts);
  const { data: who, isPending } = useIdentity();
  const info = useResource(systemInfo, !isPending && mayUse(who, ['observe'])).data;
  if (info?.open_to_all !== true) return null;
  return (
    <div className={`bar tint ${css.open}`} data-tone="warn" role="note">
      <Icon name="warn" />
      <span>{t('open.text')}</span>
    </div>
  );
};
