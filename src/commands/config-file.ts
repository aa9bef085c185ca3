import { statSync } from 'node:fs';
import { extname, resolve, sep } from 'node:path';
import type { TroupeConfig } from '../embedding/config.ts';
import { Invalid } from '../schema/outcome.ts';

const EXTENSIONS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'];

/**
 * Loads a config file: a JavaScript or TypeScript module whose default export is a `TroupeConfig`.
 *
 * @param found receives the path of each file that the configuration depends on, even if loading fails
 * @throws Invalid with the file and, if known, the line
 */
export async function loadConfigFile(
  path: string,
  found: (path: string) => void = () => {},
): Promise<TroupeConfig> {
  const file = resolve(path);
  found(file);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new Invalid(`--config: file ${file} does not exist`);
  if (!EXTENSIONS.includes(extname(file)))
    throw new Invalid(`--config: ${file} must end in one of ${EXTENSIONS.join(', ')}`);
  // Imported lazily, because the compiler takes 60 ms to load.
  const { evaluateModule } = await import('./config-module.ts');
  const seen = new Set<string>();
  const note = (path: string): void => {
    seen.add(path);
    found(path);
  };
  const config = defaultOf(await evaluateModule(file, note).catch((error) => fail(file, seen, error)));
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new Invalid(`--config: the default export of ${path} must be an object of type TroupeConfig`);
  }
  // The parts are validated where they are used; the type of a loaded module is unknown.
  return config as TroupeConfig;
}

function fail(file: string, seen: ReadonlySet<string>, error: unknown): never {
  if (error instanceof Invalid) throw error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (error instanceof Error && /^(ERR_)?MODULE_NOT_FOUND$/.test(String(code))) {
    const { message } = error;
    const [, importer = file] = /^- (.*)$/m.exec(message) ?? [];
    throw new Invalid(`--config: ${importer}: ${message.split('\n')[0]}`, { cause: error });
  }
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  throw new Invalid(`--config: ${positionOf(error, seen) ?? file}: ${reason}`, { cause: error });
}

/** The innermost stack position in a file of the operator. */
function positionOf(error: unknown, files: ReadonlySet<string>): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const positions = Array.from(stack.matchAll(/\(?((?:file:\/\/)?[^\s()]+):(\d+):(\d+)\)?$/gm));
  for (const [, name = '', line, column] of positions) {
    const path = name.replace(/^file:\/\//, '');
    if (files.has(path) || files.has(path.replaceAll('/', sep))) return `${path}:${line}:${column}`;
  }
  return undefined;
}

/** The exports of a CommonJS module that was not compiled from another format are its default export. */
function defaultOf(module: unknown): unknown {
  if (at(module, '__esModule') !== true) return module;
  const exported = at(module, 'default');
  return at(exported, '__esModule') === true ? at(exported, 'default') : exported;
}

const at = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : undefined;
