import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The package as it is published. */
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

/** The console is built again only if its record tells of other sources: its build takes longer than all the others. */
const CONSOLE = ['dist/console', 'dist/console.json'];

/** Runs a command as its user does: without what runners of tests load into every node. */
export const outputIn = async (folder: string, command: string, ...args: string[]): Promise<string> => {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(command, args, { cwd: folder, env, maxBuffer: 2 ** 26 });
  return stdout;
};

/** Builds a copy of the sources and packs it into the folder: the build of the checkout stays as it is. */
export const pack = async (root: string, folder: string): Promise<Packed> => {
  const stage = join(folder, 'stage');
  mkdirSync(stage, { recursive: true });
  const taken = [...SOURCES, ...CONSOLE.filter((name) => existsSync(join(root, name)))];
  for (const name of taken) cpSync(join(root, name), join(stage, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(stage, 'node_modules'));
  const said = await outputIn(stage, 'npm', 'pack', '--json', '--foreground-scripts=false');
  const [packed]: Packed[] = JSON.parse(said);
  if (!packed) throw new Error(`npm pack said ${said}`);
  renameSync(join(stage, packed.filename), join(folder, packed.filename));
  return packed;
};
