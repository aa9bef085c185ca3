import type { Readable, Writable } from 'node:stream';
import { type ChildProcessByStdio, startProgram, variablesNamed } from '../processes/start.ts';
import { withTimeout } from '../schema/with-timeout.ts';
import { guardGroup } from './guard.ts';

/**
 * A child process of an entry, including its descendants.
 *
 * Guarantees: it receives a safe part of the environment and the variables of its entry only, because the environment
 * of the service contains its keys. It leads a process group, so no descendant outlives `stopChild` or this process,
 * however that ends.
 */
export type Child = {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly pid: number;
  /** Resolves with a description of how the child ended. */
  readonly exited: Promise<string>;
};

export type Program = {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
};

/** Time for each step of a stop: request, then SIGTERM. */
const PATIENCE_MS = 2000;

const INHERITED = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];

export const createEnvironment = (
  own: Readonly<Record<string, string>>,
  parentEnv: NodeJS.ProcessEnv = process.env,
): Record<string, string> => ({ ...variablesNamed(INHERITED, parentEnv), ...own });

/** @throws Error of the system, such as ENOENT */
export const startChild = ({ command, args, env }: Program): Promise<Child> =>
  new Promise((resolve, reject) => {
    const started = startProgram({
      file: command,
      args,
      env: createEnvironment(env),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // The child may exit at any time, and writers learn that from its exit.
    started.stdin.on('error', () => {});
    started.once('error', reject);
    const exited = new Promise<string>((resolveExit) => {
      started.once('exit', (code, signal) =>
        resolveExit(signal === null ? `exited with code ${code}` : `ended by ${signal}`),
      );
    });
    started.once('spawn', () => {
      const { pid } = started;
      if (pid === undefined) return reject(new Error('no process was made'));
      remember(pid);
      const callOff = guardGroup(pid);
      exited.then(() => {
        clear(pid);
        callOff();
      });
      resolve({ process: started, pid, exited });
    });
  });

/**
 * Stops the child: first by closing stdin, then by signals. Resolves when it has ended, after about twice `PATIENCE_MS`
 * at most.
 */
export const stopChild = async (child: Child): Promise<void> => {
  child.process.stdin.end();
  if ((await withTimeout(child.exited, PATIENCE_MS)) !== undefined) return;
  signalGroup(child.pid, 'SIGTERM');
  if ((await withTimeout(child.exited, PATIENCE_MS)) !== undefined) return;
  signalGroup(child.pid, 'SIGKILL');
  await child.exited;
};

const alive = new Set<number>();

const killAll = (): void => {
  for (const pid of alive) signalGroup(pid, 'SIGKILL');
};

const remember = (pid: number): void => {
  if (alive.size === 0) process.on('exit', killAll);
  alive.add(pid);
};

/** Kills the descendants of a leader that has ended. */
const clear = (pid: number): void => {
  signalGroup(pid, 'SIGKILL');
  alive.delete(pid);
  if (alive.size === 0) process.off('exit', killAll);
};

const signalGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is empty.
  }
};
