import { createAtom } from '@xstate/store';
import { useMemo } from 'react';
import { KEYS, onKey, readKey, writeKey } from '../data/storage.ts';
import { useAtom } from '../data/use-atom.ts';
import { formatDuration, formatSeconds } from './duration.ts';
import {
  formatAge,
  formatClock,
  formatCompact,
  formatDate,
  formatMoment,
  formatNumber,
  formatPercent,
  formatTick,
  formatUsd,
  type Zone,
} from './format.ts';
import type { Locale } from './language.ts';
import { type Common, isKey, type Texts, textIn, type Values } from './texts.ts';

/** The language and the time zone of this console. */

const asLocale = (stored: string | null): Locale => {
  if (stored === 'en' || stored === 'zh-CN') return stored;
  const wanted = globalThis.navigator?.languages.find((language) => /^(zh|en)\b/i.test(language));
  return wanted?.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
};

export const locale = createAtom<Locale>(asLocale(readKey(KEYS.locale)));

const asZone = (stored: string | null): Zone => (stored === 'utc' ? 'utc' : 'local');

export const zone = createAtom<Zone>(asZone(readKey(KEYS.zone)));

const show = (language: Locale): void => {
  document.documentElement.lang = language;
  document.documentElement.dataset.locale = language;
};

export const startLocale = (): void => {
  show(locale.get());
  locale.subscribe(show);
  onKey(KEYS.locale, (value) => locale.set(asLocale(value)));
  onKey(KEYS.zone, (value) => zone.set(asZone(value)));
};

export const setLocale = (language: Locale): void => {
  writeKey(KEYS.locale, language);
  locale.set(language);
};

export const setZone = (wanted: Zone): void => {
  writeKey(KEYS.zone, wanted);
  zone.set(wanted);
};

export type Say<K extends string> = (key: K | Common, values?: Values) => string;

/** Translates outside of components, for example for a toast. */
export const say = <K extends string>(texts: Texts<K>, key: K | Common, values?: Values): string =>
  textIn(texts, locale.get(), key, values);

/** @example const t = useTexts(texts); … t('title') */
export const useTexts = <K extends string>(texts: Texts<K>): Say<K> => {
  const language = useAtom(locale);
  return useMemo(() => (key, values) => textIn(texts, language, key, values), [texts, language]);
};

/** The text of a value, or the value itself if only a newer service has it. */
export const textOr = <K extends string>(t: Say<K>, texts: Texts<K>, key: string, value: string): string =>
  isKey(texts, key) ? t(key) : value;

/** Formats numbers and times in the current language and time zone. */
export const useFormat = () => {
  const language = useAtom(locale);
  const where = useAtom(zone);
  return useMemo(
    () => ({
      number: (value: number) => formatNumber(value, language),
      compact: (value: number) => formatCompact(value, language),
      percent: (share: number) => formatPercent(share, language),
      usd: (value: number | undefined) => (value === undefined ? '—' : formatUsd(value, language)),
      date: (at: number) => formatDate(at, language, where),
      moment: (at: number) => formatMoment(at, Date.now(), language, where),
      clock: (at: number) => formatClock(at, language, where),
      age: (at: number, now: number) => formatAge(at, now, language),
      tick: (at: number, kind: 'time' | 'day') => formatTick(at, language, where, kind),
      duration: (ms: number) => formatDuration(ms, language),
      seconds: (seconds: number) => formatSeconds(seconds, language),
    }),
    [language, where],
  );
};

export type Format = ReturnType<typeof useFormat>;
