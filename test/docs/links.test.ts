import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import t from 'tap';
import { readOutline } from '../../.build/manual-pages.ts';
import { ROOT } from '../run/places.ts';
import { citationsIn, citingFiles, documents, numbersOf } from './pages.ts';

/** Links between the pages of the manual, and citations of its sections in the sources. */

const all = documents();
const manual = all.filter(({ file }) => file.startsWith('src/docs/'));

t.test('gives headings the anchors of GitHub', async (t) => {
  const { headings } = readOutline(
    '# A `code` & *more*\n\n## 13.5 Runs: start, end\n\n## Twice\n\n## Twice\n\n## `GET /v1/runs/:id`\n\n## A [link](x)\n',
  );
  t.strictSame(
    headings.map(({ anchor }) => anchor),
    ['a-code--more', '135-runs-start-end', 'twice', 'twice-1', 'get-v1runsid', 'a-link'],
  );
});

for (const { file, links, headings } of all) {
  t.test(`${file} links to existing files and headings`, async (t) => {
    const broken = links.filter((link) => {
      if (/^[a-z][a-z+.-]*:/i.test(link)) return false;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : posix.join(dirname(file), path);
      if (!existsSync(join(ROOT, target))) return true;
      if (anchor === undefined) return false;
      if (!target.endsWith('.md')) return true;
      const known = path === '' ? headings : readOutline(readFileSync(join(ROOT, target), 'utf8')).headings;
      return !known.some((heading) => heading.anchor === decodeURIComponent(anchor));
    });
    t.strictSame(broken, []);
  });
}

t.test('lists every page in the map of the manual', async (t) => {
  const index = manual.find(({ file }) => file === 'src/docs/index.md');
  const listed = new Set(index?.links.map((link) => `src/docs/${link.replace(/#.*/, '')}`));
  t.strictSame(
    manual.map(({ file }) => file).filter((file) => file !== 'src/docs/index.md' && !listed.has(file)),
    [],
  );
});

t.test('begins every page with one title and a summary', async (t) => {
  for (const { file, headings, source } of manual) {
    t.equal(headings[0]?.level, 1, file);
    t.equal(headings.filter(({ level }) => level === 1).length, 1, file);
    t.match(source, /^# .+\n\n[^\n#|`<]/, `${file} has a paragraph below its title`);
  }
});

t.test('finds citations and numbered headings', async (t) => {
  t.strictSame(citationsIn('runs (runtime.md 13.5, 13.6) and\n * config.md\n * 2, a2a.md 12.3 to 12.9.'), [
    { page: 'runtime', number: '13.5' },
    { page: 'runtime', number: '13.6' },
    { page: 'config', number: '2' },
    { page: 'a2a', number: '12.3' },
    { page: 'a2a', number: '12.9' },
  ]);
  const numbers = numbersOf({ source: '## 3. A\n### 3.2 B\n1. One\n2. Two\n## Other\n1. None\n' });
  t.strictSame([...numbers], ['3', '3.2', '3.2.1', '3.2.2']);
});

const known = new Map(
  manual
    .filter(({ file }) => /^src\/docs\/(?:design|reference)\//.test(file))
    .map((page) => [posix.basename(page.file, '.md'), { ...page, numbers: numbersOf(page) }]),
);

t.test('has a numbered heading for every section that a source cites', async (t) => {
  const cited = new Map<string, Set<string>>();
  for (const file of citingFiles()) {
    if (file.startsWith('test/docs/')) continue;
    for (const { page, number } of citationsIn(readFileSync(join(ROOT, file), 'utf8'))) {
      const section = `${page}.md ${number}`;
      cited.set(section, (cited.get(section) ?? new Set()).add(file));
    }
  }
  t.ok(cited.size > 100);
  const missing = [...cited]
    .filter(([section]) => {
      const [page = '', number = ''] = section.split('.md ');
      return !known.get(page)?.numbers.has(number);
    })
    .map(([section, files]) => `${section} (${[...files].join(', ')})`);
  t.strictSame(missing.sort(), []);
});
