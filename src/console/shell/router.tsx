import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { Component, type ComponentType, lazy, type ReactNode, Suspense, useEffect, useRef } from 'react';
import { connection, isConnected, probe } from '../data/connection.ts';
import { redactText } from '../data/redact-text.ts';
import { Button } from '../design/Button.tsx';
import { Notice, SkeletonRows } from '../design/Notice.tsx';
import designTexts from '../design/texts.json' with { type: 'json' };
import { useTexts } from '../i18n/locale.ts';
import { setScreenPaths } from '../navigation/screen-paths.ts';
import { NotFound } from './NotFound.tsx';
import { Shell } from './Shell.tsx';
import type { Screen } from './screen.ts';

/** Routes of all screens, each loaded as a separate chunk. The shell stays mounted. */

const isChunkError = (error: Error): boolean =>
  /dynamically imported module|module script failed|error loading|unable to preload/i.test(error.message);

/** A service that restarts serves no chunks for a moment, so the screen is loaded again once it responds. */
const useRetryOnReturn = (isChunk: boolean, onRetry: () => void): void => {
  const retry = useRef(onRetry);
  retry.current = onRetry;
  useEffect(() => {
    if (!isChunk) return undefined;
    void probe();
    const { unsubscribe } = connection.subscribe((now) => {
      if (isConnected(now)) retry.current();
    });
    return unsubscribe;
  }, [isChunk]);
};

const ScreenFailed = ({ error, onRetry }: { error: Error; onRetry: () => void }) => {
  const t = useTexts(designTexts);
  const isChunk = isChunkError(error);
  useRetryOnReturn(isChunk, onRetry);
  return (
    <div className="inset">
      <Notice
        tone="error"
        title={t(isChunk ? 'chunk.title' : 'crash.title')}
        actions={
          <>
            <Button small onClick={onRetry}>
              {t('retry')}
            </Button>
            {isChunk && (
              <Button small onClick={() => location.reload()}>
                {t('reload')}
              </Button>
            )}
          </>
        }
      >
        {isChunk ? t('chunk.text') : redactText(error.message)}
      </Notice>
    </div>
  );
};

type BoundaryState = { error: Error | undefined };

/** React supports error boundaries only as classes. */
class Boundary extends Component<{ children: ReactNode; onError: (error: Error) => void }, BoundaryState> {
  override state: BoundaryState = { error: undefined };

  static getDerivedStateFromError(error: Error): BoundaryState {
    return { error };
  }

  override componentDidCatch(error: Error): void {
    this.props.onError(error);
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return <ScreenFailed error={error} onRetry={() => this.setState({ error: undefined })} />;
  }
}

/** One component per module, so that state is kept when the address changes between screens of the same module. */
const hosts = new Map<Screen['load'], () => ReactNode>();

const hostOf = ({ load }: Screen) => {
  const host = hosts.get(load) ?? createHost(load);
  hosts.set(load, host);
  return host;
};

/** Style sheets that could not be loaded are not requested again with the chunk that needs them. */
const reloadStyles = (): void => {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')) {
    if (!link.sheet) link.replaceWith(link.cloneNode());
  }
};

/** The component of a screen. `lazy` keeps a rejected import for ever, so a failed one is replaced. */
type Chunk = { component: ComponentType };

const Content = ({ chunk: { component: Loaded } }: { chunk: Chunk }) => <Loaded />;

const createHost = (load: Screen['load']) => {
  const chunk: Chunk = { component: lazy(load) };
  const onError = (error: Error): void => {
    if (!isChunkError(error)) return;
    reloadStyles();
    chunk.component = lazy(load);
  };
  return () => (
    <Boundary onError={onError}>
      <Suspense fallback={<SkeletonRows />}>
        <Content chunk={chunk} />
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
    // All query parameters are texts, exactly as written.
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
