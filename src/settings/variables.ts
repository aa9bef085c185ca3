import { nearest } from '../schema/nearest.ts';
import { fileVariableOf, secretVariables } from './secret-files.ts';
import { settingRows } from './table.ts';

/**
 * Variables that look like settings of the service and are none. They stop no start, unlike flags and keys: an
 * environment is shared with others, and some systems put variables of their own into it.
 */
const PREFIX = 'SERVICE_';

const names = [...settingRows.map(({ env }) => env), ...secretVariables.map(fileVariableOf)].filter((name) =>
  name.startsWith(PREFIX),
);
const bare = names.map((name) => name.slice(PREFIX.length));

/** A sentence for each. */
export const unknownVariables = (env: Record<string, string | undefined>): string[] =>
  Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !names.includes(name))
    .map((name) => {
      const meant = nearest(name.slice(PREFIX.length), bare);
      return `${name} is not a setting${meant === undefined ? '' : `; did you mean ${PREFIX}${meant}?`}`;
    });
