import type { Test } from 'tap';
import { runProgram } from '../../src/commands/program.ts';
import { HTTP_SERVER_ENV } from '../http/listener.ts';
import { defer } from '../http/serve.ts';
import { MAIN } from './built.ts';

/**
 * Runs the command line in this process, to test output and exit codes: a separate process takes a hundred times as
 * long to start. One command at a time, since its arguments, environment and streams are those of the process.
 */

export type Ended = { code: number; output: string; errors: string };

type Write = typeof process.stdout.write;

/** Captures the text of a stream instead of writing it. */
const keep = (stream: NodeJS.WriteStream) => {
  const { write } = stream;
  let text = '';
  const take = (chunk: string | Uint8Array, ...more: unknown[]): boolean => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const done = more.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
  // Every overload starts with the chunk, and ends with an optional callback.
  stream.write = take as Write;
  return {
    text: () => text,
    restore: () => {
      stream.write = write;
    },
  };
};

/** The text written to standard output during `work`. */
export const outputOf = async (work: () => Promise<unknown>): Promise<string> => {
  const out = keep(process.stdout);
  try {
    await work();
    return out.text();
  } finally {
    out.restore();
  }
};

/** Thrown where the program would have exited. */
class Exit extends Error {}

/**
 * Runs a command to its end. Anything it does after that is ignored, because its process would have exited.
 *
 * @param program that of a build; default: that of the sources
 */
export const runHere = async (
  args: readonly string[],
  env: Record<string, string> = {},
  program: () => Promise<void> = runProgram,
): Promise<Ended> => {
  const { argv, env: environment, exit, exitCode } = process;
  const [out, err] = [keep(process.stdout), keep(process.stderr)];
  let ended: Ended | undefined;
  const end = (code: number | string | null | undefined): Ended => {
    ended ??= { code: Number(code ?? process.exitCode ?? 0), output: out.text(), errors: err.text() };
    return ended;
  };
  process.argv = [process.execPath, MAIN, ...args];
  process.env = { PATH: environment.PATH ?? '', HOME: environment.HOME ?? '', ...HTTP_SERVER_ENV, ...env };
  process.exitCode = undefined;
  process.exit = (code) => {
    end(code);
    throw new Exit();
  };
  try {
    await program().catch((error: unknown) => {
      if (!(error instanceof Exit)) throw error;
    });
    return end(undefined);
  } finally {
    Object.assign(process, { argv, env: environment, exit });
    process.exitCode = exitCode;
    out.restore();
    err.restore();
  }
};

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Stops a service like the signal to its process. */
const stop = async (onSignal: NodeJS.SignalsListener): Promise<void> => {
  const { exit } = process;
  const exited = defer();
  // Its last line exits the process.
  process.exit = ((): void => exited.resolve()) as typeof exit;
  await outputOf(async () => {
    onSignal('SIGTERM');
    await exited.promise;
  });
  process.exit = exit;
};

/** Runs a command that serves until the test ends. @returns its output and its URL. @throws Error with its output */
export const serveHere = async (
  t: Test,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ output: string; url: string }> => {
  const before = new Set(SIGNALS.flatMap((signal) => process.listeners(signal)));
  const address = ['--http-addr', '127.0.0.1:0'];
  const said = await runHere([...args, ...address], { SERVICE_LOG_LEVEL: 'error', ...env });
  const [onSignal] = process.listeners('SIGTERM').filter((listener) => !before.has(listener));
  if (!onSignal) throw new Error(`it ended with code ${said.code}: ${said.output}${said.errors}`);
  for (const signal of SIGNALS) process.off(signal, onSignal);
  t.teardown(() => stop(onSignal));
  const [url = ''] = /http:\/\/[\d.:]+/.exec(said.output) ?? [];
  return { output: said.output, url };
};
