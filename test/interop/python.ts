import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Test } from 'tap';

/**
 * Official clients of Python, in a separate directory. The packages of a folder of programs are pinned by its
 * `requirements.txt`, and kept under its hash and the version of Python, so that a change reinstalls them. All checkouts
 * of a user share them, because an installation takes longer than the tests.
 */

const KEPT = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'troupe-ci');

/** Errors of pip without a reachable index, or of a Python without pip. */
const UNAVAILABLE =
  /NewConnectionError|NameResolutionError|ProxyError|ConnectTimeout|ReadTimeout|No module named pip\b/;

const run = promisify(execFile);

export type Python = {
  /** Runs one of the programs of the folder; it is ended with the test. */
  start(t: Test, program: string, args: readonly string[]): PythonProgram;
  /** Runs the text of a program, and returns its output. @throws when it fails */
  execute(program: string): Promise<string>;
};

export type PythonProgram = {
  child: ChildProcessWithoutNullStreams;
  /** The output, one JSON object per line. @throws when the program fails, with its last output */
  lines(): AsyncGenerator<Record<string, unknown>, void, undefined>;
  kill(): Promise<void>;
};

/**
 * @param name of the folder of programs in this directory
 * @returns the reason if it is unavailable
 */
export const openPython = async (name: string): Promise<Python | string> => {
  const version = await run('python3', ['-c', 'import sys; print(*sys.version_info[:3], sep=".")']).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  if (version === undefined) return 'there is no python3';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < 3 || minor < 11) return `the packages need Python 3.11, and this one is ${version}`;
  const programs = fileURLToPath(new URL(`./${name}`, import.meta.url));
  const requirements = join(programs, 'requirements.txt');
  const hash = createHash('sha256')
    .update(await readFile(requirements))
    .update(version);
  const packages = join(KEPT, name, hash.digest('hex').slice(0, 16));
  if (!existsSync(packages)) {
    const failure = await install(requirements, packages);
    if (failure !== undefined) return failure;
  }
  return {
    start: (t, program, args) => start(t, packages, join(programs, program), args),
    execute: async (program) =>
      (await run('python3', ['-S', '-c', program], { env: environment(packages) })).stdout,
  };
};

/** Two test files may install concurrently: the first result is kept. */
const install = async (requirements: string, packages: string): Promise<string | undefined> => {
  await mkdir(dirname(packages), { recursive: true });
  const made = await mkdtemp(join(dirname(packages), 'new-'));
  // Python compiles modules when they are first used.
  const flags = [
    '--disable-pip-version-check',
    '--no-compile',
    '--quiet',
    '--retries',
    '1',
    '--require-hashes',
  ];
  try {
    // A virtual environment would install its own pip, which takes half as long again.
    const pip = ['-m', 'pip', 'install', ...flags, '--target', made, '-r', requirements];
    await run('python3', pip);
    await rename(made, packages).catch((error) => {
      if (!existsSync(packages)) throw error;
    });
    return undefined;
  } catch (error) {
    const said = String(error);
    const reason = said.split('\n').find((line) => UNAVAILABLE.test(line));
    if (reason === undefined) throw error;
    return `the Python packages could not be installed: ${reason}`;
  } finally {
    await rm(made, { recursive: true, force: true });
  }
};

/** A proxy must not be used for connections on one host. */
const environment = (packages: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  PYTHONPATH: packages,
  PYTHONUNBUFFERED: '1',
  NO_PROXY: '*',
});

const start = (t: Test, packages: string, program: string, args: readonly string[]): PythonProgram => {
  // Without `site`, no globally installed package is used.
  const child = spawn('python3', ['-S', program, ...args], {
    env: environment(packages),
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said = (said + chunk).slice(-4000);
  });
  // A write to an ended program is reported by its end.
  child.stdin.on('error', () => {});
  const closed = once(child, 'close');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await closed;
  };
  t.teardown(kill);
  return {
    child,
    kill,
    async *lines() {
      for await (const line of createInterface(child.stdout)) yield JSON.parse(line);
      const [code] = await closed;
      if (code !== 0 && !child.killed) throw new Error(`${program} ended with ${code}: ${said}`);
    },
  };
};
