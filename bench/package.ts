import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The published package. */
export type Packed = {
  filename: string;
  size: number;
  unpackedSize: number;
  files: { path: string; size: number; mode: number }[];
};

const SOURCES = [
  ...['package.json', 'package-lock.json', 'README.md', 'LICENSE', 'tsconfig.json'],
  ...['src', 'machines', '.build'],
];

/**
 * The console, the manual and the API reference, which take longest, are rebuilt only if their records are of other
 * sources.
 */
const BUILT = ['dist/console', 'dist/console.json', 'dist/docs', '.tap/api/record.json'];

/** Runs a command without the modules that test runners load into every node. */
export const outputIn = async (folder: string, command: string, ...args: string[]): Promise<string> => {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(command, args, { cwd: folder, env, maxBuffer: 2 ** 26 });
  return stdout;
};

/** Builds a copy of the sources and packs it into the folder, so that the build of the checkout stays unchanged. */
export const pack = async (root: string, folder: string): Promise<Packed> => {
  const stage = join(folder, 'stage');
  mkdirSync(stage, { recursive: true });
  const taken = [...SOURCES, ...BUILT.filter((name) => existsSync(join(root, name)))];
  for (const name of taken) cpSync(join(root, name), join(stage, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(stage, 'node_modules'));
  const said = await outputIn(stage, 'npm', 'pack', '--json', '--foreground-scripts=false');
  const [packed]: Packed[] = JSON.parse(said);
  if (!packed) throw new Error(`npm pack printed ${said}`);
  renameSync(join(stage, packed.filename), join(folder, packed.filename));
  return packed;
};
