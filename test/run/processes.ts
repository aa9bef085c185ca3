import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { SHORT_LIVED } from '../child.ts';
import { type Places, preludeOf, ROOT, workerOf } from './places.ts';
import type { Said, Told } from './worker.ts';

/** Result of a test file. `broken`: the reason for a missing result, as far as known. */
export interface Ended {
  file: string;
  ok: boolean;
  cpuMs: number;
  wallMs: number;
  residue: string[];
  broken?: string;
  /** True if the file was stopped after `fileMs`. */
  late?: boolean;
  /** Captured output, truncated. */
  printed: string;
}

const PRINTED_CHARS = 20_000;

export interface RunOptions {
  places: Places;
  seed: number;
  /** Timeout after which a file is stopped together with its process. */
  fileMs: number;
  /** Time without progress after which a file fails and its process ends. */
  stallMs?: number;
  /** Stops after the first file that fails. */
  bail: boolean;
  /** Folder of the program that the tests start; default: `dist`. */
  program?: string;
}

/**
 * Runs files in one process until the queue is empty; other callers may take from the queue concurrently. If a file
 * ends the process, only this file fails, and the remaining ones run in a new process.
 */
export const runFiles = async (
  queue: string[],
  options: RunOptions,
  told: (ended: Ended) => void,
): Promise<void> => {
  while (queue.length > 0) await runProcess(queue, options, told);
};

/** Starts Node with the bundled worker; tap's loaders are not needed, because everything is compiled. */
const startWorker = ({ places, seed, stallMs, program }: RunOptions): ChildProcess =>
  spawn(
    process.execPath,
    [
      '--enable-source-maps',
      ...SHORT_LIVED,
      `--import=${pathToFileURL(preludeOf(places))}`,
      workerOf(places),
    ],
    {
      cwd: ROOT,
      env: {
        ...process.env,
        TROUPE_TEST_SEED: String(seed),
        ...(stallMs === undefined ? {} : { TROUPE_TEST_STALL_MS: String(stallMs) }),
        ...(program === undefined ? {} : { TROUPE_TEST_PROGRAM: program }),
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  );

const runProcess = async (
  queue: string[],
  options: RunOptions,
  told: (ended: Ended) => void,
): Promise<void> => {
  const child = startWorker(options);
  let file: string | undefined;
  let begun = false;
  let printed = '';
  let started = performance.now();
  let late = false;
  const giveUp = setTimeout(() => {
    late = true;
    child.kill('SIGKILL');
  }, options.fileMs);
  const tell = (end: Omit<Ended, 'wallMs' | 'printed'>): void => {
    file = undefined;
    if (options.bail && !end.ok) queue.length = 0;
    told({ ...end, wallMs: performance.now() - started, printed });
  };
  const give = (): void => {
    giveUp.refresh();
    begun = true;
    file = queue.shift();
    printed = '';
    started = performance.now();
    const next: Told = { type: 'file', file: file ?? null };
    // The exit event reports a process that has just ended.
    child.send(next, () => {});
  };
  const print = (chunk: Buffer): void => {
    printed = (printed + chunk.toString()).slice(-PRINTED_CHARS);
  };
  child.stdout?.on('data', print);
  child.stderr?.on('data', print);
  child.on('message', (said: Said) => {
    if (said.type === 'ended') tell(said);
    // tap uses the same channel.
    else if (said.type === 'ready') give();
  });
  // Not `close`: a leftover program of a test may keep the pipes open.
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  clearTimeout(giveUp);
  if (!begun) file = queue.shift();
  if (file === undefined) return;
  const way = signal ?? `exit code ${code}`;
  const broken = late ? `did not end within ${options.fileMs / 1000} s` : `its process ended (${way})`;
  tell({ file, ok: false, cpuMs: 0, residue: [], broken, late });
};
