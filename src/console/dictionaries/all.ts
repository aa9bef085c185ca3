import type { Text, Texts } from '../i18n/texts.ts';
import * as parts from './parts.ts';

/** All texts, by the part of the console that owns them, for code that maps texts between the languages. */
export const dictionaries: Readonly<Record<string, Texts>> = parts;

/** All texts in one language, by `<part>.<key>`. */
export const dictionaryIn = (language: 'en' | 'zhCN'): Readonly<Record<string, Text>> =>
  Object.fromEntries(
    Object.entries(dictionaries).flatMap(([whose, texts]) =>
      Object.entries(texts).map(([key, [en, zhCN]]) => [
        `${whose}.${key}`,
        (language === 'en' ? en : zhCN) ?? '',
      ]),
    ),
  );
