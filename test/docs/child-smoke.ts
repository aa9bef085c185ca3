import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask } from '../examples/ask.ts';

/**
 * Checks that the built program works with this Node on this system: it starts, streams the text of a run unchanged,
 * and stops. Prints one line of JSON, a `Smoke`.
 *
 * Usage: child-smoke MAIN HTTP_SERVER
 */
export type Smoke = { node: string; problem: string | null };

/** V8 stores Latin-1 text and other text in different representations. */
const TEXTS = ['café', 'café 🙂'];

const START_MS = 60_000;

const [main = '', httpServer = ''] = process.argv.slice(2);
const result: Smoke = { node: process.versions.node, problem: null };
try {
  await smoke();
} catch (error) {
  result.problem = error instanceof Error ? error.message : String(error);
}
console.log(JSON.stringify(result));

async function smoke(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-smoke-'));
  const args = ['dev', '--http-addr', '127.0.0.1:0', '--http-server', httpServer];
  const child = spawn(process.execPath, [main, ...args, '--storage-dir', join(folder, 'data')]);
  const ended = once(child, 'close');
  try {
    const url = await addressOf(child, ended);
    for (const text of TEXTS) {
      const run = await ask(url, 'default', text);
      if (!run.text.includes(text)) throw new Error(`'${text}' was streamed as '${run.text}'`);
    }
    child.kill('SIGTERM');
    const [code] = await ended;
    if (code !== 0) throw new Error(`it stopped with exit code ${code}`);
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws Error with the output of the program, if it ends or prints no address in time */
function addressOf(child: ChildProcess, ended: Promise<unknown>): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    let errors = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      const [, url] = /API\s+(http:\S+)/.exec(output) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    ended.then(() => reject(new Error(errors.trim() || 'it ended without an address')), reject);
    setTimeout(() => reject(new Error(`no address after ${START_MS / 1000} s`)), START_MS).unref();
  });
}
