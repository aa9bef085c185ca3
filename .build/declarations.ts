import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { isolatedDeclarationSync } from 'rolldown/experimental';
import { dts } from 'rolldown-plugin-dts';
import { ENTRIES } from './entries.ts';
import { ROOT } from './sources.ts';

/**
 * Writes one declaration file per entry of the package: the types that embedding programs see.
 *
 * A source with explicit types on all exports is converted separately, without a compiler. Only the rest (schemas,
 * machines) is passed to the compiler, and nothing of the service that the entries do not expose, so this takes
 * seconds. `npm run check:types` checks types, not this script. Declarations marked `@internal` are omitted.
 */

const DIST = join(ROOT, 'dist');

const SOURCES = ENTRIES.map(({ source }) => join(ROOT, source));

/** Imports of a declaration from this project, as absolute paths of sources. */
const importsOf = (source: string, declaration: string): string[] =>
  Array.from(declaration.matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g), ([, path = '']) =>
    resolve(dirname(source), path.replace(/\.js$/, '.ts')),
  );

/** Reads the declaration that `tsc` wrote for a source; undefined if the source was not compiled. */
const compiledIn = (folder: string) => (source: string) => {
  try {
    return readFileSync(join(folder, relative(ROOT, source).replace(/\.tsx?$/, '.d.ts')), 'utf8');
  } catch {
    return undefined;
  }
};

/**
 * The declarations of the sources and of all their imports. `undefined` for a source without explicit types that was
 * not compiled.
 */
const declarationsFrom = (sources: readonly string[], compiled: (source: string) => string | undefined) => {
  const found = new Map<string, string | undefined>();
  const open = [...sources];
  for (let source = open.pop(); source !== undefined; source = open.pop()) {
    if (found.has(source)) continue;
    const own = isolatedDeclarationSync(source, readFileSync(source, 'utf8'), { stripInternal: true });
    const text = own.errors.length === 0 ? own.code : compiled(source);
    found.set(source, text);
    open.push(...importsOf(source, text ?? own.code));
  }
  return found;
};

const compile = (sources: readonly string[], outDir: string): void => {
  const config = join(outDir, 'tsconfig.json');
  const compilerOptions = {
    rootDir: ROOT,
    outDir,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    emitDeclarationOnly: true,
    noCheck: true,
    stripInternal: true,
    sourceMap: false,
  };
  mkdirSync(outDir, { recursive: true });
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions,
      files: sources,
      include: [],
      exclude: [],
    }),
  );
  // A single thread uses a third of the CPU time in the same duration. The garbage collector is off because all data
  // lives until the end.
  execFileSync(
    process.execPath,
    [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', config, '--singleThreaded'],
    {
      stdio: 'inherit',
      env: { ...process.env, GOGC: 'off' },
    },
  );
};

/**
 * Writes one declaration per source of the entries, at its path below the folder.
 *
 * @returns the sources on which the declarations depend, relative to the root of the project
 */
export const writeParts = (folder: string): string[] => {
  mkdirSync(DIST, { recursive: true });
  const work = mkdtempSync(join(DIST, 'declarations-'));
  try {
    const first = declarationsFrom(SOURCES, () => undefined);
    const inferred = [...first].flatMap(([source, text]) => (text === undefined ? source : []));
    const compiled = join(work, 'compiled');
    compile(inferred, compiled);
    for (const [source, text] of declarationsFrom(SOURCES, compiledIn(compiled))) {
      if (text === undefined) throw new Error(`the compiler wrote no declaration of ${source}`);
      const file = join(folder, relative(ROOT, source).replace(/\.tsx?$/, '.d.ts'));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  // The declaration of a source without explicit types depends on everything that it imports.
  const used = declarationsFrom(SOURCES, (source) => readFileSync(source, 'utf8'));
  return [...used.keys()].map((source) => relative(ROOT, source));
};

/** Writes the declarations of all entries below `dist`. @throws errors of the compiler and the bundler */
export const writeDeclarations = async (): Promise<void> => {
  mkdirSync(DIST, { recursive: true });
  const parts = mkdtempSync(join(DIST, 'parts-'));
  try {
    writeParts(parts);
    await rollUp(parts);
  } finally {
    rmSync(parts, { recursive: true, force: true });
  }
};

const rollUp = async (parts: string): Promise<void> => {
  const bundle = await rolldown({
    input: Object.fromEntries(ENTRIES.map(({ output }) => [output, join(parts, `${output}.d.ts`)])),
    external: /^[^./]/,
    plugins: [dts({ dtsInput: true, sourcemap: false, tsconfig: false })],
    cwd: parts,
  });
  await bundle.write({ dir: DIST, chunkFileNames: 'shared-types.d.ts' });
};
