import t from 'tap';
import { buildPrograms } from '../../.build/programs.ts';

/** What is bundled into the programs of the package. */

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
  t.strictSame(isFrom(/ajvProvider/), [], 'the MCP SDK has none of its own');
  t.strictSame(
    isFrom(/\/zod\/.*locales\/(?!index)/).map((path) => path.split('/').at(-1)),
    ['en.js'],
  );
  t.strictSame(isFrom(/\/zod\/v3\//), []);
  t.end();
});

t.test('leaves gRPC to the installations that use it', (t) => {
  t.strictSame(isFrom(/@grpc|protobufjs|otlp-grpc/), []);
  t.end();
});

t.test('imports only types of the AI SDK, whose packages a program brings itself', (t) => {
  const sources = Object.entries(inputs).filter(([path]) => path.startsWith('src/ai-sdk/'));
  t.ok(sources.length > 5);
  const packages = sources.flatMap(([, { imports }]) =>
    imports.flatMap(({ path }) => PACKAGE.exec(path)?.[1] ?? []),
  );
  t.strictSame([...new Set(packages)], ['zod']);
  t.end();
});

/** Outputs that are loaded together with these sources. Dynamic imports load theirs later. */
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
    const [path] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source) ?? [];
    if (path === undefined) throw new Error(`no output has the entry point ${source}`);
    load(path);
  }
  return [...loaded];
};

const atStart = loadedWith('src/main.ts', 'src/commands/program.ts', 'src/commands/serve.ts', 'src/app.ts');

/** Of configurations that use a provider, a protocol's client, an exporter, a proxy, or a TypeScript file. */
const LATER =
  /^(?:ai|@ai-sdk\/(?!provider$).*|@modelcontextprotocol\/.*|@opentelemetry\/(?!api$).*|undici|ws|jiti|jose|ajv|protobufjs|recheck|elkjs)$/;

t.test('loads at a start no package that only some configurations use', (t) => {
  const packages = new Set(
    atStart.flatMap((path) =>
      Object.entries(outputs[path]?.inputs ?? {}).flatMap(([input, { bytesInOutput }]) =>
        bytesInOutput > 0 && PACKAGE.test(input) ? nameOf(input) : [],
      ),
    ),
  );
  t.ok(packages.has('zod'), 'the packages of a start are found');
  t.strictSame(
    [...packages].filter((name) => LATER.test(name)),
    [],
  );
  t.end();
});

t.test('loads at a start neither HTTPS nor TLS of Node', (t) => {
  const imported = atStart.flatMap((path) => outputs[path]?.imports ?? []);
  t.ok(imported.some(({ path, external }) => external && path === 'node:fs'));
  t.strictSame(
    imported.filter(
      ({ path, kind }) => kind !== 'dynamic-import' && /^(?:node:)?(?:https|tls|http2)$/.test(path),
    ),
    [],
  );
  t.end();
});
