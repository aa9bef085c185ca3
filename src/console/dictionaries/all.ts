import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Text, Texts } from '../i18n/texts.ts';

/** All texts, for tests, which map texts between the languages. Each part of the console loads only its own. */

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The texts by the folder that owns them. */
export const dictionaries: Readonly<Record<string, Texts>> = Object.fromEntries(
  readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('/texts.json'))
    .map((name) => [dirname(name), JSON.parse(readFileSync(join(ROOT, name), 'utf8'))]),
);

/** All texts in one language, by `<folder>.<key>`. */
export const dictionaryIn = (language: 'en' | 'zhCN'): Readonly<Record<string, Text>> =>
  Object.fromEntries(
    Object.entries(dictionaries).flatMap(([whose, texts]) =>
      Object.entries(texts).map(([key, [en, zhCN]]) => [
        `${whose}.${key}`,
        (language === 'en' ? en : zhCN) ?? '',
      ]),
    ),
  );
