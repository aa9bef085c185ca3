import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import t, { type Test } from 'tap';
import { serveHere } from '../e2e/in-process.ts';
import { openPython } from '../interop/python.ts';
import { LONG } from '../long.ts';
import { ROOT } from '../run/places.ts';
import { type Block, blocks } from './pages.ts';

/** Executes the programs of the pages about clients of OpenAI's protocol unchanged, except for the port. */

const PAGE = /guides\/(?:langchain|openai-agents-sdk|ai-sdk-provider|litellm)\.md$/;

const shown = blocks().filter(({ file }) => PAGE.test(file));
const dev = await serveHere(t, ['dev', '--storage-dir', join(t.testdir(), 'data')]);

const here = ({ text }: Block): string => text.replaceAll('http://127.0.0.1:38080', dev.url);

const RESPONSE = 'Scripted response to: hi';

const executeScript = async (t: Test, block: Block): Promise<string> => {
  // Packages are found from a folder of the project.
  const folder = join(ROOT, '.tap', 'openai-clients');
  mkdirSync(folder, { recursive: true });
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'example.mjs');
  const { code } = await transform(here(block), { loader: 'ts', target: 'node20.19' });
  writeFileSync(file, code);
  return (await promisify(execFile)(process.execPath, [file])).stdout;
};

for (const block of shown.filter(({ language }) => language === 'ts')) {
  t.test(`executes the program of ${block.file}`, async (t) => {
    t.match(await executeScript(t, block), RESPONSE);
  });
}

const isOfLiteLlm = ({ text }: Block): boolean => text.includes('import litellm');

const executePython = (blocks: readonly Block[], folder: string): unknown =>
  t.test(`executes the Python programs with the packages of ${folder}`, async (t) => {
    const python = await openPython(folder);
    if (typeof python === 'string') return void t.pass('', { skip: python });
    t.ok(blocks.length > 0);
    for (const block of blocks) t.match(await python.execute(here(block)), RESPONSE, block.file);
  });

const programs = shown.filter(({ language }) => language === 'python');
executePython(
  programs.filter((block) => !isOfLiteLlm(block)),
  'openai-python',
);
// Its packages take 250 MB.
if (LONG) executePython(programs.filter(isOfLiteLlm), 'litellm-python');
