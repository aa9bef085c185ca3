import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { KEY_VARIABLES } from '../models/provider.ts';
import { HEADER_VARIABLES } from '../observability/otel/config.ts';
import { type Environment, secretVariables, withSecretFiles } from '../settings/index.ts';

/** The environment of the process, and the secrets in it. */

const SHARED: readonly string[] = [...KEY_VARIABLES, ...HEADER_VARIABLES];
const SECRET: readonly string[] = [...secretVariables, ...SHARED];

/**
 * Returns the variables, including those whose values are in files (`<VARIABLE>_FILE`).
 * @throws SettingsError
 */
export const readEnvironment = (): Environment => withSecretFiles(process.env, SECRET, readSecret);

/**
 * Returns the same variables, and removes the secrets from the process. With `keepShared`, keys of providers and
 * credentials of exporters stay, because code of the operator may read them later.
 * @throws SettingsError
 */
export const takeEnvironment = ({ keepShared }: { keepShared: boolean }): Environment => {
  const env = readEnvironment();
  const kept = new Set(keepShared ? SHARED : []);
  for (const name of SECRET) if (!kept.has(name)) delete process.env[name];
  return env;
};

const readSecret = (path: string, most: number): Uint8Array => {
  const descriptor = openSync(path, 'r');
  try {
    if (fstatSync(descriptor).isDirectory()) throw new Error('it is a directory');
    const bytes = Buffer.alloc(most);
    let length = 0;
    for (let read = -1; read !== 0 && length < most; length += read)
      read = readSync(descriptor, bytes, length, most - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
};
