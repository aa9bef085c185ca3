import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { unhooked } from '../child.ts';

/** The package as it is published, in a project that has nothing but what the package asks for. */

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const run = async (folder: string, command: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(...unhooked(command, args), { cwd: folder, maxBuffer: 2 ** 26 })).stdout;

const SOURCES = ['package.json', 'README.md', 'LICENSE', 'tsconfig.json', 'src', 'machines', '.build'];

export type Packed = {
  filename: string;
  size: number;
  unpackedSize: number;
  files: { path: string; size: number; mode: number }[];
};

/** Builds a copy of the sources and packs it: the build of the checkout stays as it is for other tests. */
export const pack = async (folder: string): Promise<Packed> => {
  const stage = join(folder, 'stage');
  mkdirSync(stage, { recursive: true });
  for (const name of SOURCES) cpSync(join(ROOT, name), join(stage, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(stage, 'node_modules'));
  const said = await run(stage, 'npm', 'pack', '--json', '--foreground-scripts=false');
  const [packed]: Packed[] = JSON.parse(said);
  if (!packed) throw new Error(`npm pack said ${said}`);
  renameSync(join(stage, packed.filename), join(folder, packed.filename));
  return packed;
};

/** Links a package of the checkout into the project. */
const link = (project: string, name: string): void => {
  const place = join(project, 'node_modules', name);
  if (existsSync(place)) return;
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), place);
};

/** The binary of uWebSockets.js that is used here. */
export const BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

/** As it is installed, but with empty files in place of what is for other systems: some are to be removed. */
const copyServer = (project: string): void => {
  const place = join(project, 'node_modules/uWebSockets.js');
  for (const name of ['package.json', 'uws.js', BINARY]) {
    cpSync(join(ROOT, 'node_modules/uWebSockets.js', name), join(place, name));
  }
  for (const name of ['uws_plan9_x64_115.node', 'uws_plan9_arm64_137.node'])
    writeFileSync(join(place, name), '');
};

type Manifest = { dependencies: object };

/**
 * Unpacks the package beside what it cannot do without, and nothing else.
 *
 * @returns the folder of the project
 */
export const install = async (folder: string, { filename }: Packed): Promise<string> => {
  const project = join(folder, 'project');
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  await run(modules, 'tar', '-xzf', join(folder, filename));
  renameSync(join(modules, 'package'), join(modules, 'troupe'));
  symlinkSync('../troupe/dist/src/main.js', join(modules, '.bin', 'troupe'));
  copyServer(project);
  const manifest: Manifest = JSON.parse(readFileSync(join(modules, 'troupe/package.json'), 'utf8'));
  for (const name of Object.keys(manifest.dependencies)) link(project, name);
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
  return project;
};

/** Programs of the README that use the package, by file name. */
export const examples = (): Map<string, string> => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```(tsx?|js)\n([\s\S]*?)```/g)].filter(([, , text = '']) =>
    /from 'troupe/.test(text),
  );
  const ending = (language: string): string => (language === 'js' ? 'mjs' : language);
  return new Map(
    blocks.map(([, language = '', text = ''], index) => [`readme-${index}.${ending(language)}`, text]),
  );
};

/** Writes programs into the project, with the packages beside Troupe that they import. */
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
  jsx: 'react-jsx',
  allowJs: true,
  checkJs: true,
  noEmit: true,
};

const MODULES = { node16: 'node16', nodenext: 'nodenext', bundler: 'esnext' };

/** A configuration of the compiler for each way to resolve modules. */
export const addConfigurations = (project: string): string[] => {
  for (const name of ['@types/node']) link(project, name);
  return Object.entries(MODULES).map(([moduleResolution, module]) => {
    const file = join(project, `tsconfig.${moduleResolution}.json`);
    const compilerOptions = { ...COMPILER_OPTIONS, module, moduleResolution };
    writeFileSync(file, JSON.stringify({ compilerOptions, include: ['*.ts', '*.tsx', '*.mjs'] }));
    return file;
  });
};
