import { Navigate, Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { panelOpen } from '../assistant-chat/state.ts';
import { useIdentity } from '../data/identity.ts';
import { mayUse } from '../data/principal.ts';
import { useAtom } from '../data/use-atom.ts';
import { SkeletonRows } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { screenAt } from './crumbs.ts';
import { Notices } from './Notices.tsx';
import { Palette } from './Palette.tsx';
import css from './Shell.module.css';
import { ShortcutHelp } from './ShortcutHelp.tsx';
import { Sidebar } from './Sidebar.tsx';
import type { Screen } from './screen.ts';
import { Toasts } from './Toasts.tsx';
import { TokenDialog } from './TokenDialog.tsx';
import { Preferences, Topbar } from './Topbar.tsx';
import shellTexts from './texts.json' with { type: 'json' };
import { useNotifications } from './use-notifications.ts';
import { usePreload } from './use-preload.ts';
import { useScreens } from './use-screens.ts';
import { useShortcuts } from './use-shortcuts.ts';

const Forbidden = lazy(() => import('./Forbidden.tsx'));
const AssistantPanel = lazy(() => import('../assistant-chat/AssistantPanel.tsx'));

/** The menu of small screens. Navigation and Escape close it. */
const useMenu = (path: string): [boolean, (isOpen: boolean) => void] => {
  const [openAt, setOpenAt] = useState<string>();
  const isOpen = openAt === path;
  useEffect(() => {
    if (!isOpen) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') setOpenAt(undefined);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [isOpen]);
  return [isOpen, (opens) => setOpenAt(opens ? path : undefined)];
};

const useTitle = (screen: Screen | undefined, title: string | undefined): void => {
  const t = useTexts(shellTexts);
  const label = screen?.label;
  useEffect(() => {
    document.title = [label && t(label), title, 'Troupe'].filter(Boolean).join(' · ');
  }, [label, t, title]);
};

/**
 * The screen of the address, once it is known whom the requests act for. A screen whose grants are missing explains it;
 * in place of the first one, the console opens the first that the principal may use.
 */
const Content = ({ screen, allowed }: { screen: Screen | undefined; allowed: readonly Screen[] }) => {
  const { data: who, isPending } = useIdentity();
  const [isKnown, know] = useState(!isPending);
  if (!isKnown && !isPending) know(true);
  useEffect(() => {
    // The code of the screen is loaded in parallel with the identity.
    screen?.load().catch(() => {});
  }, [screen]);
  if (!isKnown) return <SkeletonRows />;
  if (!screen || mayUse(who, screen.needs)) return <Outlet />;
  const first = allowed.find(({ nav }) => nav);
  if (screen.path === '/' && first) return <Navigate to={first.path} replace />;
  return (
    <Suspense fallback={<SkeletonRows />}>
      <Forbidden screen={screen} allowed={allowed} />
    </Suspense>
  );
};

/** A screen that is the whole page. */
const Bare = () => (
  <>
    <main className={css.main} id="content" tabIndex={-1}>
      <Outlet />
    </main>
    <Toasts />
  </>
);

export const Shell = (props: { screens: readonly Screen[]; title: string | undefined }) => {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const screen = screenAt(path, props.screens);
  useTitle(screen, props.title);
  return screen?.isBare ? <Bare /> : <Framed {...props} screen={screen} path={path} />;
};

const Framed = (props: {
  screens: readonly Screen[];
  title: string | undefined;
  screen: Screen | undefined;
  path: string;
}) => {
  const t = useTexts(shellTexts);
  const { title, screen, path } = props;
  const screens = useScreens(props.screens, useIdentity().data);
  const [isMenu, menu] = useMenu(path);
  const [overlay, setOverlay] = useState<'palette' | 'help'>();
  const isAssistant =
    useAtom(panelOpen) && path !== '/assistant' && screens.some(({ path: each }) => each === '/assistant');
  const close = useCallback(() => setOverlay(undefined), []);
  const help = useCallback(() => setOverlay('help'), []);
  const isWaiting = useShortcuts(screens, {
    palette: () => setOverlay((shown) => (shown === 'palette' ? undefined : 'palette')),
    help,
  });
  useNotifications();
  usePreload(screens);
  return (
    <div className={css.shell}>
      <a className={css.skip} href="#content">
        {t('shell.skip')}
      </a>
      <Sidebar
        screens={screens}
        title={title}
        isOpen={isMenu}
        onClose={() => menu(false)}
        tools={<Preferences onKeys={help} />}
      />
      <div className="column fill">
        <Topbar
          screens={props.screens}
          onMenu={() => menu(true)}
          onPalette={() => setOverlay('palette')}
          onKeys={help}
        />
        <Notices />
        <main className={css.main} id="content" tabIndex={-1}>
          <Content screen={screen} allowed={screens} />
          {/* A screen that is being loaded has no heading yet. */}
          {screen && (
            // biome-ignore lint/a11y/useSemanticElements: an `h1` would be another one for the moment in which both exist.
            <div role="heading" aria-level={1} className={`visually-hidden ${css.heading}`}>
              {t(screen.label)}
            </div>
          )}
        </main>
      </div>
      {isAssistant && (
        <Suspense>
          <AssistantPanel />
        </Suspense>
      )}
      {overlay === 'palette' && <Palette screens={screens} onHelp={help} onClose={close} />}
      {overlay === 'help' && <ShortcutHelp screens={screens} path={path} onClose={close} />}
      {isWaiting && (
        <div className={css.waiting} role="status">
          {t('keys.waiting')}
        </div>
      )}
      <TokenDialog />
      <Toasts />
    </div>
  );
};
