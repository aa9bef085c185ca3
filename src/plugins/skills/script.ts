import { once } from 'node:events';
import { constants } from 'node:os';
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { type ChildProcess, startProgram, variablesNamed } from '../../processes/start.ts';
import { timerMs } from '../../schema/timer.ts';
import { codedError } from '../../tools/coded-error.ts';
import { type Json, ToolError } from '../../tools/tool.ts';
import { decodeText } from './decode.ts';
import { FOLDERS, locate } from './resources.ts';

/**
 * Runs a script of a skill (agent-loop.md 14.3). No shell reads the arguments; the extension chooses the
 * interpreter. The script works in the folder of its skill and sees a few harmless variables of the environment,
 * never the keys of the service. It leads a process group of its own, and that group is killed when the time is
 * over, when the run is cancelled, and when the script has ended, so nothing it started stays behind; a process
 * that leaves the group is only cut off from its output. Output past the limit is read and dropped.
 *
 * Costs: up to 64 KiB of memory a script. A service that is killed itself leaves a running script behind.
 */

const OUTPUT_LIMIT = 32 * 1024;

/** How long output may still come once every process of the group is gone; ample, as it is there already. */
const DRAIN_MS = 5000;

const INTERPRETERS: Readonly<Record<string, string>> = {
  '.js': process.execPath,
  '.cjs': process.execPath,
  '.mjs': process.execPath,
  '.py': 'python3',
  '.sh': 'bash',
};

const VARIABLES = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'TZ'];

export type ScriptRun = {
  skill: { id: string; root: string };
  script: string;
  args: readonly string[];
  signal: AbortSignal;
  timeoutMs: number;
};

/**
 * The data of a `skill_script`; a script that a signal ended has the exit code 128 + signal, as in a shell.
 *
 * @throws ToolError `script_timeout`, `unsupported_operation`, `io_error` and those of `locate`
 */
export const runScript = async ({ skill, script, args, signal, timeoutMs }: ScriptRun): Promise<Json> => {
  const { path, file } = await locate(skill.root, script, [FOLDERS.script]);
  const interpreter = INTERPRETERS[extname(path).toLowerCase()];
  if (interpreter === undefined) {
    const known = Object.keys(INTERPRETERS).join(', ');
    throw codedError('unsupported_operation', `cannot run '${path}': scripts end with one of ${known}`);
  }
  if (signal.aborted) throw cancelled(path);
  const { stdout, stderr, ...ended } = await runToEnd(
    { command: [interpreter, file, ...args], cwd: skill.root },
    signal,
    timeoutMs,
  ).catch((error: unknown) => {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    throw codedError('io_error', `cannot start '${path}' with '${interpreter}': ${reason}`);
  });
  if (ended.stopped === 'cancelled') throw cancelled(path);
  if (ended.stopped === 'timeout') {
    const message = `script '${path}' did not end within ${timeoutMs / 1000} s`;
    throw codedError('script_timeout', message, 'timeout');
  }
  return {
    ok: ended.exitCode === 0,
    skill_id: skill.id,
    script: path,
    exit_code: ended.exitCode,
    stdout: stdout.text,
    stderr: stderr.text,
    stdout_truncated: stdout.truncated,
    stderr_truncated: stderr.truncated,
  };
};

const cancelled = (path: string): ToolError =>
  new ToolError('cancelled', `script '${path}' was stopped with its run`);

type Program = { command: readonly [string, ...string[]]; cwd: string };

type Stopped = 'timeout' | 'cancelled';

type Output = { text: string; truncated: boolean };

/** Resolves when the program has ended and all of its output has come; rejects when it could not be started. */
const runToEnd = async (
  { command: [file, ...args], cwd }: Program,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<{ exitCode: number; stopped?: Stopped; stdout: Output; stderr: Output }> => {
  const child = startProgram({
    file,
    args,
    cwd,
    env: variablesNamed(VARIABLES),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  // `once` rejects on `error`, which comes instead of `exit` when there is no process.
  const closed = once(child, 'close');
  const stopped = await exitOf(child, closed, signal, timeoutMs);
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

/** Waits for the exit, or brings it about; no process of the group is left then. */
const exitOf = async (
  child: ChildProcess,
  closed: Promise<unknown>,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Stopped | undefined> => {
  let stopped: Stopped | undefined;
  const stop = (reason: Stopped): void => {
    stopped ??= reason;
    killGroup(child);
  };
  const onAbort = (): void => stop('cancelled');
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => stop('timeout'), timerMs(timeoutMs));
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
    // The group has no processes any more.
  }
};

const collect = (stream: Readable): (() => Output) => {
  const kept: Buffer[] = [];
  let room = OUTPUT_LIMIT;
  let truncated = false;
  stream.on('data', (chunk: Buffer) => {
    if (chunk.length > room) truncated = true;
    if (room > 0) kept.push(chunk.subarray(0, room));
    room = Math.max(0, room - chunk.length);
  });
  return () => ({ text: decodeText(Buffer.concat(kept), { cut: truncated }), truncated });
};
