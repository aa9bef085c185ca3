import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { outputIn, type Packed } from '../../bench/package.ts';

/** The package as it is published, in a project that has nothing but what the package asks for. */

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Links a package of the checkout into the project. */
const link = (project: string, name: string): void => {
  const place = join(project, 'node_modules', name);
  if (existsSync(place)) return;
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), place);
};

/** The binary of uWebSockets.js for this Node, where there is one. */
export const BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

export const HAS_BINARY = existsSync(join(ROOT, 'node_modules/uWebSockets.js', BINARY));

/** As it is installed, but with empty files in place of what is for other systems: some are to be removed. */
const copyServer = (project: string): void => {
  const place = join(project, 'node_modules/uWebSockets.js');
  for (const name of ['package.json', 'uws.js', ...(HAS_BINARY ? [BINARY] : [])]) {
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
  await outputIn(modules, 'tar', '-xzf', join(folder, filename));
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
    writeFileSync(file, JSON.stringify({ compilerOptions, include: ['*.ts', '*.mjs'] }));
    return file;
  });
};

/** One for pages of React, whose packages have declarations that are not checked here. */
export const addPageConfiguration = (project: string): string => {
  for (const name of ['react', '@types/react', 'ai', '@ai-sdk/react']) link(project, name);
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
