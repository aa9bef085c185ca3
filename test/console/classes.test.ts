import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

/** A class that no style sheet defines, or that no element has, is a mistake which neither compiler nor browser reports. */

const ROOT = fileURLToPath(new URL('../../src/console', import.meta.url));

const files = readdirSync(ROOT, { recursive: true }).map(String);
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

const components = new Map(files.filter((name) => name.endsWith('.tsx')).map((name) => [name, read(name)]));

/** The classes in the selectors of a style sheet. */
const classesIn = (sheet: string): Set<string> => {
  const selectors = sheet
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/:global\([^{]*/g, '')
    .replaceAll(/\{[^{}]*\}/g, '{}');
  return new Set(Array.from(selectors.matchAll(/\.([a-zA-Z][\w-]*)/g), ([, name = '']) => name));
};

/** Each use of a module of styles: its file, and the classes that a component takes from it. */
const usesOf = (name: string, text: string) =>
  Array.from(text.matchAll(/^import (\w+) from '([^']+\.module\.css)';$/gm), ([, local, path = '']) => ({
    sheet: normalize(join(name, '..', path)),
    isWhole: new RegExp(`\\b${local}\\[`).test(text),
    classes: Array.from(text.matchAll(new RegExp(`\\b${local}\\.(\\w+)`, 'g')), ([, one = '']) => one),
  }));

t.test('defines exactly the classes of modules that components use', async (t) => {
  const uses = [...components].flatMap(([name, text]) => usesOf(name, text));
  for (const sheet of files.filter((name) => name.endsWith('.module.css'))) {
    const own = uses.filter((use) => use.sheet === sheet);
    if (own.some(({ isWhole }) => isWhole)) continue;
    const used = new Set(own.flatMap(({ classes }) => classes));
    t.strictSame([...classesIn(read(sheet))].sort(), [...used].sort(), sheet);
  }
});

/** Global classes of an attribute: its literal, or the words of its template outside of expressions. */
const wordsIn = (text: string): string[] =>
  Array.from(text.matchAll(/\bclassName=(?:"([^"]*)"|\{`((?:[^`$]|\$\{[^}]*\})*)`\})/g)).flatMap(
    ([, literal, template = '']) =>
      (literal ?? template.replaceAll(/\$\{[^}]*\}/g, ' ')).split(/\s+/).filter(Boolean),
  );

t.test('uses only global classes that exist, and all of them', async (t) => {
  const known = classesIn(read('design/utilities.css') + read('design/global.css'));
  const all = [...components.values()];
  const used = new Set(all.flatMap(wordsIn));
  t.strictSame(
    [...used].filter((name) => !known.has(name)),
    [],
  );
  const text = all.join('\n');
  t.strictSame(
    [...known].filter((name) => !used.has(name) && !text.includes(`'${name}'`)),
    [],
  );
});
