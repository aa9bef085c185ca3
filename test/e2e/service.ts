import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Test } from 'tap';
import { bundled, nodeCommand, unhooked } from '../child.ts';
import { HTTP_SERVER_ENV } from '../http/listener.ts';
import { MAIN } from './built.ts';

/** The command line in a separate process with its own environment. */

export type Command = {
  child: ChildProcess;
  /** The output so far. */
  output(): string;
  errors(): string;
  /** Waits until the output matches. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Waits for the end and returns the exit code. */
  ended(): Promise<number | null>;
  /** Sends a signal to the process, or to all processes of a shell. */
  kill(signal: NodeJS.Signals): void;
};

type Environment = Record<string, string>;

export const runCommand = (t: Test, args: readonly string[], env: Environment = {}): Command =>
  run(t, nodeCommand([MAIN, ...args], env.NODE_OPTIONS), env);

/** Runs a TypeScript program. */
export const runProgram = (t: Test, file: string, args: readonly string[], env: Environment = {}): Command =>
  run(t, nodeCommand([bundled(file), ...args], env.NODE_OPTIONS), env);

/** Runs Node with these arguments, without test hooks. */
export const runNode = (t: Test, args: readonly string[]): Command =>
  run(t, unhooked(process.execPath, args), {});

/** Runs a line in a shell whose processes form one group, as in a terminal: a signal reaches all of them. */
export const runShell = (t: Test, line: string, cwd: string): Command =>
  run(t, unhooked('bash', ['-ec', line]), {}, { cwd, detached: true });

const run = (
  t: Test,
  command: ReturnType<typeof unhooked>,
  env: Environment,
  options: Pick<SpawnOptions, 'cwd' | 'detached'> = {},
): Command => {
  const { NODE_OPTIONS: _, ...others } = env;
  const child = spawn(...command, {
    ...options,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...HTTP_SERVER_ENV, ...others },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (signal: NodeJS.Signals): void => {
    if (!options.detached || child.pid === undefined) child.kill(signal);
    else killGroup(child.pid, signal);
  };
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const exited = once(child, 'close');
  t.teardown(async () => {
    kill('SIGKILL');
    await exited;
  });
  return {
    child,
    kill,
    output: () => output,
    errors: () => errors,
    async says(pattern) {
      for (;;) {
        const found = pattern.exec(output);
        if (found) return found;
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`it ended without saying ${pattern}: ${output}${errors}`);
        await Promise.race([once(child.stdout, 'data'), exited]);
      }
    },
    async ended() {
      await exited;
      return child.exitCode;
    },
  };
};

const killGroup = (leader: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-leader, signal);
  } catch {
    // All processes of the group have ended.
  }
};
