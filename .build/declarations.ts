import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { isolatedDeclarationSync } from 'rolldown/experimental';
import { dts } from 'rolldown-plugin-dts';

/**
 * One file of declarations for each entry of the package: what a program sees that embeds the service.
 *
 * A declaration of a file is its own text wherever that says every type it exports, which takes no compiler. Only the
 * rest (schemas, machines) is given to the compiler, and nothing of the service that the entries do not show: that is
 * what makes this take seconds. Types are checked by `npm run check:types`, not here. What is marked `@internal` is left
 * out.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');

type Manifest = { exports: Record<string, { types: string } | string> };
const { exports }: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** `dist/src/index` → the source of it, for each entry that has types. */
const entries = Object.values(exports).flatMap((entry) => {
  if (typeof entry === 'string') return [];
  const name = relative('dist', entry.types).replace(/\.d\.ts$/, '');
  return { name, source: join(ROOT, `${name}.ts`) };
});

/** What a declaration imports from this project, as absolute paths of sources. */
const importsOf = (source: string, declaration: string): string[] =>
  Array.from(declaration.matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g), ([, path = '']) =>
    resolve(dirname(source), path.replace(/\.js$/, '.ts')),
  );

/** Where `tsc` put what it made of a source; undefined when it was not asked for it. */
const compiledIn = (folder: string) => (source: string) => {
  try {
    return readFileSync(join(folder, relative(ROOT, source).replace(/\.tsx?$/, '.d.ts')), 'utf8');
  } catch {
    return undefined;
  }
};

/**
 * The declarations of the sources, and of all that they import. `undefined` for those that do not say their types
 * themselves, unless they were compiled.
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
  // In one thread it takes a third of the processor time, and no longer. Nothing that it makes is garbage before its end.
  execFileSync(
    process.execPath,
    [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', config, '--singleThreaded'],
    {
      stdio: 'inherit',
      env: { ...process.env, GOGC: 'off' },
    },
  );
};

/** Writes the declarations of all entries below `dist`. @throws what the compiler or the bundler says */
export const writeDeclarations = async (): Promise<void> => {
  mkdirSync(DIST, { recursive: true });
  const work = mkdtempSync(join(DIST, 'declarations-'));
  try {
    const sources = entries.map(({ source }) => source);
    const first = declarationsFrom(sources, () => undefined);
    const inferred = [...first].flatMap(([source, text]) => (text === undefined ? source : []));
    const compiled = join(work, 'compiled');
    compile(inferred, compiled);
    const parts = join(work, 'parts');
    for (const [source, text] of declarationsFrom(sources, compiledIn(compiled))) {
      if (text === undefined) throw new Error(`the compiler has made no declaration of ${source}`);
      const file = join(parts, relative(ROOT, source).replace(/\.tsx?$/, '.d.ts'));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    await rollUp(parts);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

const rollUp = async (parts: string): Promise<void> => {
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map(({ name }) => [name, join(parts, `${name}.d.ts`)])),
    external: /^[^./]/,
    plugins: [dts({ dtsInput: true, sourcemap: false, tsconfig: false })],
    cwd: parts,
  });
  await bundle.write({ dir: DIST, chunkFileNames: 'shared-types.d.ts' });
};
