import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { transform } from 'esbuild';
import t from 'tap';
import { pack } from '../../bench/package.ts';
import { bundled, nodeCommand } from '../child.ts';
import { examplePrograms } from '../docs/api-exports.ts';
import { runHere } from '../e2e/in-process.ts';
import { runNode } from '../e2e/service.ts';
import { LONG } from '../long.ts';
import { installBesideNewerAi, reasonToSkip } from './newer-ai.ts';
import { testTutorial } from './on-tutorial.ts';
import {
  addConfigurations,
  addPageConfiguration,
  addPrograms,
  BINARY,
  examples,
  HAS_BINARY,
  install,
  ROOT,
} from './project.ts';

/** Tests the published package in a project with only its declared dependencies. */

const FILES = [
  /^(LICENSE|README\.md|package\.json)$/,
  /^dist\/(LICENSES\.txt|sbom\.cdx\.json|shared-types\d*\.d\.ts)$/,
  // Chunks of the programs, each named after its content.
  /^dist\/(chunk|ai-sdk|index|main|testing)-[a-f0-9]{8}\.cjs$/,
  /^dist\/load\.js$/,
  /^dist\/(image-size|re2js)\.cjs$/,
  /^dist\/src\/(main\.js|index\.(js|d\.ts)|(ai-sdk|client|react|testing)\/index\.(js|d\.ts))$/,
  /^dist\/machines\/index\.(js|d\.ts)$/,
  /^dist\/console\/(index\.html|assets\/[\w.-]+-[\w-]{8}\.(js|css|svg)(\.gz)?)$/,
  /^dist\/docs\/(manual\.json|llms\.txt|assets\/[\w-]+-[\w-]{8}\.(js|css|svg|json)(\.gz)?)$/,
  /^dist\/docs\/([\w-]+\/)?[\w-]+\.(md|html(\.gz)?)$/,
  /^dist\/docs\/deploy\/(Dockerfile|[\w-]+\.(json|yml))$/,
  /^dist\/docs\/pictures\/[\w-]+\.jpg$/,
];

/** Types that must hold for programs that use the package. */
const CONTRACT = `
import type { LanguageModelV3 } from '@ai-sdk/provider';
import type { LanguageModelV4 } from 'ai-sdk-provider-4';
import { createTroupe, defineProvider, defineTool } from 'troupe';
import { fromAiSdk } from 'troupe/ai-sdk';
import { createClient, NotFound, type RunEvent } from 'troupe/client';
import { type MachineName, machines, runMachine } from 'troupe/machines';
import { scriptedModel, startTestTroupe, type TestRun } from 'troupe/testing';
import { z } from 'zod';

export const answerOf = async (url: string): Promise<string | undefined> => {
  const client = createClient({ url });
  const run = client.runs.stream({ agentId: 'default', messages: [{ role: 'user', content: 'Hello' }] });
  for await (const event of run) if (event.event_type === 'error') throw new Error(event.message);
  const kinds: RunEvent['event_type'][] = ['text_delta'];
  const { termination, text } = await run.end();
  for await (const { seq } of client.threads.messages((await run.ids).thread_id)) kinds.push(seq > 0 ? 'step_end' : 'error');
  await client.runs.get('x').catch((error) => error instanceof NotFound);
  return termination.type === 'stopped' ? termination.value.detail : text;
};

const input = z.object({ city: z.string(), days: z.number().default(3) });

export const forecast = defineTool({
  id: 'forecast',
  description: 'Tells the weather.',
  input,
  execute: ({ city, days }, { signal, thread_id }) => {
    const all: [string, number, AbortSignal, string] = [city, days, signal, thread_id];
    return all.length;
  },
});

// @ts-expect-error The schema has no such argument.
defineTool({ id: 'x', description: '', input, execute: ({ country }) => country });

// @ts-expect-error There is no such option.
export const wrong = () => createTroupe({ tool: [forecast] });

// @ts-expect-error An agent has an id.
export const nameless = () => createTroupe({ agents: [{ model_id: 'x' }] });

export const ofAiSdk = (model: LanguageModelV3 | LanguageModelV4, named: (id: string) => LanguageModelV4) => [
  defineProvider({ id: 'one', stream: fromAiSdk(model) }),
  defineProvider({ id: 'named', stream: fromAiSdk(named, { timeoutSeconds: 10 }) }),
];

// @ts-expect-error A model has a stream.
fromAiSdk({ specificationVersion: 'v3', provider: 'x', modelId: 'x' });

export const names: MachineName[] = ['thread', 'run'];
export const states: string = machines[names[0] ?? 'run'].id + runMachine.id;

export const tested = async (): Promise<TestRun> => {
  const model = scriptedModel(['Hello', { calls: [{ tool: 'forecast', args: { city: 'Rome' } }] }]);
  await using troupe = await startTestTroupe({ tools: [forecast], model, agents: [{ id: 'x' }] });
  return troupe.run({ message: 'Hello', agent: 'x' });
};
`;

const output = async (...args: string[]): Promise<string> =>
  promisify(execFile)(...nodeCommand(args), { maxBuffer: 2 ** 24 }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => `${stdout}${stderr}` || 'it failed without a word',
  );

/**
 * Declarations of xstate are incorrect with `exactOptionalPropertyTypes`, and those of the AI SDK without the types of
 * a browser. Only programs that use statecharts or the AI SDK read them.
 */
const withoutPackages = (said: string): string =>
  said.replace(/^\S*\/(xstate|@ai-sdk)\/.*\n(?: .*\n)*/gm, '');

// Outside the checkout, because programs inside would also resolve packages of the checkout.
const folder = mkdtempSync(join(realpathSync(tmpdir()), 'troupe-packed-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const packed = await pack(ROOT, folder);
const project = await install(folder, packed);
const programs = examples();
addPrograms(project, new Map([...programs, ...(await examplePrograms()), ['contract.ts', CONTRACT]]));

t.test('contains all needed files, and no others', async (t) => {
  const paths = packed.files.map(({ path }) => path);
  t.strictSame(
    paths.filter((path) => !FILES.some((allowed) => allowed.test(path))),
    [],
  );
  for (const allowed of FILES)
    t.ok(
      paths.some((path) => allowed.test(path)),
      String(allowed),
    );
  const programs = paths.filter((path) => /\.c?js$/.test(path));
  const text = (path: string): string => readFileSync(join(project, 'node_modules/troupe', path), 'utf8');
  t.strictSame(
    programs.filter((path) => /^\/\/[#@] sourceMappingURL=/m.test(text(path))),
    [],
    'no program refers to a missing source map',
  );
  t.notMatch(
    text('dist/src/client/index.js'),
    /^import /m,
    'the client imports nothing that a browser lacks',
  );
  t.match(text('dist/src/main.js'), /^#!\/usr\/bin\/env -S node /);
  t.equal(packed.files.find(({ path }) => path === 'dist/src/main.js')?.mode, 0o755);
  t.match(text('dist/LICENSES.txt'), /^pino \d/m);
  t.notMatch(text('dist/LICENSES.txt'), /^lmdb \d/m, 'external dependencies have their own licenses');
});

t.test('lists each package of the license texts in the bill of materials', async (t) => {
  const text = (path: string): string =>
    readFileSync(join(project, 'node_modules/troupe/dist', path), 'utf8');
  const sbom = text('sbom.cdx.json');
  t.equal(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(sbom), null);
  const { components, dependencies } = JSON.parse(sbom);
  const listed = new Set<string>();
  for (const { group, name, version, licenses, purl } of components) {
    t.ok(licenses[0].license?.id ?? licenses[0].expression, purl);
    listed.add(`${group ? `${group}/` : ''}${name} ${version}`);
  }
  const notices = Array.from(
    text('LICENSES.txt').matchAll(/^(\S+ \d\S*) \(.+\)$/gm),
    ([, title = '']) => title,
  );
  t.strictSame([...listed].sort(), [...new Set(notices)].sort());
  t.ok(
    listed.has(
      `eventsource-parser ${notices.find((each) => each.startsWith('eventsource-parser '))?.split(' ')[1]}`,
    ),
  );
  t.equal(dependencies[0].dependsOn.length, components.length);
});

t.test('runs no script on install, and contains every entry', async (t) => {
  const file = join(project, 'node_modules/troupe/package.json');
  const { scripts, exports, dependencies } = JSON.parse(readFileSync(file, 'utf8'));
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) t.notOk(scripts[name], name);
  for (const version of Object.values(dependencies)) t.notMatch(version, /^(git|file|http|github)/);
  const targets = Object.values<string | Record<string, string>>(exports).flatMap((entry) =>
    typeof entry === 'string' ? entry : Object.values(entry),
  );
  const paths = new Set(packed.files.map(({ path }) => `./${path}`));
  t.strictSame(
    targets.filter((target) => !paths.has(target)),
    [],
  );
});

t.test('installs in a checkout without development packages', async (t) => {
  const script = join(folder, 'installed.mjs');
  cpSync(join(ROOT, '.build/installed.mjs'), script);
  t.match(await output(script), /^troupe: nothing is built, .* install what `npm pack` makes\n$/);
});

/** Packages that declarations may refer to: those of programs that use the package, and of pages. */
const SEEN = ['zod', 'node:stream', 'ai', '@ai-sdk/react'];

t.test('hides internals in declarations', async (t) => {
  const declarations = packed.files.filter(({ path }) => /^dist\/(src|shared).*\.d\.ts$/.test(path));
  t.ok(declarations.length > 2);
  for (const { path } of declarations) {
    const text = readFileSync(join(project, 'node_modules/troupe', path), 'utf8');
    const outside = Array.from(
      text.matchAll(/^(?:import|export) .* from "([^".][^"]*)"/gm),
      ([, name]) => name,
    );
    t.strictSame(
      outside.filter((name) => !SEEN.includes(name ?? '')),
      [],
      path,
    );
  }
});

t.test(
  'type-checks the programs and examples of the documentation with every module resolution',
  async (t) => {
    t.ok(programs.size >= 3);
    const [node16 = '', nodenext = '', bundler = ''] = addConfigurations(project);
    const tsc = (version: string): string => join(ROOT, 'node_modules', version, 'bin/tsc');
    const newest = withoutPackages(await output(tsc('typescript'), '-p', bundler, '--singleThreaded'));
    t.equal(newest, '', 'TypeScript 7');
    const child = bundled(join(ROOT, 'test/packed/child-types.ts'));
    t.equal(await output(child, nodenext, node16, bundler), '', 'TypeScript 5.9');
    const page = await output(tsc('typescript'), '-p', addPageConfiguration(project), '--singleThreaded');
    t.equal(page, '', 'the examples of React compile');
    if (!LONG) return;
    for (const version of ['typescript', 'typescript-5']) {
      for (const config of [node16, nodenext, bundler]) {
        t.equal(withoutPackages(await output(tsc(version), '-p', config)), '', `${version} ${config}`);
      }
    }
  },
);

t.test('troupe/ai-sdk imports only parts of the package', async (t) => {
  for (const file of ['index.js', 'index.d.ts']) {
    const text = readFileSync(join(project, 'node_modules/troupe/dist/src/ai-sdk', file), 'utf8');
    // Examples in comments import other packages.
    const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '');
    const imported = Array.from(code.matchAll(/\bfrom ?["']([^"']+)/g), ([, path = '']) => path);
    t.ok(imported.length > 0, file);
    t.strictSame(
      imported.filter((path) => !path.startsWith('.') && !path.startsWith('node:')),
      [],
      file,
    );
  }
});

t.test('runs the tool test of the manual', async (t) => {
  const [example = ''] = [...programs.values()].filter((text) => text.includes("from 'node:test'"));
  const file = join(project, 'tool.test.mjs');
  writeFileSync(file, (await transform(example, { loader: 'ts', target: 'node20.19' })).code);
  // Versions of Node differ in the output format for a file that runs outside `node --test`.
  t.match(await output(file), /^(#|ℹ) pass 1$/m);
});

const troupe = join(project, 'node_modules/.bin/troupe');

/** Runs the program that the command loads in this process, and returns its output on both streams. */
const sayHere = async (...args: string[]): Promise<string> => {
  const dist = join(project, 'node_modules/troupe/dist');
  const nameIn = (file: string, pattern: RegExp): string =>
    pattern.exec(readFileSync(join(dist, file), 'utf8'))?.[0] ?? '';
  const program = nameIn(nameIn('src/main.js', /main-\w+\.cjs/), /(?<=then\(.*)chunk-\w+\.cjs/);
  const { load } = await import(pathToFileURL(join(dist, 'load.js')).href);
  const { runProgram } = load(program).program_exports;
  const { output, errors } = await runHere(args, {}, runProgram);
  return output + errors;
};

const noBinary = HAS_BINARY ? {} : { skip: `uWebSockets.js has no ${BINARY}` };

t.test('prunes binaries of uWebSockets.js for other systems', noBinary, async (t) => {
  const server = join(project, 'node_modules/uWebSockets.js');
  const binaries = () => readdirSync(server).filter((name) => name.endsWith('.node'));
  const dry = await output(troupe, 'prune', '--dry-run');
  t.match(dry, /^would remove uws_plan9_x64_115\.node \(0\.0 MB\)$/m);
  t.match(dry, `would remove 2 files, 0.0 MB, of ${server}\n`);
  t.equal(binaries().length, 3);
  const sum = createHash('sha256')
    .update(readFileSync(join(server, BINARY)))
    .digest('hex');
  const removed = await sayHere('prune');
  t.match(removed, /^removed uws_plan9_arm64_137\.node/m);
  t.match(removed, `kept ${BINARY}, SHA-256 ${sum}\n`);
  t.strictSame(binaries(), [BINARY]);

  renameSync(join(server, BINARY), join(server, 'kept'));
  writeFileSync(join(server, 'uws_plan9_x64_115.node'), '');
  t.match(
    await sayHere('prune'),
    /^removed uws_plan9_x64_115\.node .*\n.*\nno binary for Node v\S+ on .*: the service uses node:http\n$/,
  );
  t.strictSame(binaries(), [], 'binaries are removed if none fits this Node');
  renameSync(join(server, 'kept'), join(server, BINARY));

  // A process caches the location of a package.
  renameSync(server, join(project, 'elsewhere'));
  symlinkSync(join(project, 'elsewhere'), server);
  t.match(
    await output(troupe, 'prune'),
    /^troupe: \S+elsewhere is not inside node_modules: only installed packages are pruned/,
  );
  unlinkSync(server);
  t.equal(await output(troupe, 'prune'), 'uWebSockets.js is not installed: nothing to remove\n');
  renameSync(join(project, 'elsewhere'), server);
});

t.test(
  'prints statecharts as text without elkjs, and names the missing package when an SVG is requested',
  async (t) => {
    t.match(await sayHere('machines', '--machine', 'run'), /^stateDiagram-v2/m);
    const svg = await sayHere('machines', '--machine', 'run', '--format', 'svg');
    t.equal(
      svg,
      'troupe: an SVG is laid out by the package elkjs, which is not installed: npm install elkjs\n',
    );
  },
);

t.test('starts a service with the installed command', async (t) => {
  const dev = runNode(t, [
    troupe,
    ...['dev', '--http-addr', '127.0.0.1:0', '--storage-dir', join(folder, 'data')],
  ]);
  const [, url = ''] = await dev.says(/API\s+(\S+)/);
  const health = await fetch(`${url}/health`);
  t.equal(health.status, 200);
  t.ok(readdirSync(join(folder, 'data')).length > 0);
});

t.test('installs alongside ai 7, type-checks, and streams a run with an approval', async (t) => {
  const reason = reasonToSkip();
  if (reason !== undefined) {
    t.pass(`skipped: ${reason}`);
    return;
  }
  const page = await installBesideNewerAi(folder, join(folder, packed.filename));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  t.equal(await output(tsc, '-p', addPageConfiguration(page), '--singleThreaded'), '');
  const config = join(project, 'troupe.config.mjs');
  cpSync(join(page, 'troupe.config.mjs'), config);
  const dev = runNode(t, [
    ...[troupe, 'dev', '--config', config, '--http-addr', '127.0.0.1:0'],
    ...['--storage-dir', join(folder, 'newer-ai-data')],
  ]);
  const [, url = ''] = await dev.says(/API\s+(\S+)/);
  t.match(JSON.parse(await output(join(page, 'page.mjs'), url)), {
    states: ['ready', 'submitted', 'streaming'],
    call: 'output-available',
    output: /rain in Rome/,
  });
});

testTutorial(t, { home: folder, tarball: join(folder, packed.filename) });
