import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { outputIn, type Packed } from '../../bench/package.ts';
import { documents } from '../docs/pages.ts';

/** The published package in a project with only its declared dependencies. */

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Links a package of the checkout into the project. */
const link = (project: string, name: string): void => {
  const place = join(project, 'node_modules', name);
  if (existsSync(place)) return;
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), place);
};

/** The binary of uWebSockets.js for this Node, if there is one. */
export const BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

export const HAS_BINARY = existsSync(join(ROOT, 'node_modules/uWebSockets.js', BINARY));

/** Copies the installed package, with empty files as binaries of other systems for `prune` to remove. */
const copyServer = (project: string): void => {
  const place = join(project, 'node_modules/uWebSockets.js');
  for (const name of ['package.json', 'uws.js', ...(HAS_BINARY ? [BINARY] : [])]) {
    cpSync(join(ROOT, 'node_modules/uWebSockets.js', name), join(place, name));
  }
  for (const name of ['uws_plan9_x64_115.node', 'uws_plan9_arm64_137.node'])
    writeFileSync(join(place, name), '');
};

type Manifest = { version: string; dependencies: object; bin?: string | Record<string, string> };

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/**
 * Unpacks the package together with its dependencies, and nothing else.
 *
 * @returns the folder of the project
 */
export const install = async (folder: string, packed: Packed): Promise<string> => {
  const project = join(folder, 'project');
  mkdirSync(project);
  await unpackInto(project, join(folder, packed.filename));
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
  return project;
};

/** Unpacks the packed file into the `node_modules` of a project, and adds the dependencies of the package. */
export const unpackInto = async (project: string, tarball: string): Promise<void> => {
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  await outputIn(modules, 'tar', '-xzf', tarball);
  renameSync(join(modules, 'package'), join(modules, 'troupe'));
  symlinkSync('../troupe/dist/src/main.js', join(modules, '.bin', 'troupe'));
  copyServer(project);
  for (const name of Object.keys(manifestIn(join(modules, 'troupe')).dependencies)) link(project, name);
};

/**
 * Adds a package of the checkout, with its commands, as `npm install` would.
 *
 * @param spec a name with a major version, such as `vite@8`
 * @throws Error if the checkout has another version
 */
export const linkSpec = (project: string, spec: string): void => {
  const [, name = '', major] = /^(@?[^@]+)@(\d+)$/.exec(spec) ?? [];
  const { version, bin = {} } = manifestIn(join(ROOT, 'node_modules', name));
  if (version.split('.')[0] !== major) throw new Error(`${spec}: the checkout has ${name} ${version}`);
  link(project, name);
  const commands = typeof bin === 'string' ? { [name]: bin } : bin;
  for (const [command, file] of Object.entries(commands))
    symlinkSync(join('..', name, file), join(project, 'node_modules/.bin', command));
};

/** Programs of the README and the manual that use the package, by file name. */
export const examples = (): Map<string, string> =>
  new Map(
    documents().flatMap(({ file, code }) =>
      code
        .filter(({ language, text }) => ENDINGS.has(language) && /from 'troupe/.test(text))
        .map(({ language, text }, index) => [
          `${file.replace(/\.md$/, '').replaceAll('/', '-').toLowerCase()}-${index}.${ENDINGS.get(language)}`,
          `${text}\n`,
        ]),
    ),
  );

const ENDINGS = new Map([
  ['ts', 'ts'],
  ['tsx', 'tsx'],
  ['js', 'mjs'],
]);

/** Writes programs into the project, and links the packages that they import. */
export const addPrograms = (project: string, programs: ReadonlyMap<string, string>): void => {
  for (const [name, text] of programs) {
    writeFileSync(join(project, name), text);
    for (const [, used = ''] of text.matchAll(/from '((?:@[\w-]+\/)?[\w-]+)/g)) {
      if (used !== 'troupe' && used !== 'node') link(project, used);
    }
  }
};

const COMPILER_OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  target: 'es2022',
  lib: ['es2022', 'esnext.disposable'],
  types: ['node'],
  allowJs: true,
  checkJs: true,
  noEmit: true,
};

const MODULES = { node16: 'node16', nodenext: 'nodenext', bundler: 'esnext' };

/** A compiler configuration for each module resolution. */
export const addConfigurations = (project: string): string[] => {
  for (const name of ['@types/node']) link(project, name);
  return Object.entries(MODULES).map(([moduleResolution, module]) => {
    const file = join(project, `tsconfig.${moduleResolution}.json`);
    const compilerOptions = { ...COMPILER_OPTIONS, module, moduleResolution };
    writeFileSync(file, JSON.stringify({ compilerOptions, include: ['*.ts', '*.mjs'] }));
    return file;
  });
};

/** A configuration for React pages, without checking the declarations of packages. */
export const addPageConfiguration = (project: string): string => {
  for (const name of ['react', '@types/react', '@types/react-dom', 'ai', '@ai-sdk/react'])
    link(project, name);
  const file = join(project, 'tsconfig.page.json');
  const compilerOptions = {
    ...COMPILER_OPTIONS,
    skipLibCheck: true,
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    jsx: 'react-jsx',
    module: 'esnext',
    moduleResolution: 'bundler',
  };
  writeFileSync(file, JSON.stringify({ compilerOptions, include: ['*.tsx'] }));
  return file;
};
