import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './build.ts';

/**
 * The versions of Node on which the HTTP servers of Troupe are measured: the one of this process, and the current ones
 * on npm.
 */

export type HttpServer = 'uws' | 'node';

export const HTTP_SERVER_NAMES: Record<HttpServer, string> = { uws: 'uWebSockets.js', node: 'node:http' };

export type Node = {
  major: number;
  /** Command that starts this Node; arguments are appended. */
  command: readonly string[];
  servers: readonly HttpServer[];
};

export type Nodes = {
  nodes: Node[];
  /** Reasons why a version, or uWebSockets.js on it, is not measured. */
  missing: string[];
};

const MAJORS = [22, 24, 26];

const OWN_MAJOR = Number(process.versions.node.split('.')[0]);

/**
 * @param root root folder of another Linux, whose C library is used where uWebSockets.js needs a newer one than this
 *   system has
 * @param short only the version of this process, so that nothing is installed
 */
export const findNodes = (root: string | undefined, short: boolean): Nodes => {
  const found: Nodes = { nodes: [], missing: [] };
  const others = short ? [] : MAJORS.filter((major) => major !== OWN_MAJOR);
  for (const major of [OWN_MAJOR, ...others]) {
    const path = major === OWN_MAJOR ? process.execPath : installNode(major);
    if (path === undefined) {
      found.missing.push(`Node ${major} is not measured: npm cannot install or start it here`);
      continue;
    }
    const commands = root === undefined ? [[path]] : [[path], withLibrariesOf(root, path)];
    const command = commands.find(loadsUws);
    if (!command)
      found.missing.push(`uWebSockets.js is not measured on Node ${major}: its binary does not load`);
    found.nodes.push({ major, command: command ?? [path], servers: command ? ['uws', 'node'] : ['node'] });
  }
  return found;
};

/** Returns the path of the executable, in the cache of npx. */
const installNode = (major: number): string | undefined => {
  const name = `node-${process.platform}-${process.arch}@${major}`;
  const print = 'node -p process.execPath';
  const { status, stdout } = spawnSync('npx', ['--yes', '-p', name, '-c', print], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
};

/** Starts the dynamic linker of that root, which keeps a single process, unlike `chroot` in a namespace. */
const withLibrariesOf = (root: string, path: string): string[] => [
  join(root, 'lib64/ld-linux-x86-64.so.2'),
  '--library-path',
  join(root, 'usr/lib/x86_64-linux-gnu'),
  path,
];

const loadsUws = ([file = '', ...args]: readonly string[]): boolean =>
  spawnSync(file, [...args, '-e', "require('uWebSockets.js')"], { cwd: ROOT }).status === 0;
