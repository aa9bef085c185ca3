import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { nodeCommand } from '../child.ts';
import { MAIN } from '../e2e/built.ts';
import { compileOnBuilt } from '../e2e/on-built.ts';
import { HTTP_SERVER_ENV } from '../http/listener.ts';
import { defer } from '../http/serve.ts';
import { freePort } from '../ports.ts';

/**
 * The built service in a separate process, on one port and one data directory over all its lives, with every way to end
 * its process. Clients wait at `up()` while no process is running.
 */

export type Durability = 'process' | 'power';

export type Started = {
  /** CPU time of the process, in ms, when its port accepted the first connection. */
  listeningCpuMs: number;
  /** CPU time from then until the response of `/health/live`. */
  liveCpuMs: number;
  /** The same in wall-clock time, which other processes affect. */
  liveMs: number;
};

export type Service = {
  url: string;
  /** The calls that tools executed, one per line. */
  executed(): string[];
  /** Begins the process that has ended. Resolves when `/health/live` has responded, and clients can be served. */
  start(durability?: Durability): Promise<Started>;
  /** SIGKILL */
  kill(): Promise<void>;
  /** Starts the service and kills it after this many ms, even during its start. */
  killStart(afterMs: number): Promise<void>;
  /** The number of ends so far that cost an executing run an attempt. */
  crashes(): number;
  /** Sends SIGTERM. @throws unless the process exits with code 0 */
  stop(): Promise<void>;
  /** Starts while another process has the port. @throws unless it fails with a message about that */
  failStart(): Promise<void>;
  /** Resolves as soon as a process responds. */
  up(): Promise<void>;
  /**
   * Copies all data into a data directory. SIGKILL ends the copy after this many ms. Returns undefined if it
   * was killed, else the directory of the copy.
   */
  backup(killAfterMs?: number): Promise<string | undefined>;
  /** Copies the key to a copy of the data directory, which does not contain it. */
  giveKey(folder: string): void;
  /** The report about a directory, by default about the data of the service. Empty: no findings. */
  examine(folder?: string): Promise<string>;
};

/** The config file of services, and the file with the calls that their tools executed. */
type Files = { dir: string; config: string; executed: string };

export type ServiceOptions = { gate?: string; env?: Record<string, string> };

export type ServiceProcess = Service & {
  isRunning(): boolean;
  /** SIGSTOP: the process does nothing until `resume`. */
  suspend(): void;
  resume(): void;
};

export const ADMIN = { authorization: 'Bearer x' };

/** The config file of the service. */
const AGENTS = fileURLToPath(new URL('./child-agents.ts', import.meta.url));

const TICKS_A_SECOND = 100;

/** The maximum time for any step of a process on a shared host. */
const PATIENCE_MS = 120_000;

export const createFiles = async (t: Test): Promise<Files> => {
  const dir = t.testdir({ executed: '' });
  const config = join(dir, 'agents.mjs');
  await compileOnBuilt(AGENTS, config);
  return { dir, config, executed: join(dir, 'executed') };
};

/** @param given files that several processes share */
export const createProcess = async (
  t: Test,
  options: ServiceOptions = {},
  given?: Files,
): Promise<ServiceProcess> => {
  const { dir, config, executed } = given ?? (await createFiles(t));
  const port = await freePort();
  const data = join(dir, 'data');
  let copies = 0;
  let kills = 0;
  let child: ChildProcess | undefined;
  let came = defer();
  /** Whether `came` has resolved; earlier waiters keep waiting. */
  let answers = false;

  const run = (durability: Durability): ChildProcess => {
    const args = ['--http-addr', `127.0.0.1:${port}`, '--storage-dir', data, '--config', config];
    const started = spawn(
      ...nodeCommand([MAIN, 'serve', ...args, '--durability', durability, '--seed-profile', 'demo']),
      {
        env: {
          PATH: process.env.PATH ?? '',
          ...HTTP_SERVER_ENV,
          SERVICE_ADMIN_API_BEARER_TOKEN: 'x',
          SERVICE_SHUTDOWN_TIMEOUT_MS: '300',
          CRASH_EXECUTED: executed,
          CRASH_GATE: options.gate ?? '',
          ...options.env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    child = started;
    return started;
  };
  const outputs = new WeakMap<ChildProcess, () => string>();
  const begin = (durability: Durability): ChildProcess => {
    const started = run(durability);
    outputs.set(started, lastOutput(started));
    return started;
  };
  const end = async (signal: NodeJS.Signals): Promise<ChildProcess> => {
    const ending = child;
    if (!ending) throw new Error('no process is running');
    if (answers) came = defer();
    answers = false;
    if (ending.exitCode !== null || ending.signalCode !== null)
      throw new Error(`the service ended by itself: ${outputs.get(ending)?.()}`);
    ending.kill(signal);
    await ended(ending);
    child = undefined;
    return ending;
  };

  t.teardown(async () => {
    if (!child) return;
    child.kill('SIGKILL');
    await ended(child);
  });

  return {
    url: `http://127.0.0.1:${port}`,
    isRunning: () => child !== undefined,
    executed: () => linesOf(executed),
    up: () => came.promise,
    async start(durability = 'process') {
      const process = begin(durability);
      const started = await untilLive(process, port, () => outputs.get(process)?.() ?? '');
      answers = true;
      came.resolve();
      return started;
    },
    crashes: () => kills,
    async kill() {
      kills += 1;
      await end('SIGKILL');
    },
    suspend: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async killStart(afterMs) {
      kills += 1;
      const process = begin('process');
      const crashed = ended(process).then(() => 'ended');
      const first = await Promise.race([crashed, pause(afterMs)]);
      if (first === 'ended') throw new Error(`the service ended by itself: ${outputs.get(process)?.()}`);
      await end('SIGKILL');
    },
    async stop() {
      const process = await end('SIGTERM');
      if (process.exitCode !== 0) {
        const how = `code ${process.exitCode}, signal ${process.signalCode}`;
        throw new Error(`a graceful stop ended with ${how}: ${outputs.get(process)?.()}`);
      }
    },
    async failStart() {
      // Connections of clients would keep the port open.
      const other = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
      await once(other, 'listening');
      const process = begin('process');
      const code = await ended(process);
      child = undefined;
      other.close();
      await once(other, 'close');
      const said = outputs.get(process)?.() ?? '';
      if (code !== 1 || !/cannot listen/.test(said))
        throw new Error(`a start on a taken port ended with code ${code}: ${said}`);
    },
    backup(killAfterMs) {
      copies += 1;
      const folder = join(dir, `copy-${copies}`);
      return copyInto(folder, ['backup', folder, '--storage-dir', data], { killAfterMs });
    },
    giveKey: (folder) => copyFileSync(join(data, 'secrets.key'), join(folder, 'secrets.key')),
    examine: (folder = data) => findingsOf(['doctor', '--storage-dir', folder]),
  };
};

export const linesOf = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');

const ended = async (process: ChildProcess): Promise<number | null> => {
  if (process.exitCode === null && process.signalCode === null) await once(process, 'exit');
  return process.exitCode;
};

const command = (args: readonly string[], env: Record<string, string>): ChildProcess =>
  spawn(...nodeCommand([MAIN, ...args]), {
    env: { PATH: process.env.PATH ?? '', ...HTTP_SERVER_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

type CopyOptions = { killAfterMs?: number | undefined; env?: Record<string, string> };

/** Runs a command that copies all data into a folder. @returns undefined if it was killed, else the folder */
export const copyInto = async (
  folder: string,
  args: readonly string[],
  { killAfterMs, env = {} }: CopyOptions = {},
): Promise<string | undefined> => {
  const copying = command(args, env);
  const output = lastOutput(copying);
  const timer =
    killAfterMs === undefined ? undefined : setTimeout(() => copying.kill('SIGKILL'), killAfterMs);
  const code = await ended(copying);
  clearTimeout(timer);
  if (copying.signalCode !== null) return undefined;
  if (code !== 0) throw new Error(`${args[0]} ended with code ${code}: ${output()}`);
  return folder;
};

/** Runs a command that checks data. @returns its report, empty without findings */
export const findingsOf = async (
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> => {
  const checking = command(args, env);
  const output = lastOutput(checking);
  return (await ended(checking)) === 0 ? '' : output();
};

/** The last output of a process, to find out why it ended. */
const lastOutput = ({ stdout, stderr }: ChildProcess): (() => string) => {
  let said = '';
  for (const stream of [stdout, stderr]) {
    stream?.on('data', (chunk) => {
      said = (said + chunk).slice(-4000);
    });
  }
  return () => said;
};

const untilLive = async (process: ChildProcess, port: number, output: () => string): Promise<Started> => {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    if (process.exitCode !== null || process.signalCode !== null)
      throw new Error(`the service did not start: ${output()}`);
    if (performance.now() > deadline) throw new Error(`the service does not listen: ${output()}`);
    const started = await askLive(process, port);
    if (started) return started;
    await pause(5);
  }
};

/** Undefined while no process listens. */
const askLive = (process: ChildProcess, port: number): Promise<Started | undefined> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let listening: Omit<Started, 'liveCpuMs' | 'liveMs'> | undefined;
    let from = 0;
    socket.once('connect', () => {
      from = performance.now();
      listening = { listeningCpuMs: cpuOf(process) };
      socket.write('GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n');
    });
    socket.once('data', () => {
      socket.destroy();
      if (!listening) return;
      const liveCpuMs = cpuOf(process) - listening.listeningCpuMs;
      resolve({ ...listening, liveCpuMs, liveMs: performance.now() - from });
    });
    socket.once('error', () => resolve(undefined));
    socket.once('close', () => resolve(undefined));
  });

/** User and system time in ms; 0 without /proc. */
const cpuOf = ({ pid }: ChildProcess): number => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_A_SECOND;
  } catch {
    return 0;
  }
};
