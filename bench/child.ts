import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onServerCore, type Place } from './pin.ts';

/** Child processes of a benchmark. None outlives this process, however it ends. */

const children = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.on(signal, () => process.exit(code));
}

export type Child = {
  readonly pid: number;
  /** The first match in the output so far or later. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends a message and waits for the response. */
  ask(message: object | string): Promise<unknown>;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
  readonly exited: Promise<unknown>;
};

export const startChild = (
  args: readonly string[],
  place: Place = onServerCore,
  variables: Record<string, string> = {},
  onLine: (printed: string) => void = () => {},
  node: readonly string[] = [process.execPath],
): Child => {
  const [command = '', ...rest] = place([...node, ...args]);
  // NODE_OPTIONS is removed, because it would load code that is not part of the service.
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...env, ...variables },
  });
  children.add(child);
  let printed = '';
  const collect = (chunk: Buffer): void => {
    const text = chunk.toString();
    printed = (printed + text).slice(-20_000);
    onLine(text);
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const exited = once(child, 'exit').finally(() => children.delete(child));
  const died = exited.then(([code, signal]) => {
    throw new Error(`${args.join(' ')} ended (${signal ?? code}):\n${printed}`);
  });
  died.catch(() => {});

  return {
    pid: child.pid ?? 0,
    exited,
    line: (pattern) => Promise.race([lineOf(child, pattern, () => printed), died]),
    ask: async (message) => {
      const answer = once(child, 'message');
      child.send(message);
      const [value] = await Promise.race([answer, died]);
      return value;
    },
    signal: (name) => child.kill(name),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const patience = setTimeout(() => child.kill('SIGKILL'), 5000);
      await exited;
      clearTimeout(patience);
    },
  };
};

const lineOf = (child: ChildProcess, pattern: RegExp, printed: () => string): Promise<RegExpExecArray> =>
  new Promise((resolve) => {
    const look = (): void => {
      const found = pattern.exec(printed());
      if (!found) return;
      child.stdout?.off('data', look);
      resolve(found);
    };
    child.stdout?.on('data', look);
    look();
  });
