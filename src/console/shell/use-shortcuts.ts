import { useEffect, useRef, useState } from 'react';
import { hasModal } from '../design/Dialog.tsx';
import { useGo } from '../navigation/links.tsx';
import { type Effect, effectOf, type Key } from './keys.ts';
import type { Screen } from './screen.ts';

/** Keyboard shortcuts of the whole console (console.md 3.5). */

/** Time within which a letter has to follow `g`. */
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

/** Focuses the row after or before the focused one, or the first row. */
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

/** Clicks the element that the screen marks for a shortcut with `data-new` or `data-save`. */
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

/** @returns whether the screen handles the shortcut */
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

/** Effects on the shell rather than on the screen. */
type ShellEffects = { palette(): void; help(): void; prefix(): void; go(path: string): void };

/** @returns whether the effect took place; a dialog blocks all but the palette */
const act = (effect: Effect, shell: ShellEffects): boolean => {
  if (effect.do !== 'palette' && hasModal()) return false;
  switch (effect.do) {
    case 'palette':
    case 'help':
    case 'prefix':
      shell[effect.do]();
      return true;
    case 'go':
      shell.go(effect.path);
      return true;
    default:
      return actInScreen(effect);
  }
};

export const placesOf = (screens: readonly Screen[]): Record<string, string> =>
  Object.fromEntries(screens.flatMap(({ nav, path }) => (nav?.key ? [[nav.key, path]] : [])));

/** @returns whether `g` was pressed and a letter is pending */
export const useShortcuts = (
  screens: readonly Screen[],
  shell: Pick<ShellEffects, 'palette' | 'help'>,
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
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      const { shell: own, go: goTo, isWaiting: isPending } = current.current;
      const effect = effectOf(keyOf(event), isPending, places);
      if (effect?.do !== 'prefix') wait(false);
      if (effect && act(effect, { ...own, go: goTo, prefix: () => wait(true) })) event.preventDefault();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [screens]);
  return isWaiting;
};
