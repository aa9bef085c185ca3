import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { Component, lazy, type ReactNode, Suspense } from 'react';
import { redactText } from '../data/redact-text.ts';
import { Button } from '../design/Button.tsx';
import { Notice, SkeletonRows } from '../design/Notice.tsx';
import { designTexts } from '../design/texts.ts';
import { useTexts } from '../i18n/locale.ts';
import { NotFound } from './NotFound.tsx';
import css from './Shell.module.css';
import { Shell } from './Shell.tsx';
import type { Screen } from './screen.ts';
import { setScreenPaths } from './screen-paths.ts';

/** The routes of all screens, each with a chunk of its own; the shell stays around them. */

const isChunkError = (error: Error): boolean =>
  /dynamically imported module|module script failed|error loading|unable to preload/i.test(error.message);

const ScreenFailed = ({ error, onRetry }: { error: Error; onRetry: () => void }) => {
  const t = useTexts(designTexts);
  const isChunk = isChunkError(error);
  return (
    <div className={css.failed}>
      <Notice
        tone="error"
        title={t(isChunk ? 'chunk.title' : 'crash.title')}
        actions={
          <Button small onClick={isChunk ? () => location.reload() : onRetry}>
            {t(isChunk ? 'reload' : 'retry')}
          </Button>
        }
      >
        {isChunk ? t('chunk.text') : redactText(error.message)}
      </Notice>
    </div>
  );
};

type BoundaryState = { error: Error | undefined };

/** React has no other way to catch what a screen throws than a class. */
class Boundary extends Component<{ children: ReactNode }, BoundaryState> {
  override state: BoundaryState = { error: undefined };

  static getDerivedStateFromError(error: Error): BoundaryState {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return <ScreenFailed error={error} onRetry={() => this.setState({ error: undefined })} />;
  }
}

/** Screens of the same module are one: what it has stays while one of its addresses leads to the other. */
const hosts = new Map<Screen['load'], () => ReactNode>();

const hostOf = ({ load }: Screen) => {
  const host = hosts.get(load) ?? createHost(load);
  hosts.set(load, host);
  return host;
};

const createHost = (load: Screen['load']) => {
  const Lazy = lazy(load);
  return () => (
    <Boundary>
      <Suspense fallback={<SkeletonRows />}>
        <Lazy />
      </Suspense>
    </Boundary>
  );
};

export const createConsoleRouter = (screens: readonly Screen[], title: string | undefined) => {
  setScreenPaths(screens.map(({ path }) => path));
  const root = createRootRoute({
    component: () => <Shell screens={screens} title={title} />,
    notFoundComponent: () => <NotFound screens={screens} />,
  });
  const routes = screens.map((screen) =>
    createRoute({ getParentRoute: () => root, path: screen.path, component: hostOf(screen) }),
  );
  return createRouter({
    routeTree: root.addChildren(routes),
    // Values of an address are texts, as they are written there.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
      const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
      return text === '' ? '' : `?${text}`;
    },
    defaultPreload: false,
    scrollRestoration: false,
  });
};
