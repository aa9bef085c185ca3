import { chmodSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, posix, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type OutputChunk, type OutputOptions, type Plugin, type RolldownOptions, rolldown } from 'rolldown';
import { layerOf } from './layers.ts';
import { onlyUsedPartsOf } from './only-used-parts.ts';
import { ROOT } from './sources.ts';

/**
 * Bundles the programs of the package: the service with its command line, the client, and the React bindings.
 *
 *     tsx .build/programs.ts [--metafile=<path>]
 */

/**
 * Packages that stay imports: native ones, those of which a program and Troupe must share one instance, and large ones
 * that few installations use.
 */
export const OUTSIDE = [
  '@opentelemetry/exporter-metrics-otlp-grpc',
  '@opentelemetry/exporter-trace-otlp-grpc',
  'elkjs',
  'lmdb',
  'msgpackr',
  'uWebSockets.js',
  'xstate',
];

/** The oldest version of Node that runs the programs. */
export const TARGET = 'node20.19';

/** Modules of Node that a start does not need: together they take a tenth of its time. */
const LATER_BUILTINS = ['child_process', 'dns', 'http', 'readline', 'zlib'];

/** Packages that a start reads no part of, although modules that it loads import them. Each has a file. */
const LATER_PACKAGES = ['image-size', 're2js'];

/** CommonJS, because the first use of an export loads it synchronously. */
const fileOf = (name: string): string => `${name}.cjs`;

const LATER = '\0later:';

/**
 * Evaluates these modules with the first use of one of their exports. An `import` would evaluate them at once, and from
 * Node 22 on, that of `node:http` evaluates `WebSocket` and thereby the HTTP client of Node.
 */
const laterModules: Plugin = {
  name: 'later-modules',
  resolveId: {
    order: 'pre',
    filter: {
      id: new RegExp(
        `^(?:node:(?:${LATER_BUILTINS.join('|')})|(?:\\./)?(?:${LATER_PACKAGES.join('|')})(?:\\.cjs)?)$`,
      ),
    },
    handler: (name, _, { kind }) =>
      kind === 'import-statement'
        ? { id: LATER + name, moduleSideEffects: false }
        : { id: name, external: true },
  },
  load: {
    filter: { id: new RegExp(`^${LATER}`) },
    handler: (id) => laterModule(id.slice(LATER.length)),
  },
};

/** Returns the source of a module whose exports forward calls, `new`, `instanceof`, and reads of properties. */
const laterModule = async (name: string): Promise<string> => {
  const isPackage = LATER_PACKAGES.includes(name);
  const names = Object.keys(await import(name)).filter((each) => /^\w+$/.test(each) && each !== 'default');
  return [
    'let loaded;',
    `const load = (name) => (loaded ??= ${isPackage ? `require('./${fileOf(name)}')` : `process.getBuiltinModule('${name}')`})[name];`,
    'const later = (name) => new Proxy(function () {}, {',
    '  apply: (_, self, given) => Reflect.apply(load(name), self, given),',
    '  construct: (_, given) => Reflect.construct(load(name), given),',
    '  get: (_, key) => load(name)[key],',
    '});',
    ...names.map((each) => `export const ${each} = /* @__PURE__ */ later('${each}');`),
  ].join('\n');
};

/**
 * Writes other characters than those of ASCII as escapes, because the loader reads each byte as a character. With one of
 * them, V8 would hold the whole file as two bytes per character, and scan it more slowly.
 */
const asciiOnly: Plugin = {
  name: 'ascii-only',
  generateBundle: (_, bundle) => {
    for (const chunk of Object.values(bundle)) if (chunk.type === 'chunk') chunk.code = escapedCode(chunk);
  },
};

const escapedCode = ({ code, fileName }: Pick<OutputChunk, 'code' | 'fileName'>): string => {
  // A backslash before the character, or a raw template, would make the escape a different text.
  const [unsafe] = /\\[^\0-\x7f]|String\.raw`[^`]*[^\0-\x7f][^`]*`/.exec(code) ?? [];
  if (unsafe !== undefined) throw new Error(`${fileName}: cannot escape ${unsafe}`);
  return code.replace(/[^\0-\x7f]/g, escaped);
};

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Code of the loader has no `import()`, so the loader has it. */
const importsByLoader: Plugin = {
  name: 'imports-by-loader',
  resolveId: {
    order: 'pre',
    filter: { id: /\/compiled-code\/import-module\.ts$/ },
    handler: () => ({ id: OF_LOADER, external: true }),
  },
};

/** The name by which loaded code requires parts of the loader. */
const OF_LOADER = 'troupe:loader';

/** `src/testing/index` is in `testing-[hash].cjs`. */
const codeFileOf = ({ name }: { name: string }): string =>
  `${name.replace(/^src\/|\/index$/g, '')}-[hash].cjs`;

/**
 * Adds the ES module of each entry, which loads its CommonJS code with `load`: V8 keeps the compiled code of a script
 * for the next start, but not that of an ES module on each version of Node.
 */
const entryModules: Plugin = {
  name: 'entry-modules',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk' || !chunk.isEntry) continue;
      const [hashbang = ''] = /^#!.*\n/.exec(chunk.code) ?? [];
      chunk.code = chunk.code.slice(hashbang.length);
      const fileName = `${chunk.name}.js`;
      this.emitFile({ type: 'asset', fileName, source: entryModule(fileName, hashbang, chunk) });
    }
  },
};

/** The command, which has a hashbang, also stores compiled code. */
const entryModule = (entry: string, hashbang: string, { exports, fileName }: OutputChunk): string => {
  const loader = posix.relative(posix.dirname(entry), LOADER);
  const loaded = `load("${fileName}")`;
  return hashbang === ''
    ? `import { load } from "${loader}";\nexport const { ${exports.join(', ')} } = ${loaded};\n`
    : `${hashbang}import { load, storeCode } from "${loader}";\nstoreCode();\n${loaded};\n`;
};

/** Next to the chunks. */
const LOADER = 'load.js';

type Program = RolldownOptions & { output: OutputOptions };

const outside = (names: readonly string[]): RegExp[] => names.map((name) => new RegExp(`^${name}(?:/|$)`));

const PROGRAMS: readonly Program[] = [
  {
    platform: 'node',
    transform: { target: TARGET },
    input: { load: 'src/compiled-code/load.ts' },
    output: { dir: 'dist', entryFileNames: LOADER, codeSplitting: false },
  },
  {
    // An ES module without files, because bundlers of front ends read it.
    platform: 'neutral',
    transform: { target: TARGET },
    external: outside(OUTSIDE),
    input: { 'machines/index': 'machines/index.ts' },
    output: { dir: 'dist', codeSplitting: false },
  },
  {
    platform: 'node',
    transform: { target: TARGET },
    external: outside(OUTSIDE),
    input: {
      'src/main': 'src/main.ts',
      'src/index': 'src/index.ts',
      'src/ai-sdk/index': 'src/ai-sdk/index.ts',
      'src/testing/index': 'src/testing/index.ts',
    },
    plugins: [onlyUsedPartsOf, laterModules, importsByLoader, asciiOnly, entryModules],
    // Modules are assigned to chunks without regard to the exports of entries.
    preserveEntrySignatures: 'allow-extension',
    output: {
      dir: 'dist',
      format: 'cjs',
      dynamicImportInCjs: false,
      entryFileNames: codeFileOf,
      chunkFileNames: 'chunk-[hash].cjs',
      // File systems may ignore the case of letters.
      hashCharacters: 'hex',
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [{ debugName: 'layers', name: layerOf() }],
      },
    },
  },
  {
    platform: 'node',
    transform: { target: TARGET },
    input: Object.fromEntries(LATER_PACKAGES.map((name) => [name, name])),
    plugins: [asciiOnly],
    output: { dir: 'dist', format: 'cjs', exports: 'named', entryFileNames: fileOf('[name]') },
  },
  {
    platform: 'browser',
    transform: { target: 'es2022' },
    input: { 'src/client/index': 'src/client/index.ts' },
    output: { dir: 'dist', codeSplitting: false },
  },
  {
    platform: 'browser',
    transform: { target: 'es2022' },
    external: outside(['react', 'ai', '@ai-sdk/react']),
    input: { 'src/react/index': 'src/react/index.ts' },
    // Bundlers of applications read the directive at the start of the output, where it stays.
    checks: { moduleLevelDirective: false },
    output: { dir: 'dist', codeSplitting: false, minify: true, keepNames: true },
  },
];

type Imported = { path: string; kind: 'import-statement' | 'dynamic-import'; external: boolean };

/** The contents of the bundled programs, by paths relative to the root of the project. */
export type Metafile = {
  inputs: Record<string, { imports: readonly string[] }>;
  outputs: Record<
    string,
    { inputs: Record<string, { bytesInOutput: number }>; imports: readonly Imported[] }
  >;
};

const pathOf = (id: string): string => (isAbsolute(id) ? relative(ROOT, id).replaceAll('\\', '/') : id);

const outputOf = (chunk: OutputChunk, isOutput: (name: string) => boolean): Metafile['outputs'][string] => {
  const importsOf = (names: readonly string[], kind: Imported['kind']): Imported[] =>
    names.map((name) =>
      isOutput(name)
        ? { path: posix.join('dist', name), kind, external: false }
        : { path: name, kind, external: true },
    );
  return {
    inputs: Object.fromEntries(
      Object.entries(chunk.modules).map(([id, { renderedLength }]) => [
        pathOf(id),
        { bytesInOutput: renderedLength },
      ]),
    ),
    imports: [
      ...importsOf(chunk.imports, 'import-statement'),
      ...importsOf(chunk.dynamicImports, 'dynamic-import'),
    ],
  };
};

const buildProgram = async ({ output, ...options }: Program, write: boolean): Promise<Metafile> => {
  const inputs: Metafile['inputs'] = {};
  const graph: Plugin = {
    name: 'graph',
    buildEnd() {
      for (const id of this.getModuleIds()) {
        const { importedIds = [] } = this.getModuleInfo(id) ?? {};
        inputs[pathOf(id)] = { imports: importedIds.map(pathOf) };
      }
    },
  };
  const plugins = [options.plugins, graph];
  await using bundle = await rolldown({ cwd: ROOT, logLevel: 'warn', ...options, plugins });
  const format: OutputOptions = { format: 'esm', comments: { legal: false, jsdoc: false }, ...output };
  const { output: built } = await (write ? bundle.write(format) : bundle.generate(format));
  const chunks = built.filter((one) => one.type === 'chunk');
  const names = new Set(chunks.map(({ fileName }) => fileName));
  const outputs = chunks.map((chunk) => [
    posix.join('dist', chunk.fileName),
    outputOf(chunk, (name) => names.has(name)),
  ]);
  return { inputs, outputs: Object.fromEntries(outputs) };
};

/** Returns the combined metafile of all programs. */
export const buildPrograms = async ({ write = true } = {}): Promise<Metafile> => {
  const results = await Promise.all(PROGRAMS.map((program) => buildProgram(program, write)));
  if (write) chmodSync(join(ROOT, 'dist/src/main.js'), 0o755);
  return {
    inputs: Object.assign({}, ...results.map(({ inputs }) => inputs)),
    outputs: Object.assign({}, ...results.map(({ outputs }) => outputs)),
  };
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const metafile = await buildPrograms();
  const [, path] = /^--metafile=(.+)$/.exec(process.argv[2] ?? '') ?? [];
  if (path !== undefined) writeFileSync(path, JSON.stringify(metafile));
}
