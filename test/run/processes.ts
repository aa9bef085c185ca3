import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Said } from './group.ts';
import { bundleOf, ROOT } from './places.ts';

/** How a test file ended. `broken`: why there is no result, as far as it is known. */
export interface Ended {
  file: string;
  cpuMs: number;
  wallMs: number;
  residue: string[];
  broken?: string;
  /** What was printed meanwhile, in short. */
  printed: string;
}

const PRINTED_CHARS = 20_000;

/** After which a file is given up, with the process that it blocks. The long forms of tests take hours. */
const FILE_MS = process.env.TROUPE_TEST_LONG ? 2 ** 31 - 1 : 900_000;

/** Runs files in one process; a file that ends it is the only one to pay, the others go on in a new one. */
export const runGroup = async (
  files: readonly string[],
  seed: number,
  told: (ended: Ended) => void,
): Promise<void> => {
  let left = [...files];
  while (left.length > 0) {
    const done = await runProcess(left, seed, told);
    left = left.slice(done);
  }
};

/** Node with the bundled group; tap's loaders are not needed, since all is compiled. */
const startGroup = (files: readonly string[], seed: number): ChildProcess =>
  spawn(process.execPath, ['--enable-source-maps', bundleOf('test/run/group.ts'), ...files], {
    cwd: ROOT,
    env: { ...process.env, TROUPE_TEST_SEED: String(seed) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });

/** @returns how many of the files are done with, the one included that ended the process */
const runProcess = async (
  files: readonly string[],
  seed: number,
  told: (ended: Ended) => void,
): Promise<number> => {
  const child = startGroup(files, seed);
  let done = 0;
  let printed = '';
  let started = performance.now();
  let late = false;
  const giveUp = setTimeout(() => {
    late = true;
    child.kill('SIGKILL');
  }, FILE_MS);
  const print = (chunk: Buffer): void => {
    printed = (printed + chunk.toString()).slice(-PRINTED_CHARS);
  };
  child.stdout?.on('data', print);
  child.stderr?.on('data', print);
  child.on('message', (said: Said) => {
    // tap speaks over the same channel.
    if (said.type !== 'ended') return;
    giveUp.refresh();
    told({ ...said, wallMs: performance.now() - started, printed });
    done += 1;
    printed = '';
    started = performance.now();
  });
  // Not `close`: a program that a test left behind may hold the pipes.
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  clearTimeout(giveUp);
  const file = files[done];
  if (file === undefined) return done;
  const broken = late
    ? `did not end within ${FILE_MS / 1000} s`
    : `its process ended (${signal ?? `exit code ${code}`})`;
  told({ file, cpuMs: 0, wallMs: performance.now() - started, residue: [], broken, printed });
  return done + 1;
};
