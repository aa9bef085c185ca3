import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { listPaths } from '../../.build/manual.ts';
import { type Outline, readOutline } from '../../.build/manual-pages.ts';
import { listFiles } from '../../.build/sources.ts';
import { ROOT } from '../run/places.ts';

/** Markdown files whose links and code the tests check: the README, the manual in the order of its map, `.github`. */

export type Document = Outline & { file: string; source: string };

export function documents(): Document[] {
  const manual = listPaths().map((path) => `src/docs/${path}.md`);
  const others = listFiles(join(ROOT, '.github')).map((path) => relative(ROOT, path));
  return ['README.md', ...manual, ...others.filter((file) => file.endsWith('.md'))].map((file) => {
    const source = readFileSync(join(ROOT, file), 'utf8');
    return { file, source, ...readOutline(source) };
  });
}

export type Block = { file: string; language: string; text: string };

/** The code blocks of all documents, or those in one language. */
export const blocks = (language?: string): Block[] =>
  documents()
    .flatMap(({ file, code }) => code.map((block) => ({ file, ...block })))
    .filter((block) => language === undefined || block.language === language);

/** Sources that cite sections of the manual. */
export const citingFiles = (): string[] =>
  ['src', 'machines', 'test', 'bench', '.build']
    .flatMap((folder) => listFiles(join(ROOT, folder)))
    .filter((file) => /\.([cm]?[jt]sx?|css|py|sh|ya?ml)$/.test(file))
    .map((file) => relative(ROOT, file));

export type Citation = { page: string; number: string };

const CITED = /\b([a-z0-9-]+)\.md (\d+(?:\.\d+)*)((?:(?:,| and| to) \d+\.\d+(?:\.\d+)*)*)/g;

/** Sections that a source cites, such as `runtime.md 13.5` or `runtime.md 13.5, 13.6`. */
export function citationsIn(source: string): Citation[] {
  const joined = source.replace(/\.md\s*\n\s*(\*|\/\/|#)?\s*(?=\d)/g, '.md ');
  return Array.from(joined.matchAll(CITED), ([, page = '', first = '', more = '']) =>
    [first, ...(more.match(/\d+(?:\.\d+)*/g) ?? [])].map((number) => ({ page, number })),
  ).flat();
}

/** The numbers of headings such as `## 13. Title` and `### 13.5 Title`, and of rules in lists below them. */
export function numbersOf({ source }: Pick<Document, 'source'>): Set<string> {
  const numbers = new Set<string>();
  let section = '';
  for (const line of source.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, '').split('\n')) {
    const [, heading] = /^#{2,6} (\d+(?:\.\d+)*)\.? /.exec(line) ?? [];
    const [, rule] = /^(\d+)[.)] /.exec(line) ?? [];
    if (heading !== undefined) section = heading;
    else if (line.startsWith('#')) section = '';
    if (heading !== undefined) numbers.add(heading);
    else if (rule !== undefined && section !== '') numbers.add(`${section}.${rule}`);
  }
  return numbers;
}
