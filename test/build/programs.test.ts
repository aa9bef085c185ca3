import t from 'tap';
import { buildPrograms } from '../../.build/programs.ts';

/** What is bundled into the programs of the package. */

const { outputs } = await buildPrograms({ write: false });

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
