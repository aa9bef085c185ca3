import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConsoleRecord, RECORD } from './console.ts';
import { MANUAL_RECORD, type ManualRecord } from './manual.ts';
import type { Metafile } from './programs.ts';
import { type Bundled, createSbom } from './sbom.ts';
import { packageOf, ROOT } from './sources.ts';

/** Collects the licenses of all packages that are bundled into the programs. */

const BUNDLE = join(ROOT, 'dist/bundle.json');

/** Folders of the packages with at least one bundled byte, by name. */
const bundledPackages = (): string[] => {
  const { outputs }: Metafile = JSON.parse(readFileSync(BUNDLE, 'utf8'));
  const folders = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? (packageOf(path) ?? []) : [],
    ),
  );
  const { packages }: ConsoleRecord = JSON.parse(readFileSync(RECORD, 'utf8'));
  const manual: ManualRecord = JSON.parse(readFileSync(MANUAL_RECORD, 'utf8'));
  return [...new Set([...folders, ...packages, ...manual.packages])].sort();
};

const TEXT = /^(licen[cs]e|notice|copying)/i;

type Manifest = {
  name: string;
  version: string;
  license?: string;
  author?: string | { name: string };
  maintainers?: (string | { name: string })[];
};

const nameOfPerson = (person: string | { name: string } | undefined): string | undefined =>
  typeof person === 'object' ? person.name : person;

/** @throws if the package has no license identifier, or no license text is available */
export const readPackage = (
  folder: string,
  texts: ReadonlyMap<string, string>,
  root: string = ROOT,
): Bundled => {
  const path = join(root, folder);
  const manifest: Manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const { name, version, license } = manifest;
  if (!license) throw new Error(`${folder} names no license in its package.json`);
  const author = nameOfPerson(manifest.author ?? manifest.maintainers?.[0]);
  const text = textOf(path) || fallbackOf(license, author ?? `the authors of ${name}`, texts);
  if (!text) throw new Error(`${folder} has no license text, and none is known for ${license}`);
  return { name, version, license, author, text };
};

const textOf = (path: string): string =>
  readdirSync(path)
    .filter((file) => TEXT.test(file) && statSync(join(path, file)).isFile())
    .sort()
    .map((file) => readFileSync(join(path, file), 'utf8').trim())
    .join('\n\n');

/** The license text of another package, with the copyright holder of this one. */
const fallbackOf = (license: string, holder: string, texts: ReadonlyMap<string, string>): string =>
  (texts.get(license) ?? '').replace(/^ *copyright .*$/im, `Copyright (c) ${holder}`);

/** Sources of license texts for packages that omit them. */
const SPDX_TEXTS: readonly (readonly [license: string, file: string])[] = [
  ['Apache-2.0', 'LICENSE'],
  ['MIT', 'node_modules/react/LICENSE'],
];

/** Public data in the model catalog (`.build/models.ts`), under the MIT license. */
const DATA: readonly (readonly [name: string, copyright: string])[] = [
  ['Model data of LiteLLM', '2023 Berri AI'],
  ['Model data of models.dev', '2025 models.dev'],
];

const RULE = `\n\n${'-'.repeat(80)}\n\n`;

/**
 * Writes `dist/LICENSES.txt` and `dist/sbom.cdx.json`, and removes the metafile.
 * @throws if a bundled package has no license
 */
export const writeLicenses = async (): Promise<void> => {
  const texts = new Map(
    SPDX_TEXTS.map(([license, file]) => [license, readFileSync(join(ROOT, file), 'utf8').trim()]),
  );
  const packages = bundledPackages().map((folder) => readPackage(folder, texts));
  const titles = new Map<string, string[]>();
  for (const { name, version, license, text } of packages) {
    titles.set(text, [...(titles.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  for (const [name, copyright] of DATA) {
    const text = fallbackOf('MIT', copyright, texts);
    titles.set(text, [...(titles.get(text) ?? []), `${name} (MIT)`]);
  }
  const notices = [...titles].map(([text, those]) => `${those.join('\n')}\n\n${text}`.trim());
  writeFileSync(join(ROOT, 'dist/LICENSES.txt'), `${notices.join(RULE)}\n`);
  const product = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  writeFileSync(
    join(ROOT, 'dist/sbom.cdx.json'),
    `${JSON.stringify(createSbom(product, packages), null, 2)}\n`,
  );
  rmSync(BUNDLE);
};
