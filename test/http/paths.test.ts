import t from 'tap';
import { createPaths } from '../../src/http/paths.ts';

const paths = createPaths(
  [
    '/',
    '/things',
    '/things/summary',
    '/things/:id',
    '/things/:id/parts/:part',
    '/tree/*',
    '/tree/known/:id',
  ].map((path) => ({ path })),
);

const found = (path: string) => {
  const { entry, values } = paths.find(path) ?? {};
  return [entry?.path, ...(values ?? [])];
};

t.test('a path is the declared one that says it most closely', async (t) => {
  const table: [string, ...(string | undefined)[]][] = [
    ['/', '/'],
    ['/things', '/things'],
    ['/things/summary', '/things/summary'],
    ['/things/1', '/things/:id', '1'],
    ['/things/summary/parts/2', '/things/:id/parts/:part', 'summary', '2'],
    ['/tree/a/b/c', '/tree/*'],
    ['/tree/known', '/tree/*'],
    ['/tree/known/1', '/tree/known/:id', '1'],
    ['/tree/known/1/2', '/tree/*'],
    ['/tree/', '/tree/*'],
    ['/tree', undefined],
    ['/things/', undefined],
    ['/things//parts/2', undefined],
    ['/things/1/parts', undefined],
    ['/Things', undefined],
    ['/%74hings', undefined],
    ['//things', undefined],
    ['', undefined],
    ['*', undefined],
    ['/__proto__', undefined],
  ];
  for (const [path, ...expected] of table) t.strictSame(found(path), expected, path);
});

t.test('a parameter is decoded, and stands for itself where that is not possible', async (t) => {
  t.strictSame(found('/things/a%2Fb'), ['/things/:id', 'a/b']);
  t.strictSame(found('/things/%zz'), ['/things/:id', '%zz']);
  t.strictSame(found('/things/:id'), ['/things/:id', ':id']);
});
