import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ConsoleRecord, RECORD } from './console.ts';

/** The licenses of all packages whose code is inside the programs of this one. */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUNDLE = join(ROOT, 'dist/bundle.json');

type Metafile = { outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> };

const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;

/** Folders of the packages of which at least a byte was bundled, by name. */
const bundledPackages = (): string[] => {
  const { outputs }: Metafile = JSON.parse(readFileSync(BUNDLE, 'utf8'));
  const folders = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? (PACKAGE.exec(path)?.[0] ?? []) : [],
    ),
  );
  const { packages }: ConsoleRecord = JSON.parse(readFileSync(RECORD, 'utf8'));
  return [...new Set([...folders, ...packages])].sort();
};

const TEXT = /^(licen[cs]e|notice|copying)/i;

type Manifest = { name: string; version: string; license?: string };

/** A package by its name, and its license. */
const readPackage = (folder: string): { title: string; text: string } => {
  const path = join(ROOT, folder);
  const { name, version, license }: Manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const texts = readdirSync(path)
    .filter((file) => TEXT.test(file))
    .sort()
    .map((file) => readFileSync(join(path, file), 'utf8').trim());
  if (texts.length === 0 && license === undefined) throw new Error(`${folder} has no license`);
  return { title: `${name} ${version} (${license ?? 'see below'})`, text: texts.join('\n\n') };
};

const RULE = `\n\n${'-'.repeat(80)}\n\n`;

/** Writes `dist/LICENSES.txt`, and takes away what the bundler said of its inputs. @throws when a package has none */
export const writeLicenses = (): void => {
  const titles = new Map<string, string[]>();
  for (const { title, text } of bundledPackages().map(readPackage)) {
    titles.set(text, [...(titles.get(text) ?? []), title]);
  }
  const notices = [...titles].map(([text, those]) => `${those.join('\n')}\n\n${text}`.trim());
  writeFileSync(join(ROOT, 'dist/LICENSES.txt'), `${notices.join(RULE)}\n`);
  rmSync(BUNDLE);
};
