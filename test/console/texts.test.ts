import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import ts from 'typescript-5';
import { dictionaries } from '../../src/console/dictionaries/all.ts';
import { en } from '../../src/console/dictionaries/en.ts';
import { zhCN } from '../../src/console/dictionaries/zh-CN.ts';
import { formatDuration, formatSeconds } from '../../src/console/i18n/duration.ts';
import { formatAge, formatDate, formatTick, instantOf } from '../../src/console/i18n/format.ts';
import { type Text, textIn } from '../../src/console/i18n/texts.ts';

/** Every text of the console exists in both languages and only in the dictionaries. */

const ROOT = fileURLToPath(new URL('../../src/console', import.meta.url));

const files = readdirSync(ROOT, { recursive: true })
  .map(String)
  .filter((name) => /\.tsx?$/.test(name));

const sources = new Map(files.map((name) => [name, readFileSync(join(ROOT, name), 'utf8')]));

const formsOf = (text: Text | undefined): string[] => {
  if (text === undefined) return [];
  return typeof text === 'string' ? [text] : Object.values(text);
};

t.test('has each text with the same placeholders in both languages', async (t) => {
  for (const texts of Object.values(dictionaries)) {
    for (const [key, both] of Object.entries(texts)) t.equal(both.length, 2, key);
  }
  const valuesIn = (text: Text | undefined) =>
    [...new Set(formsOf(text).flatMap((form) => form.match(/\{\w+\}/g) ?? []))].sort();
  for (const key of Object.keys(en)) t.strictSame(valuesIn(zhCN[key]), valuesIn(en[key]), key);
  const empty = Object.keys(en).filter((key) =>
    [en[key], zhCN[key]].some((text) => formsOf(text).includes('')),
  );
  t.strictSame(empty, []);
});

/**
 * Keys may also be composed, as in `t(\`status.${status}\`)` or `t(\`${field}.hint\`)`; the literal part counts then.
 */
const isUsed = (key: string, text: string): boolean =>
  text.includes(`'${key}'`) ||
  Array.from(key.matchAll(/\./g), ({ index }) => [key.slice(0, index), key.slice(index + 1)]).some(
    ([start, end]) =>
      text.includes(`\`${start}.\${`) ||
      (text.includes(`}.${end}\``) && new RegExp(`\\b${start}\\b`).test(text)),
  ) ||
  // A key without a dot may be an item of a list.
  (!key.includes('.') && new RegExp(`['"]${key}['"]`).test(text));

t.test('uses every key', async (t) => {
  const code = [...sources.values()].join('\n');
  for (const [whose, texts] of Object.entries(dictionaries)) {
    const unused = Object.keys(texts).filter((key) => !isUsed(key, code));
    // Names of screens may exist before their screens.
    const early = (key: string) =>
      ['shell', 'feedback'].includes(whose) && /^(nav|entity|palette\.open|bell\.kind)\b/.test(key);
    t.strictSame(
      unused.filter((key) => !early(key)),
      [],
      whose,
    );
  }
});

const SAID = new Set(['aria-label', 'title', 'placeholder', 'label', 'alt', 'purpose']);
const isWord = (text: string): boolean => /\p{L}{2,}/u.test(text);

/** Names, units and commands are the same in all languages. */
const UNTRANSLATED = new Set(['Troupe', 'JSON', 'HTTP', 'https://', 'npx', 'licenses.txt']);

const hardCoded = (name: string, text: string): string[] => {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.ESNext, true, ts.ScriptKind.TSX);
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isJsxText(node) && isWord(node.text)) found.push(node.text.trim());
    if (ts.isJsxAttribute(node) && SAID.has(node.name.getText()) && node.initializer) {
      if (ts.isStringLiteral(node.initializer) && isWord(node.initializer.text))
        found.push(node.initializer.text);
    }
    ts.forEachChild(node, look);
  };
  look(file);
  return found.filter((words) => !UNTRANSLATED.has(words)).map((words) => `${name}: ${words}`);
};

t.test('contains no text outside of the dictionaries', async (t) => {
  t.strictSame(
    [...sources].filter(([name]) => name.endsWith('.tsx')).flatMap(([name, text]) => hardCoded(name, text)),
    [],
  );
});

t.test('fills in values and selects plural forms by the count', async (t) => {
  const texts = { runs: [{ one: '{count} run', other: '{count} runs of {who}' }, '{count} 次'] };
  t.equal(textIn(texts, 'en', 'runs', { count: 1 }), '1 run');
  t.equal(textIn(texts, 'en', 'runs', { count: 2, who: '$&' }), '2 runs of $&');
  t.equal(textIn(texts, 'zh-CN', 'runs', { count: 1 }), '1 次');
  t.equal(textIn(texts, 'en', 'runs', { count: 2 }), '2 runs of {who}');
  t.equal(textIn(texts, 'en', 'runs', { count: 2500 }), '2,500 runs of {who}');
});

t.test('reads all time formats and formats times and durations', async (t) => {
  t.equal(instantOf(1_700_000_000), 1_700_000_000_000);
  t.equal(instantOf(1_700_000_000_000), 1_700_000_000_000);
  t.equal(instantOf('2026-01-02T03:04:05Z'), Date.parse('2026-01-02T03:04:05Z'));
  for (const nothing of [0, null, undefined, 'soon', Number.NaN]) t.equal(instantOf(nothing), undefined);
  t.strictSame(
    [812, 3400, 59_960, 125_000, 3_600_000, 11_520_000, 604_800_000, 352_800_000].map((ms) =>
      formatDuration(ms, 'en'),
    ),
    ['812 ms', '3.4 s', '1 m', '2 m 05 s', '1 h', '3 h 12 m', '7 d', '4 d 2 h'],
  );
  t.strictSame(
    [0.9, 7.4, 59.99, 61].map((seconds) => formatSeconds(seconds, 'en')),
    ['0 s', '7 s', '59 s', '1 m 01 s'],
  );
  t.strictSame(
    [812, 3400, 125_000, 11_520_000, 352_800_000].map((ms) => formatDuration(ms, 'zh-CN')),
    ['812 ms', '3.4秒', '2分钟 05秒', '3小时 12分钟', '4天 2小时'],
  );
  t.equal(formatSeconds(7.4, 'zh-CN'), '7秒');
  t.equal(formatTick(50_400_000, 'en', 'utc', 'time'), '14:00');
  t.match(formatTick(50_400_000, 'en', 'utc', 'day'), /Jan 1|1 Jan/);
  t.equal(formatAge(0, 90_000, 'en'), '1 min ago');
  t.match(formatAge(0, 90_000, 'zh-CN'), /1.*分钟前/);
  t.match(formatDate(0, 'en', 'utc'), /Jan 1, 1970.*00:00:00 UTC/);
});
