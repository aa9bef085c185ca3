import { createAtom } from '@xstate/store';
import { KEYS, onKey, readKey, writeKey } from '../data/storage.ts';

/**
 * The theme: light, dark, or that of the system. The `data-theme` attribute of the page shows it and is set only here,
 * after the page has started.
 */

export type ThemeChoice = 'light' | 'dark' | 'system';

const asChoice = (stored: string | null): ThemeChoice =>
  stored === 'light' || stored === 'dark' ? stored : 'system';

export const theme = createAtom<ThemeChoice>(asChoice(readKey(KEYS.theme)));

const dark = matchMedia('(prefers-color-scheme: dark)');

const show = (): void => {
  const choice = theme.get();
  const root = document.documentElement;
  root.dataset.theme = choice === 'system' ? (dark.matches ? 'dark' : 'light') : choice;
  // The background is needed only until the style sheets have loaded.
  root.style.removeProperty('background');
};

const NEXT = { light: 'dark', dark: 'system', system: 'light' } as const;

export const cycleTheme = (): void => {
  theme.set(NEXT[theme.get()]);
  writeKey(KEYS.theme, theme.get());
};

/** `index.html` has already set the theme; this only follows changes. */
export const startTheme = (): void => {
  document.documentElement.style.removeProperty('background');
  theme.subscribe(show);
  dark.addEventListener('change', () => {
    if (theme.get() === 'system') show();
  });
  onKey(KEYS.theme, (value) => theme.set(asChoice(value)));
};

export type Density = 'compact' | 'comfortable';

const asDensity = (stored: string | null): Density => (stored === 'comfortable' ? 'comfortable' : 'compact');

export const density = createAtom<Density>(asDensity(readKey(KEYS.density)));

export const setDensity = (wanted: Density): void => {
  writeKey(KEYS.density, wanted);
  density.set(wanted);
};

export const startDensity = (): void => {
  const apply = (wanted: Density): void => {
    document.documentElement.dataset.density = wanted;
  };
  apply(density.get());
  density.subscribe(apply);
};
