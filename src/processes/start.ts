import {
  type ChildProcess,
  type ChildProcessByStdio,
  type SpawnSyncReturns,
  type StdioOptions,
  spawn,
  spawnSync,
} from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { inheritable, nullDescriptor } from './descriptors.ts';

/**
 * Starts programs. Nothing else in `src` may import `node:child_process`; a lint rule checks that.
 *
 * Guarantees: a program has the descriptors 0, 1 and 2 that its caller chooses and no other open descriptor of this
 * process: inheritable ones are replaced by `/dev/null`. It has the variables that its caller names and no others, and
 * it leads a separate process group.
 * Costs: one `dup2` in the child per covered descriptor.
 */

export type { ChildProcess, ChildProcessByStdio };

type Stdio = 'pipe' | 'ignore';

export type Program<I extends Stdio, O extends Stdio, E extends Stdio> = {
  file: string;
  args: readonly string[];
  /** The whole environment of the program. */
  env: Readonly<Record<string, string>>;
  cwd?: string;
  stdio: readonly [I, O, E];
};

type Input<S extends Stdio> = S extends 'pipe' ? Writable : null;
type Output<S extends Stdio> = S extends 'pipe' ? Readable : null;

export const startProgram = <I extends Stdio, O extends Stdio, E extends Stdio>({
  file,
  args,
  env,
  cwd,
  stdio,
}: Program<I, O, E>): ChildProcessByStdio<Input<I>, Output<O>, Output<E>> => {
  const child: unknown = spawn(file, args, {
    env,
    ...(cwd !== undefined && { cwd }),
    stdio: covered(stdio),
    detached: true,
  });
  // The first three entries of `stdio` are those of the type; the others create no streams.
  return child as ChildProcessByStdio<Input<I>, Output<O>, Output<E>>;
};

/**
 * Runs Node with this terminal and this environment, and waits for its end: for commands, not for the service. Its
 * standard error is returned.
 */
export const runNode = (args: readonly string[], env: NodeJS.ProcessEnv): SpawnSyncReturns<Buffer> =>
  spawnSync(process.execPath, args, {
    stdio: covered(['inherit', 'inherit', 'pipe']),
    maxBuffer: Number.POSITIVE_INFINITY,
    env,
  });

/** The variables with these names, without functions that a shell exports. */
export const variablesNamed = (
  names: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name): [string, string][] => {
      const value = env[name];
      return value === undefined || value.startsWith('()') ? [] : [[name, value]];
    }),
  );

type Entry = Stdio | 'inherit';

const covered = (stdio: readonly [Entry, Entry, Entry]): StdioOptions => {
  const entries: (Entry | number)[] = [...stdio];
  for (const number of inheritable()) {
    while (entries.length < number) entries.push('ignore');
    entries[number] = nullDescriptor();
  }
  return entries;
};
