import { useIdentity } from '../data/identity.ts';
import { Icon } from '../design/Icon.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import css from './Shell.module.css';
import shellTexts from './texts.json' with { type: 'json' };

/** A lasting notice that another account may sign in as the user (identity.md 2.2). */
export const IdentityNotice = () => {
  const t = useTexts(shellTexts);
  const format = useFormat();
  const change = useIdentity().data?.identity_changed;
  if (!change) return null;
  return (
    <div className={`bar tint ${css.open}`} data-tone="warn" role="note">
      <Icon name="warn" />
      <span>{t('identityChanged', { by: change.by, time: format.date(change.at) })}</span>
    </div>
  );
};
