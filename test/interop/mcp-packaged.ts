import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { nodeCommand, SHORT_LIVED } from '../child.ts';
import { eventually } from '../service/troupe.ts';

/** Published MCP servers from the registry. */

type Name = 'everything' | 'filesystem' | 'memory';

const programOf = (name: Name): string =>
  fileURLToPath(
    new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url),
  );

export type Packaged = {
  entry: object;
  /** Process ids of the servers that the service has started, oldest first. */
  pids(count?: number): Promise<number[]>;
};

type Options = {
  args?: readonly string[];
  /** Shell commands that run before the server and may print anything. */
  first?: string;
  entry?: object;
};

/** An entry that starts a server over stdio. */
export const packaged = (t: Test, name: Name, { args = [], first = '', entry }: Options = {}): Packaged => {
  const pids = join(t.testdirName, `${name}-${Math.random()}.pids`);
  const shell = `echo $$ >> "$0"; ${first} exec "$@"`;
  return {
    entry: {
      id: name,
      transport: 'stdio',
      command: 'sh',
      args: ['-c', shell, pids, process.execPath, ...SHORT_LIVED, programOf(name), ...args],
      ...entry,
    },
    pids: (count = 1) =>
      eventually(
        async () => (await readFile(pids, 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number),
        (found) => found.length >= count,
      ),
  };
};

export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Starts `server-everything` over Streamable HTTP; resolves when it listens. */
export const startEverything = async (t: Test, port: number): Promise<void> => {
  const child = spawn(...nodeCommand([programOf('everything'), 'streamableHttp']), {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  await new Promise<void>((resolve) => {
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
      if (said.includes('listening on port')) resolve();
    });
  });
};
