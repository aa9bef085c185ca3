import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { SHORT_LIVED } from '../child.ts';
import type { Said } from './group.ts';
import { groupOf, type Places, preludeOf, ROOT } from './places.ts';

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

export interface GroupOptions {
  places: Places;
  seed: number;
  /** After which a file is given up, with the process that it blocks. */
  fileMs: number;
  /** Nothing runs after the first file that fails. */
  bail: boolean;
  /** Where the program lies that the tests start; `dist` unless said. */
  program?: string;
}

/** Runs files in one process; a file that ends it is the only one to pay, the others go on in a new one. */
export const runGroup = async (
  files: readonly string[],
  options: GroupOptions,
  told: (ended: Ended) => void,
): Promise<void> => {
  let left = [...files];
  while (left.length > 0) {
    const done = await runProcess(left, options, told);
    left = left.slice(done);
  }
};

/** Node with the bundled group; tap's loaders are not needed, since all is compiled. */
const startGroup = (files: readonly string[], { places, seed, bail, program }: GroupOptions): ChildProcess =>
  spawn(
    process.execPath,
    [
      '--enable-source-maps',
      ...SHORT_LIVED,
      `--import=${pathToFileURL(preludeOf(places))}`,
      groupOf(places),
      ...(bail ? ['--bail'] : []),
      ...files,
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

/** @returns how many of the files are done with, the one included that ended the process */
const runProcess = async (
  files: readonly string[],
  options: GroupOptions,
  told: (ended: Ended) => void,
): Promise<number> => {
  const child = startGroup(files, options);
  const ended: Ended[] = [];
  let printed = '';
  let started = performance.now();
  let late = false;
  const giveUp = setTimeout(() => {
    late = true;
    child.kill('SIGKILL');
  }, options.fileMs);
  const tell = (end: Omit<Ended, 'wallMs' | 'printed'>): void => {
    giveUp.refresh();
    const whole = { ...end, wallMs: performance.now() - started, printed };
    ended.push(whole);
    told(whole);
    printed = '';
    started = performance.now();
  };
  const print = (chunk: Buffer): void => {
    printed = (printed + chunk.toString()).slice(-PRINTED_CHARS);
  };
  child.stdout?.on('data', print);
  child.stderr?.on('data', print);
  // tap speaks over the same channel.
  child.on('message', (said: Said) => said.type === 'ended' && tell(said));
  // Not `close`: a program that a test left behind may hold the pipes.
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  clearTimeout(giveUp);
  const file = files[ended.length];
  if (file === undefined || (options.bail && ended.some(({ ok }) => !ok))) return files.length;
  const way = signal ?? `exit code ${code}`;
  const broken = late ? `did not end within ${options.fileMs / 1000} s` : `its process ended (${way})`;
  tell({ file, ok: false, cpuMs: 0, residue: [], broken, late });
  return options.bail ? files.length : ended.length;
};
