/**
 * Texts of the console in both of its languages. Each screen has its texts next to its code. The compiler checks that
 * both languages have the same keys, and a test checks that each key is used.
 *
 * `{name}` is replaced with a value. A text with plural forms is selected by `count` with `Intl.PluralRules`.
 */

import { formatNumber } from './format.ts';
import type { Locale } from './language.ts';

export type Text = string | { one?: string; other: string };

export type Values = Record<string, string | number>;

/** The same keys in both languages. */
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

/** Only counts are formatted as numbers, because other numbers may be codes. */
const filled = (text: string, values: Values, locale: Locale): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name] ?? whole;
    return name === 'count' && typeof value === 'number' ? formatNumber(value, locale) : String(value);
  });
