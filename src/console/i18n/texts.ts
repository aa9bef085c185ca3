/**
 * Texts of the console, in both of its languages. Each screen brings its own beside its code; that both languages have
 * the same keys is checked by the compiler, and that each key is used, by a test.
 *
 * `{name}` stands for a value. A text with forms is chosen by `count`, as `Intl.PluralRules` counts in the language.
 */

import { formatNumber } from './format.ts';
import type { Locale } from './language.ts';

export type Text = string | { one?: string; other: string };

export type Values = Record<string, string | number>;

/** In both languages. */
export type Texts<K extends string = string> = {
  readonly en: Readonly<Record<K, Text>>;
  readonly zhCN: Readonly<Record<K, Text>>;
};

/** @example export const texts = defineTexts({ title: 'Agents' }, { title: '智能体' }); */
export const defineTexts = <const K extends string>(
  en: Readonly<Record<K, Text>>,
  zhCN: Readonly<Record<NoInfer<K>, Text>>,
): Texts<K> => ({ en, zhCN });

export const textIn = <K extends string>(
  texts: Texts<K>,
  locale: Locale,
  key: K,
  values: Values = {},
): string => {
  const found = (locale === 'en' ? texts.en : texts.zhCN)[key];
  return filled(typeof found === 'string' ? found : formOf(found, locale, values.count), values, locale);
};

const formOf = (forms: Exclude<Text, string>, locale: Locale, count: string | number | undefined): string =>
  (new Intl.PluralRules(locale).select(Number(count)) === 'one' ? forms.one : undefined) ?? forms.other;

/** Counts are written as numbers are in the language; other numbers may be codes. */
const filled = (text: string, values: Values, locale: Locale): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name] ?? whole;
    return name === 'count' && typeof value === 'number' ? formatNumber(value, locale) : String(value);
  });
