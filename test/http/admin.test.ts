import t from 'tap';
import { z } from 'zod';
import { route } from '../../src/http/route.ts';
import type { RequestHead, ScopeSurface } from '../../src/identity/scope.ts';
import { ADMIN_TOKEN, errorOf, get, serve, wire } from './serve.ts';

let handled = 0;

const base = { summary: 'test', responses: { 200: z.json() } } as const;

const routes = [
  route.post('/admin', {
    id: 'postAdmin',
    ...base,
    needs: 'observe',
    body: z.object({ a: z.string() }),
    query: z.object({ n: z.literal('1').optional() }),
    handle: ({ scope }) => {
      handled += 1;
      return { scope };
    },
  }),
  route.get('/admin', { id: 'getAdmin', ...base, needs: 'observe', handle: ({ scope }) => ({ scope }) }),
  route.get('/runs', {
    id: 'getRuns',
    ...base,
    needs: 'invoke',
    handle: ({ scope }) => ({ scope }),
  }),
  route.get('/open', { id: 'getOpen', ...base, needs: 'nothing', handle: ({ scope }) => ({ scope }) }),
];

const SCHEME = 'Authorization header must use Bearer authentication';
const WRONG = 'invalid admin bearer token';

t.test('returns 401 with a specific message for every bearer failure', async (t) => {
  const { port } = await serve(t, routes);
  const table: [string, string[], string][] = [
    ['no header', [], 'admin authentication required'],
    [
      'two headers, one of them right',
      [`Authorization: Bearer ${ADMIN_TOKEN}`, 'Authorization: Bearer x'],
      'multiple Authorization headers are not allowed',
    ],
    [
      'two right headers',
      [`Authorization: Bearer ${ADMIN_TOKEN}`, `authorization: Bearer ${ADMIN_TOKEN}`],
      'multiple Authorization headers are not allowed',
    ],
    ['not ASCII', ['Authorization: Bearer \u00fcx'], 'invalid Authorization header'],
    ['another scheme', ['Authorization: Basic x'], SCHEME],
    ['no token', ['Authorization: Bearer'], SCHEME],
    ['an empty header', ['Authorization:'], SCHEME],
    ['a TAB', [`Authorization: Bearer\t${ADMIN_TOKEN}`], SCHEME],
    ['no space', [`Authorization: Bearer${ADMIN_TOKEN}`], SCHEME],
    ['another token', ['Authorization: Bearer wrong'], WRONG],
    ['two spaces', [`Authorization: Bearer  ${ADMIN_TOKEN}`], WRONG],
    ['more than the token', [`Authorization: Bearer ${ADMIN_TOKEN} extra`], WRONG],
    ['the beginning of the token', [`Authorization: Bearer ${ADMIN_TOKEN.slice(0, -1)}`], WRONG],
  ];
  for (const [name, headers, error] of table) {
    const client = wire(t, port, Buffer.from(get('/admin', ...headers)));
    const text = await client.until(JSON.stringify({ error }));
    t.match(text, /^HTTP\/1\.1 401 /, name);
    t.notMatch(text, ADMIN_TOKEN, name);
  }
});

t.test('accepts the scheme in any case and trims white space around the value', async (t) => {
  const { port } = await serve(t, routes);
  for (const value of [`bearer ${ADMIN_TOKEN}`, `BEARER ${ADMIN_TOKEN}`, `  Bearer ${ADMIN_TOKEN} \t`]) {
    t.match(
      await wire(t, port, get('/admin', `Authorization: ${value}`)).until('default'),
      /^HTTP\/1\.1 200 /,
      value,
    );
  }
});

t.test('rejects every request without a configured token', async (t) => {
  const { url } = await serve(t, routes, { adminToken: undefined });
  const response = await fetch(`${url}/admin`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  t.equal(response.status, 401);
  t.strictSame(await response.json(), { error: 'admin authentication is not configured' });
});

t.test('checks the token before the content type, the body and the query', async (t) => {
  const { url } = await serve(t, routes);
  const send = (authorization: string) =>
    fetch(`${url}/admin?n=2`, { method: 'POST', body: '{', headers: { authorization } });
  handled = 0;
  t.equal((await send('Bearer wrong')).status, 401);
  t.equal((await send(`Bearer ${ADMIN_TOKEN}`)).status, 415);
  t.equal(handled, 0);
});

t.test('passes surface and head to the scope provider and uses its scope', async (t) => {
  const asked: { surface: ScopeSurface; head: RequestHead; tenant: string | undefined }[] = [];
  const { url } = await serve(t, routes, {
    resolveScope: (surface, head) => {
      asked.push({ surface, head, tenant: head.header('X-Tenant') });
      return `scope-of-${surface}`;
    },
  });
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'x-tenant': 'acme' };
  t.strictSame(await (await fetch(`${url}/admin?scope_id=other`, { headers })).json(), {
    scope: 'scope-of-admin',
  });
  t.strictSame(await (await fetch(`${url}/runs`)).json(), { scope: 'scope-of-agent_invoke' });
  t.strictSame(await (await fetch(`${url}/open`)).json(), { scope: '' });
  t.match(asked, [
    { surface: 'admin', head: { method: 'GET', path: '/admin' }, tenant: 'acme' },
    { surface: 'agent_invoke', head: { method: 'GET', path: '/runs' }, tenant: undefined },
  ]);
  t.equal(asked.length, 2);
});

t.test('does not call the scope provider with a wrong bearer', async (t) => {
  const { url } = await serve(t, routes, {
    resolveScope: () => {
      throw new Error('asked');
    },
  });
  t.strictSame(await (await fetch(`${url}/admin`)).json(), { error: 'admin authentication required' });
});

t.test('returns 401 with the reason if the provider fails or returns an invalid scope', async (t) => {
  let scope = (): string | Promise<string> => '';
  const { url } = await serve(t, routes, { resolveScope: () => scope() });
  const table: [() => string | Promise<string>, RegExp][] = [
    [
      () => {
        throw new Error('unknown tenant');
      },
      /^scope resolution failed: unknown tenant$/,
    ],
    [() => Promise.reject(new Error('no answer')), /^scope resolution failed: no answer$/],
    [() => '  ', /^scope resolution failed: .*blank/],
    [async () => '', /^scope resolution failed: .*blank/],
    [() => 'é'.repeat(257), /^scope resolution failed: .*512 bytes/],
    [() => 'a\u0000b', /^scope resolution failed: .*control/],
  ];
  for (const [provider, error] of table) {
    scope = provider;
    const response = await fetch(`${url}/runs`);
    t.equal(response.status, 401);
    t.match(await errorOf(response), error);
  }
  scope = () => 'é'.repeat(256);
  t.equal((await fetch(`${url}/runs`)).status, 200);
});
