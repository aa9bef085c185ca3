import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { bundled, nodeCommand } from '../child.ts';

/** Runs a script of this folder in a separate process, and reads the lines that it prints. */
export const startChild = (t: Test, script: string, args: string[], shell?: string) => {
  const file = bundled(fileURLToPath(new URL(script, import.meta.url)));
  const [command, rest] = nodeCommand([file, ...args]);
  const child: ChildProcess = shell
    ? spawn('sh', ['-c', `${shell} exec "$@"`, 'sh', command, ...rest], { stdio: ['ignore', 'pipe', 'pipe'] })
    : spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  const errors: string[] = [];
  child.stderr?.on('data', (text) => errors.push(String(text)));
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lines = child.stdout ? createInterface({ input: child.stdout })[Symbol.asyncIterator]() : undefined;
  return {
    pid: child.pid,
    exit,
    kill: () => child.kill('SIGKILL'),
    async line(): Promise<string> {
      const next = await lines?.next();
      if (!next || next.done) throw new Error(`the child ended: ${errors.join('')}`);
      return next.value;
    },
  };
};
