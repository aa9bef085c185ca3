import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';
import t from 'tap';
import { buildPrograms } from '../../.build/programs.ts';
import { ROOT } from '../../.build/sources.ts';

/** The contents of the bundled programs of the package. */

const { inputs, outputs } = await buildPrograms({ write: false });

const bundled = new Set(
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? path : [])),
  ),
);

const PACKAGE = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)/;

const folders = [...new Set([...bundled].flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))];

const nameOf = (folder: string): string => PACKAGE.exec(folder)?.[1] ?? folder;

const isFrom = (pattern: RegExp): string[] => [...bundled].filter((path) => pattern.test(path));

t.test('bundles one version of each package', (t) => {
  t.ok(folders.length > 20);
  const copies = folders.filter((folder) =>
    folders.some((other) => other !== folder && nameOf(other) === nameOf(folder)),
  );
  t.strictSame(copies, []);
  t.end();
});

t.test('bundles one JSON Schema validator, one locale and one API of zod', (t) => {
  t.ok(isFrom(/\/ajv\//).length > 0);
  t.strictSame(isFrom(/ajvProvider/), [], 'the MCP SDK does not bundle another validator');
  t.strictSame(
    isFrom(/\/zod\/.*locales\/(?!index)/).map((path) => path.split('/').at(-1)),
    ['en.js'],
  );
  t.strictSame(isFrom(/\/zod\/v3\//), []);
  t.end();
});

t.test('bundles no threads of the log', (t) => {
  t.ok(isFrom(/\/pino\//).length > 0);
  t.strictSame(isFrom(/thread-stream/), []);
  t.end();
});

t.test('does not bundle gRPC', (t) => {
  t.strictSame(isFrom(/@grpc|protobufjs|otlp-grpc/), []);
  t.end();
});

t.test('imports only types of the AI SDK, whose packages are installed by the program', (t) => {
  const sources = Object.entries(inputs).filter(([path]) => path.startsWith('src/ai-sdk/'));
  t.ok(sources.length > 5);
  const packages = sources.flatMap(([, { imports }]) =>
    imports.flatMap((path) => PACKAGE.exec(path)?.[1] ?? []),
  );
  t.strictSame([...new Set(packages)], ['zod']);
  t.end();
});

/** Outputs loaded together with these sources. Dynamic imports load theirs later. */
const loadedWith = (...sources: string[]): string[] => {
  const loaded = new Set<string>();
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { path: next, kind, external } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && !external) load(next);
    }
  };
  for (const source of sources) {
    const [path] = Object.entries(outputs).find(([, { inputs }]) => source in inputs) ?? [];
    if (path === undefined) throw new Error(`no output contains ${source}`);
    load(path);
  }
  return [...loaded];
};

const modulesOf = (paths: readonly string[]): string[] =>
  paths.flatMap((path) =>
    Object.entries(outputs[path]?.inputs ?? {}).flatMap(([input, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [input] : [],
    ),
  );

const atStart = loadedWith('src/main.ts', 'src/commands/program.ts', 'src/commands/serve.ts', 'src/app.ts');

/**
 * Packages of configurations that use a provider, a client of a protocol, an exporter, a proxy, a TypeScript file, or a
 * settings file.
 */
const LATER =
  /^(?:ai|@ai-sdk\/(?!provider$).*|@modelcontextprotocol\/.*|@opentelemetry\/(?!api$).*|undici|ws|yaml|jiti|jose|ajv|protobufjs|recheck|elkjs|re2js|image-size)$/;

t.test('loads no package at startup that only some configurations use', (t) => {
  const packages = new Set(modulesOf(atStart).flatMap((input) => (PACKAGE.test(input) ? nameOf(input) : [])));
  t.ok(packages.has('zod'), 'the search finds packages that the startup loads');
  t.strictSame(
    [...packages].filter((name) => LATER.test(name)),
    [],
  );
  t.end();
});

t.test('loads no module of the transport or of a wire format at startup', (t) => {
  const modules = modulesOf(atStart);
  t.ok(modules.includes('src/models/adapters.ts'), 'the search finds modules that the startup loads');
  t.strictSame(
    modules.filter((path) => /^src\/models\/(?:transport|wire)\//.test(path)),
    [],
  );
  t.end();
});

/** Health checks, and texts that the server needs before the routes. */
const FIRST_ROUTES = ['src/routes/about.ts', 'src/routes/health.ts', 'src/routes/openai/front-end-user.ts'];

t.test('loads routes other than health checks once the service listens', (t) => {
  const routes = modulesOf(atStart).filter((path) => path.startsWith('src/routes/'));
  const chats = ['src/routes/chat/resumed.ts', 'src/routes/parameters.ts', 'src/routes/replay.ts'];
  t.strictSame(routes.sort(), [...FIRST_ROUTES, ...chats].sort());
  const later = modulesOf(loadedWith('src/composition/surface.ts'));
  t.ok(later.includes('src/routes/threads.ts'), 'the search finds the other routes');
  t.end();
});

t.test('loads neither HTTPS nor TLS of Node at startup', (t) => {
  const imported = atStart.flatMap((path) => outputs[path]?.imports ?? []);
  t.ok(imported.some(({ path, external }) => external && path === 'node:fs'));
  const isLater = (path: string): boolean => /^(?:node:)?(?:https|tls|http2)$/.test(path);
  t.strictSame(
    imported.filter(({ path, kind }) => kind !== 'dynamic-import' && isLater(path)),
    [],
  );
  // CommonJS packages require them.
  const requiring = modulesOf(atStart).filter((path) => inputs[path]?.imports.some(isLater));
  t.strictSame(requiring, []);
  t.end();
});

t.test('loads nothing of a cluster without a database', (t) => {
  const ofCluster = /^src\/(?:cluster|postgres)\/|(?:^|\/)node_modules\/pg(?:-[a-z]+)?\//;
  t.strictSame(
    modulesOf(atStart).filter((path) => ofCluster.test(path)),
    [],
  );
  const members = modulesOf(loadedWith('src/composition/member.ts'));
  t.ok(members.includes('src/cluster/front.ts') && members.includes('src/postgres/database.ts'));
  t.end();
});

t.test('loads no module of Node at startup that a start does not need', (t) => {
  const later = /^node:(?:child_process|cluster|dns|http|readline|zlib)$/;
  const imported = atStart.flatMap((path) => outputs[path]?.imports ?? []);
  t.strictSame(
    imported.filter(({ path, kind }) => kind !== 'dynamic-import' && later.test(path)),
    [],
  );
  t.end();
});

t.test('leaves no import() in the code that the loader evaluates', (t) => {
  const paths = Object.keys(outputs).filter((path) => path.endsWith('.cjs'));
  t.ok(paths.length > 10);
  const importing = paths.filter((path) => {
    const { program } = parseSync(path, readFileSync(join(ROOT, path), 'utf8'));
    let found = false;
    new Visitor({
      ImportExpression() {
        found = true;
      },
    }).visit(program);
    return found;
  });
  t.strictSame(importing, []);
  t.end();
});

t.test('writes programs in ASCII', (t) => {
  const paths = Object.keys(outputs);
  t.ok(paths.length > 10);
  const others = paths.filter((path) => /[^\0-\x7f]/.test(readFileSync(join(ROOT, path), 'utf8')));
  t.strictSame(others, []);
  t.end();
});

t.test('starts with few files, and loads no part of the service for its statecharts', (t) => {
  const all = loadedWith('src/main.ts', 'src/commands/program.ts', 'src/commands/dev.ts', 'src/app.ts');
  t.ok(all.length < 10, `a start reads ${all.length} outputs`);
  const machines = modulesOf(loadedWith('machines/index.ts'));
  t.ok(machines.includes('machines/run.ts'));
  t.strictSame(
    machines.filter((path) => /^src\/|node_modules\//.test(path)),
    [],
  );
  const help = modulesOf(loadedWith('src/main.ts', 'src/commands/program.ts'));
  t.notOk(help.includes('src/app.ts'), 'the help of a command loads no service');
  t.end();
});

/** Code that only some requests need is imported by them. */
const MOST_BYTES_AT_START = 2_900_000;

t.test('limits the code that a start reads', (t) => {
  const sizes = atStart.flatMap((path) => Object.values(outputs[path]?.inputs ?? {}));
  const bytes = sizes.reduce((sum, { bytesInOutput }) => sum + bytesInOutput, 0);
  t.ok(bytes > 1_000_000, 'the search finds the code');
  t.ok(bytes < MOST_BYTES_AT_START, `a start reads ${bytes} bytes`);
  t.end();
});
