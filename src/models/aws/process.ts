import { runProgram } from '../../processes/run.ts';
import { variablesNamed } from '../../processes/start.ts';
import { jsonOrUndefined } from '../../schema/json-or-undefined.ts';
import { BOUNDS } from '../bounds.ts';
import { codeOf } from './files.ts';
import { type AwsKeys, readKeys, type Search, unusable } from './keys.ts';

/**
 * Keys that a program prints (`credential_process`).
 *
 * Guarantees: the program receives no variable of the service that contains a secret; no error quotes its command or
 * its output.
 */

const VARIABLES = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TMPDIR', 'TZ'],
  ...['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_PROFILE', 'AWS_REGION', 'AWS_DEFAULT_REGION'],
];

const LONGEST_MS = 30_000;

export const keysOfProcess = async (
  command: string,
  profile: string,
  { env, signal }: Search,
): Promise<AwsKeys> => {
  const by = `credential_process of profile '${profile}'`;
  const run = {
    file: '/bin/sh',
    args: ['-c', command],
    env: variablesNamed(VARIABLES, env),
    signal,
    timeoutMs: LONGEST_MS,
    outputLimit: BOUNDS.tokenBytes,
  };
  const { exitCode, stopped, stdout } = await runProgram(run).catch((error: unknown) => {
    throw unusable(`${by} could not be started (${codeOf(error)})`);
  });
  if (stopped) throw unusable(`${by} did not end in time`);
  if (exitCode !== 0) throw unusable(`${by} ended with exit code ${exitCode}`);
  const document = jsonOrUndefined(stdout.bytes.toString());
  if (typeof document === 'object' && document !== null && 'Version' in document && document.Version === 1) {
    return readKeys(document, by);
  }
  throw unusable(`${by} printed no JSON object with "Version": 1 in ${BOUNDS.tokenBytes} bytes`);
};
