import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import t, { type Test } from 'tap';
import { buildApi } from '../../.build/api.ts';
import { pageOf } from '../../.build/api-page.ts';
import { ENTRIES } from '../../.build/entries.ts';
import { readOutline } from '../../.build/manual-pages.ts';
import { outputOf } from '../e2e/in-process.ts';
import { ROOT } from '../run/places.ts';
import { examplesIn, freeNamesOf, programOfExample } from './api-exports.ts';
import { documents } from './pages.ts';

/**
 * The API reference: every export of the package is documented with an example, and links lead to pages. `test/packed`
 * type-checks the examples with the package; here, those that need no service are executed with the build.
 */

const modules = await buildApi();
const pages = new Map(modules.map((module) => [module.page, pageOf(module, modules)]));
const all = modules.flatMap((module) => module.exports.map((each) => ({ module, each })));
const nameOf = ({ module, each }: (typeof all)[number]): string => `${module.name}: ${each.name}`;

t.test('has a page and the exports of each entry point', async (t) => {
  t.strictSame([...pages.keys()].sort(), ENTRIES.map(({ page }) => page).sort());
  t.strictSame(modules.map(({ name }) => name).sort(), ENTRIES.map(({ module }) => module).sort());
  for (const { module, output } of ENTRIES) {
    const values = Object.keys(await import(pathToFileURL(join(ROOT, 'dist', `${output}.js`)).href));
    const { exports = [], others = [] } = modules.find(({ name }) => name === module) ?? {};
    const documented = new Set([...exports, ...others].map(({ name }) => name));
    t.strictSame(
      values.filter((name) => !documented.has(name)),
      [],
      module,
    );
  }
});

t.test('documents every export', async (t) => {
  t.ok(all.length > 120);
  t.strictSame(all.filter(({ each }) => each.text === '').map(nameOf), []);
});

t.test('shows an example of TypeScript for every export', async (t) => {
  t.strictSame(
    all.filter(({ each }) => !examplesIn(each).some(({ language }) => /^tsx?$/.test(language))).map(nameOf),
    [],
  );
});

t.test('links to existing pages and headings', async (t) => {
  const outlines = new Map([
    ...documents().map(({ file, headings }) => [file.replace('src/docs/', ''), headings] as const),
    ...[...pages].map(([path, markdown]) => [`${path}.md`, readOutline(markdown).headings] as const),
  ]);
  for (const [path, markdown] of pages) {
    const { links } = readOutline(markdown);
    t.ok(links.length > 0, path);
    const broken = links.filter((link) => {
      if (/^[a-z][a-z+.-]*:/i.test(link)) return false;
      const [file = '', anchor] = link.split('#');
      const headings = outlines.get(file === '' ? `${path}.md` : posix.join(posix.dirname(path), file));
      if (!headings) return true;
      return (
        anchor !== undefined && !headings.some((heading) => heading.anchor === decodeURIComponent(anchor))
      );
    });
    t.strictSame(broken, [], path);
  }
});

/** A program of the reference as a module that imports the build and has a separate data directory. */
const built = async (t: Test, name: string, program: string): Promise<string> => {
  const folder = join(ROOT, '.tap', 'api-examples', name);
  mkdirSync(folder, { recursive: true });
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { code } = await transform(program, { loader: 'ts', target: 'node20.19' });
  const file = join(folder, 'example.mjs');
  const local = ENTRIES.reduce(
    (text, { module, output }) =>
      text.replaceAll(`"${module}"`, `"${pathToFileURL(join(ROOT, 'dist', `${output}.js`)).href}"`),
    code,
  );
  writeFileSync(file, local.replaceAll('"./data"', JSON.stringify(join(folder, 'data'))));
  return pathToFileURL(file).href;
};

t.test(
  'runs the examples of functions and constants that need no service, with the stated output',
  async (t) => {
    let count = 0;
    for (const { module, each } of all) {
      if (!/^(function|constant)$/.test(each.kind) || module.name === 'troupe/react') continue;
      for (const example of examplesIn(each)) {
        if (freeNamesOf(example.code).length > 0 || example.code.includes('http://127.0.0.1:38080')) continue;
        const file = await built(t, `${module.page}-${each.name}`, programOfExample(example, module));
        const output = await outputOf(() => import(file));
        const stated = Array.from(
          example.code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm),
          ([, line]) => line,
        );
        if (stated.length > 0) t.equal(output, `${stated.join('\n')}\n`, nameOf({ module, each }));
        count += 1;
      }
    }
    t.ok(count >= 20, `${count} examples ran`);
  },
);
