import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import t from 'tap';
import { nodeCommand } from '../child.ts';
import { traced } from '../service/traced.ts';
import { startDemo } from '../service/troupe.ts';

/** The OpenAPI document in a linter, in two client generators, and in a strict compiler. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Inside the project, so that the generated code resolves packages as the sources do. */
const FOLDER = join(ROOT, '.tap', 'generated');

const output = (args: readonly string[]): Promise<string> =>
  promisify(execFile)(...nodeCommand(args), { maxBuffer: 2 ** 24 }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => `${stdout}${stderr}` || 'it failed without a word',
  );

/** The generators require the compiler that has an API. It is large, and loads faster by `require` than by `import`. */
const generator = async (): Promise<string> => {
  const outfile = join(FOLDER, 'generate.cjs');
  await build({
    entryPoints: [join(ROOT, 'test/contract/child-generate.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['typescript-5'],
    alias: { typescript: 'typescript-5' },
  });
  return outfile;
};

/** A program that uses the generated code, with the names and shapes of the document. */
const USE = `
import { defaults, getThread, listThreads, type Thread } from './client';
import type { Disagreeing } from '../../test/contract/agreement.ts';
import type { components, operations } from './types';

defaults.baseUrl = 'http://127.0.0.1:38080';

export const threadOf = async (id: string): Promise<Thread | undefined> => {
  const answer = await getThread(id);
  return answer.status === 200 ? answer.data : undefined;
};

export const first = () => listThreads({ limit: 1 });

export const idOf = (run: components['schemas']['Run']): string => run.run_id;

export const kinds = (event: components['schemas']['RunEvent']): string => event.event_type;

export const limit: operations['listThreads']['parameters']['query'] = { limit: 10 };

/** Types of troupe/client are those of the document. */
export const agreed = (name: Disagreeing<components['schemas'], operations>): never => name;

// @ts-expect-error A number is no text.
export const wrong: operations['listThreads']['parameters']['query'] = { limit: 'ten' };
`;

const CONFIGURATION = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    exactOptionalPropertyTypes: false,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    allowImportingTsExtensions: true,
    // The types of the client require them.
    types: ['node'],
  },
  files: ['use.ts', 'types.ts', 'client.ts'],
};

t.test('passes a linter, and its generated clients compile in strict mode', async (t) => {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  t.teardown(() => rmSync(FOLDER, { recursive: true, force: true }));
  const { url } = await startDemo(t, { settings: traced() });
  const document = join(FOLDER, 'openapi.json');
  writeFileSync(document, await (await fetch(`${url}/openapi.json`)).text());

  const said = await output([await generator(), document, FOLDER]);
  t.strictSame(JSON.parse(said), [], 'the linter reports nothing');

  writeFileSync(join(FOLDER, 'use.ts'), USE);
  writeFileSync(join(FOLDER, 'tsconfig.json'), JSON.stringify(CONFIGURATION));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  t.equal(await output([tsc, '-p', FOLDER, '--singleThreaded']), '', 'the compiler reports nothing');
});
