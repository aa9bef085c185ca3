import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { type ChildProcess, startProgram } from './start.ts';

/**
 * Runs a program to its end and collects its output.
 *
 * Guarantees: the program leads a process group, which is killed when the time is over, when the signal aborts and when
 * the program has ended, so no process of that group stays; a process that leaves the group only loses its output.
 * Output past the limit is read and dropped.
 */
export type ProgramRun = {
  file: string;
  args: readonly string[];
  cwd?: string;
  /** The whole environment of the program. */
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** At most what a timer of Node takes. */
  timeoutMs: number;
  /** Bytes of each output that are kept. */
  outputLimit: number;
};

export type ProgramEnd = {
  /** 128 + signal where a signal ended the program, as in a shell. */
  exitCode: number;
  stopped?: Stopped;
  stdout: Output;
  stderr: Output;
};

type Stopped = 'timeout' | 'cancelled';

type Output = { bytes: Buffer; truncated: boolean };

/** How long output may still arrive after every process of the group has ended; it is in the pipe by then. */
const DRAIN_MS = 5000;

/** Resolves when the program has ended and its output has been read; rejects when it could not be started. */
export const runProgram = async (run: ProgramRun): Promise<ProgramEnd> => {
  const { file, args, cwd, env, outputLimit } = run;
  const child = startProgram({
    file,
    args,
    ...(cwd !== undefined && { cwd }),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [collect(child.stdout, outputLimit), collect(child.stderr, outputLimit)];
  // `once` rejects on `error`, which comes instead of `exit` when there is no process.
  const closed = once(child, 'close');
  const stopped = await exitOf(child, closed, run);
  const drain = setTimeout(
    () => {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    stopped ? 0 : DRAIN_MS,
  );
  await closed;
  clearTimeout(drain);
  return { exitCode: exitCodeOf(child), ...(stopped && { stopped }), stdout: stdout(), stderr: stderr() };
};

/** Waits for the exit, or causes it; afterwards no process of the group is left. */
const exitOf = async (
  child: ChildProcess,
  closed: Promise<unknown>,
  { signal, timeoutMs }: ProgramRun,
): Promise<Stopped | undefined> => {
  let stopped: Stopped | undefined;
  const stop = (reason: Stopped): void => {
    stopped ??= reason;
    killGroup(child);
  };
  const onAbort = (): void => stop('cancelled');
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => stop('timeout'), timeoutMs);
  try {
    await Promise.race([once(child, 'exit'), closed]);
    return stopped;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    killGroup(child);
  }
};

const exitCodeOf = ({ exitCode, signalCode }: ChildProcess): number =>
  exitCode ?? 128 + (signalCode === null ? 0 : constants.signals[signalCode]);

const killGroup = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All processes of the group have ended.
  }
};

const collect = (stream: Readable, limit: number): (() => Output) => {
  const kept: Buffer[] = [];
  let room = limit;
  let truncated = false;
  stream.on('data', (chunk: Buffer) => {
    if (chunk.length > room) truncated = true;
    if (room > 0) kept.push(chunk.subarray(0, room));
    room = Math.max(0, room - chunk.length);
  });
  return () => ({ bytes: Buffer.concat(kept), truncated });
};
