import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import { CELL, FIRST_RELEASES, NODE_LINES, NOT_RUN, platformsMarkdown } from './platforms-table.ts';
import { readTable } from './replace-table.ts';

/** Statements about Node in the documentation, the package and the workflow. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const PAGE = 'src/docs/reference/platforms.md';
const page = textOf(PAGE);
const lines = NODE_LINES.map(String);

t.test('contains the table of platforms in the format of its generator', async (t) => {
  const shown = readTable('platforms', PAGE) ?? '';
  const withoutResults = (table: string): string[][] =>
    table.split('\n').map((line) => {
      const cells = line.replace(/\d{4}-\d\d-\d\d/, 'DATE').split(' | ');
      return line.includes('Node 20') || line.includes('---') ? cells : cells.slice(0, 2);
    });
  const form = platformsMarkdown('2000-01-01', () => NOT_RUN);
  t.strictSame(withoutResults(shown), withoutResults(form), 'regenerate with: npm run platforms');
  const results = shown
    .split('\n')
    .slice(4)
    .flatMap((line) => line.replace(/ \|$/, '').split(' | ').slice(2));
  t.ok(results.length > 0);
  for (const cell of results) t.match(cell, CELL);
});

t.test('names the same lines of Node in engines, the manual and the workflow', async (t) => {
  const { engines } = JSON.parse(textOf('package.json'));
  const ranges: string[] = engines.node.split(' || ');
  const firsts = ranges.map((range) => /^(?:\^|>=)(\d+)\.(\d+)\.0$/.exec(range) ?? []);
  t.strictSame(
    firsts.map(([, major, minor]) => `${major}.${minor}`),
    NODE_LINES.map((line) => FIRST_RELEASES[line]),
  );
  const [sentence = ''] = /Troupe runs on Node .*? newer\./s.exec(page) ?? [];
  for (const [range, major = '', minor = ''] of firsts) {
    const from = minor === '0' ? major : `${major} from ${major}.${minor} on`;
    t.match(sentence, from, range);
  }
  const matrix = z.object({ strategy: z.object({ matrix: z.object({ node: z.array(z.number()) }) }) });
  const { jobs } = z
    .object({ jobs: z.object({ test: matrix, alpine: matrix }) })
    .parse(parse(textOf('.github/workflows/ci.yml')));
  for (const job of [jobs.test, jobs.alpine]) t.strictSame(job.strategy.matrix.node, [...NODE_LINES]);
});

t.test('uses a supported Node in the image, and builds the programs for the oldest', async (t) => {
  const images = Array.from(
    textOf('src/docs/deploy/Dockerfile').matchAll(/^FROM node:(\d+)-/gm),
    ([, major]) => major,
  );
  t.ok(images.length > 0);
  for (const major of images) t.ok(lines.includes(major ?? ''), `node:${major}`);
  const { engines } = JSON.parse(textOf('package.json'));
  const [, oldest = ''] = /^\^(\d+\.\d+)\.0/.exec(engines.node) ?? [];
  t.match(textOf('.build/programs.ts'), `TARGET = 'node${oldest}`);
});

t.test('contains every script that the workflow and .ci/run call', async (t) => {
  const named = ['.github/workflows/ci.yml', '.ci/run', '.ci/newest-node', '.ci/debian-13', '.ci/musl-root']
    .flatMap((file) => [...textOf(file).matchAll(/(?<![\w/])\.ci\/[\w-]+/g)])
    .map(([path]) => path);
  t.ok(named.length > 5);
  for (const path of new Set(named)) t.match(textOf(path), /^#!\/usr\/bin\/env bash\n/, path);
});
