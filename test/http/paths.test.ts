import t from 'tap';
import { createPaths } from '../../src/http/paths.ts';

const paths = createPaths([
  ...[
    '/',
    '/things',
    '/things/summary',
    '/things/:id',
    '/things/:id/parts/:part',
    '/tree/*',
    '/tree/known/:id',
    '/free/tasks',
    '/free/:tenant/tasks/:id/parts',
    '/free/tasks/:id',
  ].map((path) => ({ path, endpoints: new Set(['GET']) })),
  { path: '/things/:id:stop', endpoints: new Set(['POST']) },
  { path: '/free/tasks/:id:stop', endpoints: new Set(['POST']) },
  { path: '/free/*', endpoints: new Set(), lenient: true as const },
]);

const found = (path: string, method = 'GET') => {
  const { entry, values } = paths.find(path, method) ?? {};
  return [entry?.path, ...(values ?? [])];
};

t.test('matches the most specific declared path', async (t) => {
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

t.test('decodes a parameter, or keeps it if that is impossible', async (t) => {
  t.strictSame(found('/things/a%2Fb'), ['/things/:id', 'a/b']);
  t.strictSame(found('/things/%zz'), ['/things/:id', '%zz']);
  t.strictSame(found('/things/:id'), ['/things/:id', ':id']);
});

t.test('matches an action after the last colon for its methods', async (t) => {
  const table: [string, ...(string | undefined)[]][] = [
    ['/things/1:stop', '/things/:id:stop', '1'],
    ['/things/a:b%20:stop', '/things/:id:stop', 'a:b '],
    ['/things/:stop', '/things/:id:stop', ''],
    ['/things/1:go', '/things/:id', '1:go'],
    ['/things/stop', '/things/:id', 'stop'],
    ['/things/1:stop/', undefined],
    ['/free/tasks/1:stop/', '/free/tasks/:id:stop', '1'],
    ['/free/tasks/1:stop/x', '/free/*'],
  ];
  for (const [path, ...expected] of table) t.strictSame(found(path, 'POST'), expected, path);
  t.strictSame(found('/things/1:stop', 'GET'), ['/things/:id', '1:stop']);
});

t.test('ignores extra slashes and decodes literals below a lenient path', async (t) => {
  const table: [string, ...(string | undefined)[]][] = [
    ['/free//tasks///1/', '/free/tasks/:id', '1'],
    ['/free/%74asks/1', '/free/tasks/:id', '1'],
    ['/free/t/tasks/1/parts//', '/free/:tenant/tasks/:id/parts', 't', '1'],
    ['/free/tasks/tasks/1/parts', '/free/:tenant/tasks/:id/parts', 'tasks', '1'],
    ['/free/tasks/1/2/3', '/free/*'],
    ['/free//', '/free/*'],
    ['//free/tasks', undefined],
  ];
  for (const [path, ...expected] of table) t.strictSame(found(path), expected, path);
});
