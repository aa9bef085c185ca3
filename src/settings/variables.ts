import { nearest } from '../schema/nearest.ts';
import { fileVariableOf, secretVariables } from './secret-files.ts';
import { settingRows } from './table.ts';

/**
 * Reports unknown variables with the prefix of settings. Unlike unknown flags and keys, they do not stop the start:
 * other programs share the environment, and some systems add variables with this prefix.
 */
const PREFIX = 'SERVICE_';

const names = [...settingRows.map(({ env }) => env), ...secretVariables.map(fileVariableOf)].filter((name) =>
  name.startsWith(PREFIX),
);
const bare = names.map((name) => name.slice(PREFIX.length));

/** Returns one sentence per unknown variable. */
export const unknownVariables = (env: Record<string, string | undefined>): string[] =>
  Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !names.includes(name))
    .map((name) => {
      const meant = nearest(name.slice(PREFIX.length), bare);
      return `${name} is not a setting${meant === undefined ? '' : `; did you mean ${PREFIX}${meant}?`}`;
    });
