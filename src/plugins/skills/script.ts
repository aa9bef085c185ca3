import { extname } from 'node:path';
import { type ProgramEnd, runProgram } from '../../processes/run.ts';
import { variablesNamed } from '../../processes/start.ts';
import { timerMs } from '../../schema/timer.ts';
import { codedError } from '../../tools/coded-error.ts';
import { type Json, ToolError } from '../../tools/tool.ts';
import { decodeText } from './decode.ts';
import { FOLDERS, locate } from './resources.ts';

/**
 * Runs a script of a skill (agent-loop.md 14.3). No shell parses the arguments; the file extension selects the
 * interpreter. The script runs in the folder of its skill with a few harmless environment variables, never with the
 * keys of the service. It leads a separate process group, which is killed on timeout, on cancellation of the run and
 * after the script has ended, so that no child process remains; a process that leaves the group is only disconnected
 * from its output. Output beyond the limit is read and dropped.
 *
 * Costs: up to 64 KiB of memory per script. A script keeps running if the service itself is killed.
 */

const OUTPUT_LIMIT = 32 * 1024;

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
 * Returns the data of a `skill_script`. The exit code of a script ended by a signal is 128 + signal, as in a shell.
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
  const { stdout, stderr, ...ended } = await runProgram({
    file: interpreter,
    args: [file, ...args],
    cwd: skill.root,
    env: variablesNamed(VARIABLES),
    signal,
    timeoutMs: timerMs(timeoutMs),
    outputLimit: OUTPUT_LIMIT,
  }).catch((error: unknown) => {
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
    stdout: textOf(stdout),
    stderr: textOf(stderr),
    stdout_truncated: stdout.truncated,
    stderr_truncated: stderr.truncated,
  };
};

const cancelled = (path: string): ToolError =>
  new ToolError('cancelled', `script '${path}' was stopped with its run`);

const textOf = ({ bytes, truncated }: ProgramEnd['stdout']): string => decodeText(bytes, { cut: truncated });
