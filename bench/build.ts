import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle, type Plugin } from 'esbuild';
import { asShipped } from './as-shipped.ts';
import { BenchError } from './error.ts';
import { removedAtExit } from './folders.ts';

/**
 * A measured build of the service, and the benchmark programs that belong to it.
 *
 * Everything is started like the service: sources and packages bundled, plain node with the flags of the command's
 * first line. Programs that open a store or embed the service are bundled with the sources of their build; packages are
 * those of this tree.
 */
export type Build = {
  root: string;
  main: string;
  /** Ends in `-dirty` if the tree has uncommitted changes. */
  commit: string;
  /** Flags of node in the first line of the command. */
  flags: readonly string[];
  /** Folder of the bundled programs. */
  programs: string;
};

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Builds this tree. @throws BenchError */
export const makeBuild = (): Promise<Build> => {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build:js'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new BenchError(`the build failed:\n${stdout}${stderr}`);
  return buildIn(ROOT);
};

/** Reads a built checkout. @throws BenchError */
export const buildIn = async (folder: string): Promise<Build> => {
  const root = resolve(folder);
  const main = join(root, 'dist/src/main.js');
  for (const needed of [main, join(root, 'src')]) {
    if (!existsSync(needed)) {
      throw new BenchError(`${folder} is not a built checkout: ${relative(root, needed)} is missing`);
    }
  }
  return { root, main, commit: commitOf(root), flags: flagsOf(main), programs: await bundlePrograms(root) };
};

const flagsOf = (main: string): string[] => {
  const [first = ''] = readFileSync(main, 'utf8').split('\n', 1);
  return /^#!.* node (--.*)$/.exec(first)?.[1]?.split(' ') ?? [];
};

const commitOf = (root: string): string => {
  const git = (...args: string[]): string =>
    spawnSync('git', ['-C', root, ...args], { encoding: 'utf8' }).stdout.trim();
  // A folder within another checkout does not belong to its commit.
  if (git('rev-parse', '--show-toplevel') !== realpathSync(root)) return 'unknown';
  const dirty = git('status', '--porcelain', '--', 'src', 'machines', 'package.json') !== '';
  return git('rev-parse', '--short=12', 'HEAD') + (dirty ? '-dirty' : '');
};

const PROGRAMS = join(ROOT, 'bench/programs');

const bundlePrograms = async (root: string): Promise<string> => {
  // Within this tree, so that its packages resolve.
  const outdir = removedAtExit(mkdtempSync(join(ROOT, 'dist', 'bench-')));
  await bundle({
    entryPoints: [join(PROGRAMS, '*.ts')],
    outdir,
    ...asShipped(),
    plugins: [sourcesOf(root)],
  });
  return outdir;
};

/** Resolves imports of a program from the service to that tree, and its public interface to that build. */
const sourcesOf = (root: string): Plugin => ({
  name: 'sources',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.\/\.\.\/src\// }, ({ path, importer }) => {
      // The load generator is always the one of this tree.
      if (path.startsWith('../../src/load-generator/')) return undefined;
      if (path === '../../src/index.ts') return { path: join(root, 'dist/src/index.js'), external: true };
      return { path: join(root, relative(ROOT, join(dirname(importer), path))) };
    });
  },
});
