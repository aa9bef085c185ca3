import type { Readable, Writable } from 'node:stream';
import { type ChildProcessByStdio, startProgram, variablesNamed } from '../processes/start.ts';
import { inTime } from '../schema/in-time.ts';
import { guardGroup } from './guard.ts';

/**
 * A program that was started for an entry, with everything that it starts in turn.
 *
 * Guarantees: it gets a safe part of the environment and what the entry says, nothing else: the environment of the
 * service holds its keys. It leads a process group, so that nothing of it outlives `stopChild`, nor this process,
 * however that ends.
 */
export type Child = {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly pid: number;
  /** Says how, once it has ended by itself or by us. */
  readonly exited: Promise<string>;
};

export type Program = {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
};

/** Each step of an end: asking, insisting. */
const PATIENCE_MS = 2000;

const INHERITED = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];

export const environmentOf = (
  own: Readonly<Record<string, string>>,
  around: NodeJS.ProcessEnv = process.env,
): Record<string, string> => ({ ...variablesNamed(INHERITED, around), ...own });

/** @throws Error of the system, such as ENOENT */
export const startChild = ({ command, args, env }: Program): Promise<Child> =>
  new Promise((resolve, reject) => {
    const started = startProgram({
      file: command,
      args,
      env: environmentOf(env),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // It may go at any time, and whoever writes to it learns that from its exit.
    started.stdin.on('error', () => {});
    started.once('error', reject);
    const exited = new Promise<string>((tell) => {
      started.once('exit', (code, signal) =>
        tell(signal === null ? `exited with code ${code}` : `ended by ${signal}`),
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

/** Asks it to go, then insists. Resolves when it is gone, after two patiences at most. */
export const stopChild = async (child: Child): Promise<void> => {
  child.process.stdin.end();
  if ((await inTime(child.exited, PATIENCE_MS)) !== undefined) return;
  signalGroup(child.pid, 'SIGTERM');
  if ((await inTime(child.exited, PATIENCE_MS)) !== undefined) return;
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

/** The one that leads is gone; whatever it has left behind goes too. */
const clear = (pid: number): void => {
  signalGroup(pid, 'SIGKILL');
  alive.delete(pid);
  if (alive.size === 0) process.off('exit', killAll);
};

const signalGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in the group.
  }
};
