import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { SHORT_LIVED } from '../child.ts';
import { type Places, preludeOf, ROOT, workerOf } from './places.ts';
import type { Said, Told } from './worker.ts';

/** How a test file ended. `broken`: why there is no result, as far as it is known. */
export interface Ended {
  file: string;
  ok: boolean;
  cpuMs: number;
  wallMs: number;
  residue: string[];
  broken?: string;
  /** It was given up after `fileMs`. */
  late?: boolean;
  /** What was printed meanwhile, in short. */
  printed: string;
}

const PRINTED_CHARS = 20_000;

export interface RunOptions {
  places: Places;
  seed: number;
  /** After which a file is given up, with the process that it blocks. */
  fileMs: number;
  /** Nothing runs after the first file that fails. */
  bail: boolean;
  /** Where the program lies that the tests start; `dist` unless said. */
  program?: string;
}

/**
 * Runs files in one process, until the queue is empty: others may take from it meanwhile. A file that ends the process
 * is the only one to pay, what is left is run in a new one.
 */
export const runFiles = async (
  queue: string[],
  options: RunOptions,
  told: (ended: Ended) => void,
): Promise<void> => {
  while (queue.length > 0) await runProcess(queue, options, told);
};

/** Node with the bundled worker; tap's loaders are not needed, since all is compiled. */
const startWorker = ({ places, seed, program }: RunOptions): ChildProcess =>
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
    // A process that has just died tells of itself by its exit.
    child.send(next, () => {});
  };
  const print = (chunk: Buffer): void => {
    printed = (printed + chunk.toString()).slice(-PRINTED_CHARS);
  };
  child.stdout?.on('data', print);
  child.stderr?.on('data', print);
  child.on('message', (said: Said) => {
    if (said.type === 'ended') tell(said);
    // tap speaks over the same channel.
    else if (said.type === 'ready') give();
  });
  // Not `close`: a program that a test left behind may hold the pipes.
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  clearTimeout(giveUp);
  if (!begun) file = queue.shift();
  if (file === undefined) return;
  const way = signal ?? `exit code ${code}`;
  const broken = late ? `did not end within ${options.fileMs / 1000} s` : `its process ended (${way})`;
  tell({ file, ok: false, cpuMs: 0, residue: [], broken, late });
};
