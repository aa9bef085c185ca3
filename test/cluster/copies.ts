import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { bundled, nodeCommand } from '../child.ts';
import { runHere } from '../e2e/in-process.ts';
import { inProject } from '../run/places.ts';

/** Runs of `troupe copy`, and folders that it copies. */

export const KEY = 'key-of-the-fixture';

const ENVIRONMENT = { SERVICE_SECRETS_KEY: KEY };

export type Output = Awaited<ReturnType<typeof runHere>>;

export const copy = (
  args: readonly string[],
  environment: Record<string, string> = ENVIRONMENT,
): Promise<Output> => runHere(['copy', ...args], environment);

const FILE = fileURLToPath(new URL('./child-copy.ts', import.meta.url));

/** Kills the command when it has reported so many pages. @returns whether it was killed before its end */
export const copyUntil = async (args: readonly string[], pages: number): Promise<boolean> => {
  const [command, given] = nodeCommand([bundled(FILE), 'copy', ...args]);
  const child = spawn(command, given, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...ENVIRONMENT },
  });
  const ended = once(child, 'close');
  let lines = 0;
  createInterface({ input: child.stdout }).on('line', () => {
    lines += 1;
    if (lines === pages) child.kill('SIGKILL');
  });
  const [, signal] = await ended;
  return signal === 'SIGKILL';
};

type Fixture = { dir: string; now: number };

/** Writes the folder of a fixture of the upgrade below a folder. */
export const unpackFixture = (folder: string, format: string): Fixture => {
  const at = (name: string): Buffer =>
    gunzipSync(readFileSync(join(inProject('test/upgrade'), format, name)));
  const dir = join(folder, format);
  mkdirSync(dir, { mode: 0o700 });
  writeFileSync(join(dir, 'data.mdb'), at('data.mdb.gz'), { mode: 0o600 });
  return { dir, now: JSON.parse(at('answers.json.gz').toString()).now };
};
