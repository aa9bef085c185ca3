/**
 * Texts of the console in both of its languages. Each screen has its texts next to its code, in `texts.json`; those of
 * several screens are next to this module. A test checks that each key has both languages and is used.
 *
 * `{name}` is replaced with a value. A text with plural forms is selected by `count` with `Intl.PluralRules`.
 */

import { formatNumber } from './format.ts';
import type { Locale } from './language.ts';
import common from './texts.json' with { type: 'json' };

export type Text = string | { one?: string | undefined; other: string };

export type Values = Record<string, string | number>;

/** The English and the Chinese text of each key, as in `{ "title": ["Agents", "智能体"] }`. */
export type Texts<K extends string = string> = Readonly<Record<K, readonly Text[]>>;

export type Common = keyof typeof common;

export const textIn = <K extends string>(
  texts: Texts<K>,
  locale: Locale,
  key: K | Common,
  values: Values = {},
): string => {
  const [en = '', zhCN = en] = textsOf(texts, key) ?? textsOf(common, key) ?? [];
  const found = locale === 'en' ? en : zhCN;
  return filled(typeof found === 'string' ? found : formOf(found, locale, values.count), values, locale);
};

const textsOf = (texts: Texts, key: string): readonly Text[] | undefined => texts[key];

export const isKey = <K extends string>(texts: Texts<K>, key: string): key is K => key in texts;

const formOf = (forms: Exclude<Text, string>, locale: Locale, count: string | number | undefined): string =>
  (new Intl.PluralRules(locale).select(Number(count)) === 'one' ? forms.one : undefined) ?? forms.other;

/** Only counts are formatted as numbers, because other numbers may be codes. */
const filled = (text: string, values: Values, locale: Locale): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name] ?? whole;
    return name === 'count' && typeof value === 'number' ? formatNumber(value, locale) : String(value);
  });
