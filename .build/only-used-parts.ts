import { join } from 'node:path';
import type { Plugin as EsbuildPlugin } from 'esbuild';
import type { Plugin as RolldownPlugin } from 'rolldown';
import { ROOT } from './sources.ts';

/** Omits parts of packages that the service does not use or already contains. */

type Substitute = { path: string } | { contents: string };

/** Substitutes for imports, by the name in the import. */
const IMPORTS: readonly (readonly [name: RegExp, substitute: Substitute])[] = [
  // The MCP SDK includes a copy of ajv. It validates with the instance of `src/tools/ajv.ts` instead.
  [/^@modelcontextprotocol\/(?:client|server)\/_shims$/, { path: join(ROOT, 'src/tools/mcp-sdk-shims.ts') }],
  // `@ai-sdk/provider-utils` compares schemas of zod 3 with these names; all schemas in Troupe are of zod 4.
  [/^zod\/v3$/, { contents: 'export const ZodFirstPartyTypeKind = {};' }],
];

/** Substitutes for the contents of files, by their path. */
const FILES: readonly (readonly [path: RegExp, contents: string])[] = [
  // The only locale of zod whose messages are used.
  [/[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/, "export { default as en } from './en.js';"],
  // `prom-client` loads the HTTPS client of Node for it; metrics are only read at `/metrics`.
  [/[\\/]prom-client[\\/]lib[\\/]pushgateway\.js$/, 'module.exports = undefined;'],
  // It loads `node:cluster` with child processes and UDP sockets for metrics of several processes.
  [/[\\/]prom-client[\\/]lib[\\/]cluster\.js$/, 'module.exports = undefined;'],
  // Threads of `pino` that write logs, for which it reads the files of its callers from a stack trace.
  [/[\\/]pino[\\/]lib[\\/]transport\.js$/, 'module.exports = undefined;'],
  [/[\\/]pino[\\/]lib[\\/]caller\.js$/, 'module.exports = () => undefined;'],
];

const NAMESPACE = 'substitute';

/** For bundles of esbuild. */
export const onlyUsedParts: EsbuildPlugin = {
  name: 'only-used-parts',
  setup({ onResolve, onLoad }) {
    for (const [filter, substitute] of IMPORTS) {
      if ('path' in substitute) {
        onResolve({ filter }, () => substitute);
        continue;
      }
      onResolve({ filter }, ({ path }) => ({ path, namespace: NAMESPACE, sideEffects: false }));
      onLoad({ filter, namespace: NAMESPACE }, () => substitute);
    }
    for (const [filter, contents] of FILES) onLoad({ filter }, () => ({ contents }));
  },
};

const PREFIX = `\0${NAMESPACE}:`;

/** For bundles of Rolldown. */
export const onlyUsedPartsOf: RolldownPlugin = {
  name: 'only-used-parts',
  resolveId: {
    order: 'pre',
    handler(name) {
      const [, substitute] = IMPORTS.find(([pattern]) => pattern.test(name)) ?? [];
      if (!substitute) return undefined;
      return 'path' in substitute ? substitute.path : { id: `${PREFIX}${name}`, moduleSideEffects: false };
    },
  },
  load(id) {
    const name = id.startsWith(PREFIX) ? id.slice(PREFIX.length) : undefined;
    for (const [pattern, substitute] of IMPORTS)
      if (name !== undefined && 'contents' in substitute && pattern.test(name)) return substitute.contents;
    return FILES.find(([pattern]) => pattern.test(id))?.[1];
  },
};
