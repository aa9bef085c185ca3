import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type ConsoleRecord, RECORD } from './console.ts';
import { type Bundled, sbomOf } from './sbom.ts';

/** The licenses of all packages whose code is inside the programs of this one. */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUNDLE = join(ROOT, 'dist/bundle.json');

type Metafile = { outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> };

const metafileOf = async (entry: string): Promise<Metafile> => {
  const { metafile } = await build({
    entryPoints: [join(ROOT, entry)],
    absWorkingDir: ROOT,
    bundle: true,
    external: ['react', 'ai', '@ai-sdk/react'],
    format: 'esm',
    write: false,
    metafile: true,
  });
  return metafile;
};

const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;

/** Folders of the packages of which at least a byte was bundled, by name. */
const bundledPackages = async (): Promise<string[]> => {
  const main: Metafile = JSON.parse(readFileSync(BUNDLE, 'utf8'));
  // `npm run build:js` writes a metafile of its last call only.
  const others = await Promise.all(['src/client/index.ts', 'src/react/index.ts'].map(metafileOf));
  const outputs = [main, ...others].flatMap(({ outputs }) => Object.values(outputs));
  const folders = outputs.flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? (PACKAGE.exec(path)?.[0] ?? []) : [],
    ),
  );
  const { packages }: ConsoleRecord = JSON.parse(readFileSync(RECORD, 'utf8'));
  return [...new Set([...folders, ...packages])].sort();
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

/** @throws when the package has no license identifier, or no text is known for it */
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

/** The text of the license that another package has, with the holder of the copyright of this one. */
const fallbackOf = (license: string, holder: string, texts: ReadonlyMap<string, string>): string =>
  (texts.get(license) ?? '').replace(/^ *copyright .*$/im, `Copyright (c) ${holder}`);

/** Where each text of a license that packages leave out is taken from. */
const SPDX_TEXTS: readonly (readonly [license: string, file: string])[] = [
  ['Apache-2.0', 'LICENSE'],
  ['MIT', 'node_modules/react/LICENSE'],
];

/** Public data in the catalog of models (`.build/models.ts`), under the MIT license. */
const DATA: readonly (readonly [name: string, copyright: string])[] = [
  ['Model data of LiteLLM', '2023 Berri AI'],
  ['Model data of models.dev', '2025 models.dev'],
];

const RULE = `\n\n${'-'.repeat(80)}\n\n`;

/**
 * Writes `dist/LICENSES.txt` and `dist/sbom.cdx.json`, and removes the metafile.
 * @throws when a bundled package has no license
 */
export const writeLicenses = async (): Promise<void> => {
  const texts = new Map(
    SPDX_TEXTS.map(([license, file]) => [license, readFileSync(join(ROOT, file), 'utf8').trim()]),
  );
  const packages = (await bundledPackages()).map((folder) => readPackage(folder, texts));
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
  writeFileSync(join(ROOT, 'dist/sbom.cdx.json'), `${JSON.stringify(sbomOf(product, packages), null, 2)}\n`);
  rmSync(BUNDLE);
};
