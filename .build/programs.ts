import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

/**
 * Bundles the programs of the package: the service with its command line, the client, and the React bindings.
 *
 *     tsx .build/programs.ts [--metafile=<path>]
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Packages that stay imports: native ones, those of which a program and Troupe must share one instance, and large
 * ones that few installations use.
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

/** The only locale of zod whose messages are used. */
const ENGLISH = "export { default as en } from './en.js';";

/** `@ai-sdk/provider-utils` compares schemas of zod 3 with these names; all schemas in Troupe are of zod 4. */
const NO_ZOD_3 = 'export const ZodFirstPartyTypeKind = {};';

/** `prom-client` loads the HTTPS client of Node for it; metrics are only read at `/metrics`. */
const NO_PUSHGATEWAY = 'module.exports = undefined;';

/** Leaves out the parts of packages that the service has no use for, or has already. */
export const onlyUsedParts: Plugin = {
  name: 'only-used-parts',
  setup({ onResolve, onLoad }) {
    // The MCP SDK carries a copy of ajv. It validates with the instance of `src/tools/ajv.ts` instead.
    onResolve({ filter: /^@modelcontextprotocol\/(client|server)\/_shims$/ }, () => ({
      path: join(ROOT, 'src/tools/mcp-sdk-shims.ts'),
    }));
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: ENGLISH }));
    onLoad({ filter: /[\\/]prom-client[\\/]lib[\\/]pushgateway\.js$/ }, () => ({ contents: NO_PUSHGATEWAY }));
    onResolve({ filter: /^zod\/v3$/ }, () => ({ path: 'zod/v3', namespace: 'left-out', sideEffects: false }));
    onLoad({ filter: /^zod\/v3$/, namespace: 'left-out' }, () => ({ contents: NO_ZOD_3 }));
  },
};

/**
 * Loads `node:http` as CommonJS. An `import` of it evaluates all of its exports, from Node 22 on that of `WebSocket`
 * too, and so loads and runs the HTTP client of Node: a tenth of the time that a start takes.
 */
export const nodeHttp: Plugin = {
  name: 'node-http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:http$/ }, ({ kind }) =>
      kind === 'require-call' ? { external: true } : { path: 'node:http', namespace: 'as-commonjs' },
    );
    onLoad({ filter: /^node:http$/, namespace: 'as-commonjs' }, () => ({
      contents: "module.exports = require('node:http');",
    }));
  },
};

/** Options of everything that runs in the process of the service. */
export const SERVICE = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  // CommonJS packages load modules of Node with `require`.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.filename);",
  },
  logLevel: 'warning',
} satisfies BuildOptions;

const COMMON = { absWorkingDir: ROOT, legalComments: 'none', metafile: true } as const;

const PROGRAMS: BuildOptions[] = [
  {
    ...SERVICE,
    external: OUTSIDE,
    entryPoints: [
      'src/main.ts',
      'src/index.ts',
      'src/ai-sdk/index.ts',
      'src/testing/index.ts',
      'machines/index.ts',
    ],
    splitting: true,
    plugins: [onlyUsedParts, nodeHttp],
    outdir: 'dist',
  },
  {
    entryPoints: ['src/client/index.ts'],
    bundle: true,
    target: 'es2022',
    format: 'esm',
    outfile: 'dist/src/client/index.js',
    logLevel: 'warning',
  },
  {
    entryPoints: ['src/react/index.ts'],
    bundle: true,
    external: ['react', 'ai', '@ai-sdk/react'],
    minify: true,
    keepNames: true,
    target: 'es2022',
    format: 'esm',
    outfile: 'dist/src/react/index.js',
    logLevel: 'warning',
  },
];

/** Returns the description of the inputs and outputs of all programs together. */
export const buildPrograms = async ({ write = true } = {}): Promise<Metafile> => {
  const results = await Promise.all(PROGRAMS.map((options) => build({ ...options, ...COMMON, write })));
  return {
    inputs: Object.assign({}, ...results.map(({ metafile }) => metafile.inputs)),
    outputs: Object.assign({}, ...results.map(({ metafile }) => metafile.outputs)),
  };
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const metafile = await buildPrograms();
  const [, path] = /^--metafile=(.+)$/.exec(process.argv[2] ?? '') ?? [];
  if (path !== undefined) writeFileSync(path, JSON.stringify(metafile));
}
