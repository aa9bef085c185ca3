import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { adviceFor, verdict } from './prose-rules.ts';
import { type Prose, proseInCode, proseInMarkdown } from './prose-texts.ts';

/**
 * Checks the language of everything that a person reads: `npm run check:prose -- [path ...]`.
 *
 * Prints the texts that do not follow the style, and fails if there are any. Paths limit the check to the files below
 * them.
 */

const FOLDERS = ['src', 'machines', 'test', 'bench', '.build', '.github'];
const FILES = ['README.md', '.dependency-cruiser.cjs'];

type Finding = Prose & { readonly file: string; readonly advice: readonly string[] };

const paths = process.argv.slice(2);
const files = filesBelow().filter(isChosen);
const findings = files.flatMap(findingsOf);
print(findings);
const problem = verdict(files.length, findings.length);
if (problem) {
  console.error(`.build/prose.ts: ${problem}`);
  process.exitCode = 1;
}

function filesBelow(): string[] {
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  return [...FILES, ...inFolders.filter((path) => /\.([cm]?js|tsx?|md)$/.test(path))].sort();
}

function isChosen(file: string): boolean {
  return paths.length === 0 || paths.some((path) => file === path || file.startsWith(join(path, '/')));
}

function findingsOf(file: string): Finding[] {
  const source = readFileSync(file, 'utf8');
  const texts = file.endsWith('.md') ? proseInMarkdown(source) : proseInCode(file, source);
  return texts.flatMap((prose) => {
    const advice = adviceFor(prose.text, prose.isAssertion);
    return advice.length > 0 ? [{ ...prose, file, advice }] : [];
  });
}

function print(all: readonly Finding[]): void {
  for (const { file, line, text, advice } of all) {
    console.log(`${file}:${line} ${text.slice(0, 160)}\n    ${advice.join('; ')}`);
  }
}
