import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Test } from 'tap';
import { bundled, nodeCommand, unhooked } from '../child.ts';
import { HTTP_SERVER_ENV } from '../http/listener.ts';
import { MAIN } from './built.ts';

/** The command line as a process of its own, with an environment of its own. */

export type Command = {
  child: ChildProcess;
  /** What it has written to standard output so far. */
  output(): string;
  errors(): string;
  /** Waits until standard output holds this. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Waits for the end; the exit code. */
  ended(): Promise<number | null>;
};

type Environment = Record<string, string>;

export const runCommand = (t: Test, args: readonly string[], env: Environment = {}): Command =>
  run(t, nodeCommand([MAIN, ...args], env.NODE_OPTIONS), env);

/** A program of TypeScript. */
export const runProgram = (t: Test, file: string, args: readonly string[], env: Environment = {}): Command =>
  run(t, nodeCommand([bundled(file), ...args], env.NODE_OPTIONS), env);

/** Node with these arguments, as it is where it ships. */
export const runNode = (t: Test, args: readonly string[]): Command =>
  run(t, unhooked(process.execPath, args), {});

const run = (t: Test, command: ReturnType<typeof unhooked>, env: Environment): Command => {
  const { NODE_OPTIONS: _, ...others } = env;
  const child = spawn(...command, {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...HTTP_SERVER_ENV, ...others },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
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
    child.kill('SIGKILL');
    await exited;
  });
  return {
    child,
    output: () => output,
    errors: () => errors,
    async says(pattern) {
      for (;;) {
        const found = pattern.exec(output);
        if (found) return found;
        if (child.exitCode !== null)
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
