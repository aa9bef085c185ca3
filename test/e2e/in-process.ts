import { runProgram } from '../../src/commands/program.ts';
import { MAIN } from './built.ts';

/**
 * The command line in this process, for what a command says and how it ends: a process of its own takes a hundred times
 * as long to start. One command at a time, since its arguments, its environment and its streams are those of the process.
 */

export type Ended = { code: number | undefined; output: string; errors: string };

type Write = typeof process.stdout.write;

/** A stream whose text is kept; nothing of it is written. */
const kept = (stream: NodeJS.WriteStream) => {
  const { write } = stream;
  let text = '';
  const keep = (chunk: string | Uint8Array, ...more: unknown[]): boolean => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const done = more.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
  // Every form of its arguments begins with what is written and ends with who is told, if anybody.
  stream.write = keep as Write;
  return {
    text: () => text,
    restore: () => {
      stream.write = write;
    },
  };
};

/** Stops what runs where the program would have ended its process. */
class Exit extends Error {}

/** A command that ends by itself. What it does after `process.exit` is what no process would do any more: nothing. */
export const runHere = async (
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ended> => {
  const { argv, env: environment, exit, exitCode } = process;
  const [out, err] = [kept(process.stdout), kept(process.stderr)];
  let ended: Ended | undefined;
  const end = (code: number | undefined): Ended => {
    ended ??= { code, output: out.text(), errors: err.text() };
    return ended;
  };
  process.argv = [process.execPath, MAIN, ...args];
  process.env = { PATH: environment.PATH ?? '', HOME: environment.HOME ?? '', ...env };
  process.exitCode = undefined;
  process.exit = (code) => {
    end(Number(code ?? process.exitCode ?? 0));
    throw new Exit();
  };
  try {
    await runProgram().catch((error: unknown) => {
      if (!(error instanceof Exit)) throw error;
    });
    return end(Number(process.exitCode ?? 0));
  } finally {
    Object.assign(process, { argv, env: environment, exit });
    process.exitCode = exitCode;
    out.restore();
    err.restore();
  }
};
