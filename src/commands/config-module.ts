import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Jiti, JitiOptions } from 'jiti';
// @ts-expect-error The package exports these two files only behind a function that does not take a `nativeImport`.
import untypedTransform from '../../node_modules/jiti/dist/babel.cjs';
// @ts-expect-error As above.
import untypedCreate from '../../node_modules/jiti/dist/jiti.cjs';
import { importModule } from '../compiled-code/import-module.ts';
import { packageFolder } from '../composition/version.ts';
import { Invalid } from '../schema/outcome.ts';

/**
 * Evaluates a JavaScript or TypeScript module of the operator, with the modules that it imports by path.
 *
 * Guarantees: each evaluation compiles and executes its modules again; packages and Troupe itself are the instances of
 * the process. Positions in errors are those of the source.
 * Relies on: jiti compiles a module when its native import fails.
 */

type Compile = NonNullable<JitiOptions['transform']>;

type Host = {
  onError(error: unknown): never;
  nativeImport(id: string | URL): Promise<unknown>;
  createRequire: typeof createRequire;
};

const compile: Compile = untypedTransform;
const createJiti: (id: string, options: JitiOptions, host: Host) => Jiti = untypedCreate;

/** @param found receives the path of each file that the evaluation depends on, even if it fails later */
export async function evaluateModule(file: string, found: (path: string) => void): Promise<unknown> {
  const options: JitiOptions = {
    fsCache: false,
    moduleCache: false,
    interopDefault: false,
    transform: (input) => {
      const path = input.filename ?? file;
      found(path);
      for (const named of namedFiles(input.source, dirname(path))) found(named);
      const compiled = compile(input);
      if (compiled.error) throw syntaxError(path, compiled.error);
      return compiled;
    },
  };
  const host: Host = {
    onError: (error) => {
      throw error;
    },
    nativeImport: (id) =>
      isCompiled(id) ? Promise.reject(new Error('compiled by jiti')) : importModule(String(id)),
    createRequire,
  };
  return await createJiti(file, options, host).import(file);
}

/** Modules of packages and of Troupe must be the instances of the process. */
function isCompiled(id: string | URL): boolean {
  const path = String(id).startsWith('file:') ? fileURLToPath(id) : String(id);
  if (!isAbsolute(path) || path.endsWith('.node')) return false;
  return !path.includes(`${sep}node_modules${sep}`) && !path.startsWith(join(packageFolder, 'dist', sep));
}

/** Finds paths in string literals: data that a module imports or reads. */
function namedFiles(source: string, folder: string): string[] {
  const names = Array.from(source.matchAll(/["'`](\.{1,2}\/[\w./-]+\.\w+)["'`]/g), ([, name = '']) => name);
  return names.map((name) => join(folder, name)).filter((path) => existsSync(path));
}

type CompilerError = { loc?: { line: number; column: number }; message?: string };

function syntaxError(path: string, error: CompilerError): Invalid {
  const { loc, message = 'syntax error' } = error;
  // The compiler prepends a folder, and appends the position and an excerpt.
  const [line = ''] = message.split('\n');
  const reason = line.replace(/^\/: /, '').replace(/ *\(\d+:\d+\)$/, '');
  return new Invalid(`--config: ${path}${loc ? `:${loc.line}:${loc.column + 1}` : ''}: ${reason}`, {
    cause: error,
  });
}
