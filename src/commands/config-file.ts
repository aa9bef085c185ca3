import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TroupeConfig } from '../config.ts';
import { Invalid } from '../schema/outcome.ts';

/**
 * A config file is a module whose default export is a `TroupeConfig`. JavaScript always works. TypeScript works
 * where the runtime strips types by itself, which is Node 22.18 and newer, or under a loader such as tsx.
 *
 * @throws Invalid, or whatever the module itself throws
 */
export const loadConfigFile = async (path: string): Promise<TroupeConfig> => {
  const file = resolve(path);
  if (!existsSync(file)) throw new Invalid(`--config: there is no file ${file}`);
  const config = defaultOf(await importModule(file));
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new Invalid(`--config: the default export of ${path} must be an object of type TroupeConfig`);
  }
  // Its parts are judged where they are used; nothing more can be known of a module.
  return config as TroupeConfig;
};

const importModule = async (file: string): Promise<unknown> => {
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ERR_MODULE_NOT_FOUND' && error instanceof Error) {
      throw new Invalid(`--config: ${file} imports what is not there: ${error.message}`, { cause: error });
    }
    if (code !== 'ERR_UNKNOWN_FILE_EXTENSION') throw error;
    throw new Invalid(
      `--config: Node ${process.version} cannot load ${file}; TypeScript needs Node 22.18 or newer, everything else a .js or .mjs file`,
      { cause: error },
    );
  }
};

/** A module that was compiled to CommonJS has its default export one level deeper. */
const defaultOf = (module: unknown): unknown => {
  const exported = at(module, 'default');
  return at(exported, '__esModule') === true ? at(exported, 'default') : exported;
};

const at = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : undefined;
