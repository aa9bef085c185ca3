import { useEffect, useRef, useState } from 'react';
import { hasModal } from '../design/Dialog.tsx';
import { type Effect, effectOf, type Key } from './keys.ts';
import { useGo } from './links.tsx';
import type { Screen } from './screen.ts';

/** Keys of the whole console (console.md 3.5). */

/** So long `g` waits for its letter. */
const PREFIX_MS = 1000;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.closest('textarea, select, input:not([type="checkbox"], [type="radio"], [type="button"])') !==
      null);

const keyOf = (event: KeyboardEvent): Key => ({
  key: event.key,
  mod: event.ctrlKey || event.metaKey,
  shift: event.shiftKey,
  alt: event.altKey,
  typing: isTyping(event.target),
});

const find = (selector: string): HTMLElement | undefined =>
  document.querySelector<HTMLElement>(selector) ?? undefined;

/** The row after or before the one that has the focus, or the first. */
const moveRow = (by: 1 | -1): boolean => {
  const rows = Array.from(document.querySelectorAll<HTMLElement>('[data-row]'));
  if (rows.length === 0) return false;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))];
  next?.focus();
  return next !== undefined;
};

const moveTab = (by: 1 | -1): boolean => {
  const tabs = Array.from(document.querySelectorAll<HTMLElement>('[role="tab"]'));
  const at = tabs.findIndex((tab) => tab.getAttribute('aria-selected') === 'true');
  const next = tabs[at + by];
  next?.click();
  return next !== undefined;
};

/** Screens mark what these keys are for: `data-new`, `data-save`, `data-page-search`. */
const press = (selector: string): boolean => {
  const element = find(selector);
  if (!element || element.matches(':disabled')) return element !== undefined;
  element.click();
  return true;
};

const focusSearch = (): boolean => {
  const field = find('[data-page-search]');
  field?.focus();
  return field !== undefined;
};

/** @returns whether there was something for it */
const actInScreen = (effect: Effect): boolean => {
  switch (effect.do) {
    case 'search':
      return focusSearch();
    case 'new':
      return press('[data-new]');
    case 'save':
      return press('[data-save]');
    case 'row':
      return moveRow(effect.by);
    case 'tab':
      return moveTab(effect.by);
    default:
      return false;
  }
};

export const placesOf = (screens: readonly Screen[]): Record<string, string> =>
  Object.fromEntries(screens.flatMap(({ nav, path }) => (nav?.key ? [[nav.key, path]] : [])));

/** @returns whether `g` waits for its letter */
export const useShortcuts = (
  screens: readonly Screen[],
  shell: { palette: () => void; help: () => void },
): boolean => {
  const go = useGo();
  const [isWaiting, wait] = useState(false);
  const current = useRef({ shell, go, isWaiting });
  current.current = { shell, go, isWaiting };
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setTimeout(() => wait(false), PREFIX_MS);
    return () => clearTimeout(timer);
  }, [isWaiting]);
  useEffect(() => {
    const places = placesOf(screens);
    const act = (effect: Effect): boolean => {
      const { shell: own, go: goTo } = current.current;
      if (effect.do === 'palette') own.palette();
      else if (hasModal()) return false;
      else if (effect.do === 'help') own.help();
      else if (effect.do === 'prefix') wait(true);
      else if (effect.do === 'go') goTo(effect.path);
      else return actInScreen(effect);
      return true;
    };
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      const effect = effectOf(keyOf(event), current.current.isWaiting, places);
      if (effect?.do !== 'prefix') wait(false);
      if (effect && act(effect)) event.preventDefault();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [screens]);
  return isWaiting;
};
