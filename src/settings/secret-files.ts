import { SettingsError } from './error.ts';
import { settingRows } from './table.ts';

/**
 * `<VARIABLE>_FILE` for the variable of each secret: the path of a file with the value, so that the value itself is in
 * no environment, which programs of the same user can read.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads at most `most` bytes of a file. */
export type ReadSecret = (path: string, most: number) => Uint8Array;

const MOST_BYTES = 65_536;

export const fileVariableOf = (variable: string): string => `${variable}_FILE`;

/** Variables of all secret settings, including their older and foreign names. */
export const secretVariables: readonly string[] = settingRows
  .filter(({ secret }) => secret === true)
  .flatMap(({ env, alsoRead = [] }) => [env, ...alsoRead]);

/**
 * Returns the environment with the variables set whose values are in files.
 * @throws SettingsError with every problem found
 */
export const withSecretFiles = (
  env: Environment,
  variables: readonly string[],
  readSecret: ReadSecret,
): Environment => {
  const problems: string[] = [];
  const values: Record<string, string> = {};
  for (const variable of new Set(variables)) {
    const path = env[fileVariableOf(variable)]?.trim();
    if (!path) continue;
    if (env[variable]?.trim())
      problems.push(`${variable} and ${fileVariableOf(variable)} are both set; allowed: one of them`);
    else values[variable] = contentOf(fileVariableOf(variable), path, readSecret, problems);
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return { ...env, ...values };
};

const contentOf = (name: string, path: string, readSecret: ReadSecret, problems: string[]): string => {
  const refuse = (reason: string): string => {
    problems.push(
      `${name}: '${path}' ${reason}; allowed: a text file of at most ${MOST_BYTES} bytes that holds the secret`,
    );
    return '';
  };
  try {
    const bytes = readSecret(path, MOST_BYTES + 1);
    if (bytes.length > MOST_BYTES) return refuse('is too large');
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
    return text.trim() === '' ? refuse('is empty') : text;
  } catch (error) {
    return refuse(`cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
};
