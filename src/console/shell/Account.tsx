import { Menu } from '@mantine/core';
import { useIdentity } from '../data/identity.ts';
import type { Identity } from '../data/principal.ts';
import { askForToken } from '../data/session.ts';
import { signOut } from '../data/sign-out.ts';
import { Dot } from '../design/Chip.tsx';
import { Icon } from '../design/Icon.tsx';
import { toastError } from '../feedback/toasts.ts';
import { useTexts } from '../i18n/locale.ts';
import { useGo } from '../navigation/links.tsx';
import { useIsScreen } from '../navigation/screen-paths.ts';
import { useStatus } from './Connection.tsx';
import css from './Topbar.module.css';
import shellTexts from './texts.json' with { type: 'json' };

/** Whom the console acts for: a user with a menu, or the state of the admin token. */

const TokenPill = () => {
  const t = useTexts(shellTexts);
  const { tone, label } = useStatus();
  return (
    <button
      type="button"
      className={css.token}
      aria-label={t('shell.token', { status: label })}
      onClick={() => void askForToken('asked')}
    >
      <Dot tone={tone} />
      <span className={css.words} data-text={label} />
    </button>
  );
};

const CREDENTIALS = ['key', 'jwt', 'session', 'program'] as const;

/** The user, the scope and the credential. */
const Who = ({ who, user }: { who: Identity; user: string }) => {
  const t = useTexts(shellTexts);
  const kind = CREDENTIALS.find((each) => each === who.credential?.kind);
  return (
    <div className={`stack ${css.who}`}>
      <strong className="cut">{who.name ?? user}</strong>
      {who.name !== undefined && <span className="cut">{user}</span>}
      <span className="quiet cut">{t('account.scope', { scope: who.scope ?? '—' })}</span>
      {kind && <span className="quiet">{t(`account.by.${kind}`)}</span>}
    </div>
  );
};

const PLACES = ['keys', 'connections', 'usage'] as const;

const UserMenu = ({ who, user }: { who: Identity; user: string }) => {
  const t = useTexts(shellTexts);
  const go = useGo();
  const isScreen = useIsScreen();
  const { tone } = useStatus();
  const name = who.name ?? user;
  const leave = (): void => void signOut(who).then(() => go('/sign-in'), toastError);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <button type="button" className={css.token} aria-label={t('account.title', { name })}>
          <Dot tone={tone} />
          <span className={css.words} data-text={name} />
          <Icon name="chevronDown" size={12} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Who who={who} user={user} />
        <Menu.Item onClick={() => go(`/users/${encodeURIComponent(user)}`)}>{t('account.to.user')}</Menu.Item>
        {PLACES.filter((place) => isScreen(`/${place}`)).map((place) => (
          <Menu.Item key={place} onClick={() => go(`/${place}`)}>
            {t(`account.to.${place}`)}
          </Menu.Item>
        ))}
        <Menu.Item onClick={leave}>{t('account.signOut')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};

export const Account = () => {
  const who = useIdentity().data;
  if (!who?.authenticated || who.user === undefined) return <TokenPill />;
  return <UserMenu who={who} user={who.user} />;
};
