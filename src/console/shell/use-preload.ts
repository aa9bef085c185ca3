import { useEffect } from 'react';
import { screenAt } from './crumbs.ts';
import type { Screen } from './screen.ts';

/**
 * Loads the code of screens before they are opened: of the one that a link under the pointer or the focus leads to, and
 * of all others, one after the other, while the browser is idle. The console then also works while the service that
 * serves it restarts.
 */

/** A failed load is repeated when the screen is opened. */
const load = (screen: Screen | undefined): Promise<unknown> =>
  screen?.load().catch(() => {}) ?? Promise.resolve();

const linkedScreen = (target: EventTarget | null, screens: readonly Screen[]): Screen | undefined => {
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href]') : null;
  return link && link.origin === location.origin ? screenAt(link.pathname, screens) : undefined;
};

const whenIdle = (work: () => Promise<unknown>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const handle = requestIdleCallback(() => void work().then(() => resolve()));
    signal.addEventListener('abort', () => cancelIdleCallback(handle));
  });

const loadAll = async (screens: readonly Screen[], signal: AbortSignal): Promise<void> => {
  for (const screen of screens) {
    if (signal.aborted) return;
    await whenIdle(() => load(screen), signal);
  }
};

/** Other requests of the first screen come first. */
const AFTER_MS = 3000;

export const usePreload = (screens: readonly Screen[]): void => {
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const onHint = ({ target }: Event): void => void load(linkedScreen(target, screens));
    for (const event of ['pointerover', 'focusin']) {
      document.addEventListener(event, onHint, { passive: true, signal });
    }
    // Safari has no idle callbacks.
    const timer = setTimeout(() => {
      if ('requestIdleCallback' in window) void loadAll(screens, signal);
    }, AFTER_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [screens]);
};
