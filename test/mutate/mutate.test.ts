import type { Metafile } from 'esbuild';
import t from 'tap';
import { mutantsOf } from './mutants.ts';
import { nearestTests } from './nearest.ts';
import { fateOf } from './play.ts';

t.test('applies every rule that matches a node, and mutates no types', async (t) => {
  const changes = (text: string, file = 'src/a.ts'): string[] =>
    mutantsOf(file, text).map(({ text }) => text);
  t.strictSame(changes('if (a === b) c();'), [
    'if (true) c();',
    'if (false) c();',
    'if (a !== b) c();',
    'if (a === b) ;',
  ]);
  t.strictSame(changes('const x: 1 | true = y ?? !z;'), [
    'const x: 1 | true = !z;',
    'const x: 1 | true = y ?? z;',
  ]);
  t.strictSame(changes('const x = 4;'), ['const x = 5;']);
  t.strictSame(changes('const x = { 401: y };'), ['const x = { 402: y };']);
  t.strictSame(changes('const x = all.some(f) && n <= m;'), [
    'const x = all.every(f) && n <= m;',
    'const x = all.some(f) || n <= m;',
    'const x = all.some(f) && n < m;',
  ]);
  t.strictSame(changes('const x = a.toString();'), []);
  t.strictSame(changes('log.warn(1 as const);'), ['log.warn(2 as const);']);
  t.strictSame(changes('const x = { guard: g, other: h };', 'machines/a.ts'), ['const x = {  other: h };']);
});

t.test('reports the line of a change', async (t) => {
  t.match(mutantsOf('src/a.ts', 'const a = b;\n\n  c();\n'), [
    { line: 3, name: 'c(); is dropped', was: 'c();' },
  ]);
});

const graphOf = (graph: Record<string, string[]>): Metafile => ({
  inputs: Object.fromEntries(
    Object.entries(graph).map(([file, imports]) => [
      file,
      { bytes: 0, imports: imports.map((path) => ({ path, kind: 'import-statement' })) },
    ]),
  ),
  outputs: {},
});

t.test('ranks tests by the number of imports to the file, also through cycles', async (t) => {
  const graph = graphOf({
    'src/store/a.ts': ['src/store/b.ts'],
    'src/store/b.ts': ['src/store/a.ts'],
    'src/app.ts': ['src/store/b.ts'],
    'test/service/x.test.ts': ['src/app.ts'],
    'test/store/b.test.ts': ['src/store/b.ts'],
    'test/ids.test.ts': [],
  });
  t.strictSame(nearestTests('src/store/a.ts', graph), {
    files: ['test/store/b.test.ts', 'test/service/x.test.ts'],
    inProgram: false,
  });
});

t.test('ranks tests with a similar name first among tests that start the whole service', async (t) => {
  const tests = ['cards', 'chat/previews', 'inputs', 'chat/runs', 'runs'];
  const graph = graphOf({
    'src/app.ts': ['src/routes/chat/runs.ts', 'src/routes/runs.ts', 'src/routes/run.ts'],
    ...Object.fromEntries(tests.map((name) => [`test/service/${name}.test.ts`, ['src/app.ts']])),
  });
  const nearest = (file: string): string[] =>
    nearestTests(file, graph).files.map((test) => test.replace(/test\/service\/|\.test\.ts/g, ''));
  t.strictSame(nearest('src/routes/runs.ts'), ['chat/runs', 'runs', 'cards', 'chat/previews', 'inputs']);
  t.strictSame(nearest('src/routes/run.ts').slice(0, 2), ['chat/runs', 'runs']);
  t.strictSame(nearest('src/routes/chat/runs.ts').slice(0, 1), ['chat/runs']);
});

t.test('selects tests that start the program for files that no test imports', async (t) => {
  const graph = graphOf({
    'src/main.ts': ['src/commands/backup.ts', 'src/app.ts'],
    'test/e2e/line.test.ts': ['test/e2e/built.ts'],
    'test/docs/all.test.ts': ['test/e2e/built.ts'],
    'test/service/x.test.ts': ['src/app.ts'],
  });
  t.strictSame(nearestTests('src/commands/backup.ts', graph), {
    files: ['test/e2e/line.test.ts'],
    inProgram: true,
  });
  t.strictSame(nearestTests('src/app.ts', graph), { files: ['test/service/x.test.ts'], inProgram: false });
});

t.test('does not count a change as detected when a file ran out of time', async (t) => {
  const passed = { file: 'a.test.ts', ok: true };
  const failed = { file: 'b.test.ts', ok: false };
  const late = { ...failed, broken: 'did not end within 5 s', late: true };
  t.strictSame(fateOf([passed]), { kind: 'survived' });
  t.match(fateOf([passed, failed]), { kind: 'killed', file: 'b.test.ts' });
  t.match(fateOf([passed, { ...failed, broken: 'its process ended' }]), { kind: 'killed' });
  t.match(fateOf([passed, late]), { kind: 'ran out of time', file: 'b.test.ts', broken: late.broken });
});
