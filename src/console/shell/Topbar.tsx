import { Menu } from '@mantine/core';
import { useRouterState } from '@tanstack/react-router';
import { panelOpen, setPanelOpen } from '../assistant-chat/state.ts';
import { useAtom } from '../data/use-atom.ts';
import { IconButton } from '../design/Button.tsx';
import { Icon } from '../design/Icon.tsx';
import { chooseGuide } from '../getting-started/choice.ts';
import { locale, setLocale, useTexts } from '../i18n/locale.ts';
import { entryNames } from '../navigation/entry-names.ts';
import { ScreenLink, useGo } from '../navigation/links.tsx';
import { useIsScreen } from '../navigation/screen-paths.ts';
import { Account } from './Account.tsx';
import { Bell } from './Bell.tsx';
import { crumbsOf } from './crumbs.ts';
import { Keys } from './Keys.tsx';
import type { Screen } from './screen.ts';
import css from './Topbar.module.css';
import shellTexts from './texts.json' with { type: 'json' };
import { cycleTheme, theme } from './theme.ts';

const HelpMenu = ({ onKeys }: { onKeys: () => void }) => {
  const t = useTexts(shellTexts);
  const go = useGo();
  const showGuide = (): void => {
    chooseGuide('shown');
    go('/');
  };
  return (
    <Menu>
      <Menu.Target>
        <IconButton icon="help" label={t('help.title')} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={showGuide}>{t('help.guide')}</Menu.Item>
        {/* The manual consists of documents of the service, not of screens. */}
        <Menu.Item component="a" href="/docs">
          {t('shell.docs')}
        </Menu.Item>
        <Menu.Item onClick={onKeys}>{t('keys.title')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};

const Breadcrumb = ({ screens }: { screens: readonly Screen[] }) => {
  const t = useTexts(shellTexts);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const names = useAtom(entryNames);
  const crumbs = crumbsOf(path, screens).map(({ label, text = '', href }) => ({
    href,
    name: label ? t(label) : (names.get(text) ?? text),
  }));
  return (
    <nav className={`fill ${css.crumbs}`} aria-label={t('shell.breadcrumb')}>
      <ol>
        {crumbs.map(({ name, href }, index) => (
          <li key={name} aria-current={index === crumbs.length - 1 ? 'page' : undefined}>
            {index > 0 && <Icon name="chevronRight" size={12} />}
            {href !== undefined ? (
              <ScreenLink to={href} className="cut">
                {name}
              </ScreenLink>
            ) : (
              <span className="cut">{name}</span>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
};

const THEME_ICONS = { light: 'sun', dark: 'moon', system: 'screen' } as const;

/** Language, theme and help, for the top bar and for the menu of small screens. */
export const Preferences = ({ onKeys }: { onKeys: () => void }) => {
  const t = useTexts(shellTexts);
  const language = useAtom(locale);
  const other = language === 'en' ? 'zh-CN' : 'en';
  const choice = useAtom(theme);
  return (
    <>
      <IconButton
        icon="language"
        label={t('shell.locale', { language: other })}
        onClick={() => setLocale(other)}
      />
      <IconButton
        icon={THEME_ICONS[choice]}
        label={t('shell.theme', { theme: t(`theme.${choice}`) })}
        onClick={cycleTheme}
      />
      <HelpMenu onKeys={onKeys} />
    </>
  );
};

/** Toggles the assistant panel; hidden on the assistant's screen. */
const AssistantLauncher = () => {
  const t = useTexts(shellTexts);
  const isOpen = useAtom(panelOpen);
  const isScreen = useIsScreen();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  if (path === '/assistant' || !isScreen('/assistant')) return null;
  return (
    <IconButton
      icon="assistant"
      label={t('shell.assistant')}
      aria-expanded={isOpen}
      onClick={() => setPanelOpen(!isOpen)}
    />
  );
};

export const Topbar = (props: {
  screens: readonly Screen[];
  onMenu: () => void;
  onPalette: () => void;
  onKeys: () => void;
}) => {
  const t = useTexts(shellTexts);
  return (
    <header className={css.topbar}>
      <span className={css.menu}>
        <IconButton icon="menu" label={t('shell.openMenu')} onClick={props.onMenu} />
      </span>
      <Breadcrumb screens={props.screens} />
      <button type="button" className={css.search} aria-label={t('shell.palette')} onClick={props.onPalette}>
        <Icon name="search" />
        <span className={css.words} data-text={t('shell.search')} />
        <Keys keys="mod K" />
      </button>
      <span className={`row ${css.wide}`}>
        <Preferences onKeys={props.onKeys} />
      </span>
      <AssistantLauncher />
      <Bell />
      <Account />
    </header>
  );
};
