import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createPrincipal } from '../../src/schema/principal.ts';
import { ADMIN_TOKEN, startTroupe, type TroupeOptions } from './troupe.ts';

/** Requests without a credential, and the admin token, on every surface (identity.md 3.1, 3.2). */

type Headers = Readonly<Record<string, string | readonly string[]>>;

type Sent = { status: number; body: Record<string, unknown>; header(name: string): string | undefined };

/** Sends these headers unmodified, `Host` included. */
const send = (
  url: string,
  path: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Headers; body?: object } = {},
): Promise<Sent> =>
  new Promise((resolve, reject) => {
    const text = body && JSON.stringify(body);
    const sent = request(
      url + path,
      { method, headers: { ...headers, ...(text && { 'content-type': 'application/json' }) } },
      (response) => {
        let read = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          read += chunk;
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: read.startsWith('{') ? JSON.parse(read) : { text: read },
            header: (name) => response.headers[name]?.toString(),
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });

const RUN = { agentId: 'echo', messages: [{ role: 'user', content: 'Hello' }] };

const started = async (t: Test, settings: TroupeOptions['settings'] = {}, app: TroupeOptions['app'] = {}) => {
  // A test may start several services.
  const dir = mkdtempSync(join(tmpdir(), 'troupe-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const { url } = await startTroupe(t, { settings: { storage_dir: join(dir, 'data'), ...settings }, app });
  return {
    url,
    get: (path: string, headers: Headers = {}) => send(url, path, { headers }),
    run: (headers: Headers = {}) => send(url, '/v1/runs', { method: 'POST', headers, body: RUN }),
  };
};

t.test('accepts requests of this host without a credential (checks 1, 4)', async (t) => {
  const { url, get, run } = await started(t);
  t.equal((await run()).status, 200);
  t.equal((await get('/metrics')).status, 200);
  const { port } = new URL(url);
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
    t.equal((await get('/v1/threads', { host })).status, 200, host);
  }
  const document = (await get('/openapi.json')).body as {
    paths: Record<string, { get?: { security?: object[] } }>;
  };
  t.same(document.paths['/v1/threads']?.get?.security, [
    {},
    { adminBearer: [] },
    { bearer: [] },
    { session: [] },
  ]);
});

for (const [header, value] of [
  ['x-forwarded-for', '127.0.0.1'],
  ['x-forwarded-for', '203.0.113.7'],
  ['x-forwarded-proto', 'http'],
  ['x-real-ip', '127.0.0.1'],
  ['forwarded', 'for=127.0.0.1'],
  ['via', '1.1 proxy'],
  ['x-forwarded-for', ''],
  ['x-forwarded-for', ['', '203.0.113.7']],
  ['x-forwarded-client-cert', 'Hash=1'],
] as const) {
  t.test(
    `requires a credential of a request with ${header}: ${JSON.stringify(value)}, which a proxy sent (check 4)`,
    async (t) => {
      const { get, run } = await started(t);
      const refused = await run({ [header]: value });
      t.equal(refused.status, 401);
      t.same(refused.body, { error: 'authentication required' });
      t.equal(refused.header('www-authenticate'), 'Bearer');
      t.equal((await get('/metrics', { [header]: value })).status, 401);
      const authorization = `Bearer ${ADMIN_TOKEN}`;
      t.equal((await get('/v1/threads', { [header]: value, authorization })).status, 200);
    },
  );
}

t.test(
  '`never` and an outside public URL require a credential on all but the open paths (check 6)',
  async (t) => {
    for (const settings of [
      { identity: { anonymous: 'never' } },
      { public_url: 'https://agents.example' },
    ] as const) {
      const { get, run } = await started(t, settings);
      t.same((await run()).body, { error: 'authentication required' });
      for (const path of ['/metrics', '/v1/threads', '/v1/a2a/tasks', '/v1/ai-sdk/threads/t/messages']) {
        t.equal((await get(path)).status, 401, path);
      }
      for (const path of ['/health', '/openapi.json', '/.well-known/agent-card.json']) {
        t.equal((await get(path)).status, 200, path);
      }
      const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
      t.equal((await run(admin)).status, 200, 'the admin token invokes agents too');
      t.equal((await get('/metrics', admin)).status, 200);
      const document = (await get('/openapi.json')).body as { paths: Record<string, { get?: object }> };
      t.match(document.paths['/v1/threads']?.get, {
        security: [{ adminBearer: [] }, { bearer: [] }],
        'x-grants': ['read'],
      });
    }
    const { run } = await started(t, {
      public_url: 'https://agents.example',
      identity: { anonymous: 'loopback' },
    });
    t.equal((await run()).status, 200, 'a given setting is kept');
  },
);

t.test('a service on all addresses is closed unless the setting opens it (check 2)', async (t) => {
  const on = (anonymous?: 'always') =>
    started(t, { http_addr: '0.0.0.0:0', ...(anonymous && { identity: { anonymous } }) });
  const closed = await on();
  const here = closed.url.replace('0.0.0.0', '127.0.0.1');
  t.same((await send(here, '/v1/threads')).body, { error: 'authentication required' });
  t.equal((await send(here, '/health')).status, 200);
  t.equal((await send(here, '/metrics')).status, 401);
  const open = (await on('always')).url.replace('0.0.0.0', '127.0.0.1');
  t.equal((await send(open, '/v1/threads')).status, 200);
  t.match((await send(open, '/metrics')).body.text, /^service_anonymous_access 1$/m);
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const isOpen = async (url: string) => (await send(url, '/v1/system/info', { headers })).body.open_to_all;
  t.equal(await isOpen(open), true, 'the console shows it');
  t.equal(await isOpen(here), false);
});

t.test('ignores a credential that a proxy may have added, where none is needed (check 8)', async (t) => {
  const open = await started(t);
  const closed = await started(t, { identity: { anonymous: 'never' } });
  for (const authorization of ['Basic x', 'Bearer nope', 'Bearer']) {
    t.equal((await open.run({ authorization })).status, 200, authorization);
    const refused = await closed.run({ authorization });
    t.equal(refused.status, 401);
    t.same(refused.body, { error: 'invalid credential' });
  }
});

t.test('judges the form of the header on every surface', async (t) => {
  const { url } = await started(t);
  const two = await fetch(`${url}/v1/threads`, {
    headers: [
      ['authorization', 'Bearer a'],
      ['authorization', 'Bearer b'],
    ],
  });
  t.ok([200, 401].includes(two.status), 'a client may join the lines');
  const response = await send(url, '/v1/threads', { headers: { authorization: 'Bearer \u00c3\u00bcx' } });
  t.same([response.status, response.body], [401, { error: 'invalid Authorization header' }]);
});

t.test('a short admin token cannot be tried freely where credentials are ignored', async (t) => {
  const { run } = await started(t, { AdminApiConfig: { bearer_token: 'short' } });
  const statuses: number[] = [];
  for (let at = 0; at < 25; at += 1)
    statuses.push((await run({ authorization: `Bearer wrong-${at}` })).status);
  t.equal(statuses[0], 200);
  t.equal(statuses.at(-1), 429);
  t.equal((await run()).status, 200, 'requests without a credential are unaffected');
});

t.test(
  'a page of another site cannot act, even with a header that authenticates nothing (check 5)',
  async (t) => {
    const { run } = await started(t);
    const pages: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example', authorization: 'Bearer nope' },
    ];
    for (const headers of pages) {
      const refused = await run(headers);
      t.equal(refused.status, 403, JSON.stringify(headers));
      t.match(refused.body, { code: 'cross_site' });
    }
    const authorization = `Bearer ${ADMIN_TOKEN}`;
    t.equal(
      (await run({ origin: 'https://evil.example', authorization })).status,
      200,
      'a browser adds no token itself',
    );
  },
);

type Described = { security?: object[]; 'x-grants'?: string[] };

/** All operations, whether requests without a credential may use them. Parameters of paths have a value. */
const operationsOf = async (url: string) => {
  const { paths } = (await send(url, '/openapi.json')).body as {
    paths: Record<string, Record<string, Described>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security = [] }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'x'),
      isOpen: security.length === 0,
      isAnonymous: security.some((each) => Object.keys(each).length === 0),
    })),
  );
};

const PAGES_ELSEWHERE: Record<string, string>[] = [
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { 'sec-fetch-site': 'cross-site' },
];

t.test('a page of another site can use no operation that changes state (check 5)', async (t) => {
  const { url, get } = await started(t, { identity: { anonymous: 'always' } });
  const changes = (await operationsOf(url)).filter(({ method, isOpen }) => method !== 'GET' && !isOpen);
  t.ok(changes.length > 60, `${changes.length} operations`);
  for (const { method, path, isAnonymous } of changes) {
    for (const page of PAGES_ELSEWHERE) {
      // No request has a body.
      const headers = { ...page, 'a2a-version': '1.0' };
      const { status, body } = await send(url, path, { method, headers });
      const name = `${method} ${path} of ${JSON.stringify(page)}`;
      t.equal(status, isAnonymous || status === 403 ? 403 : 401, name);
      if (status === 403)
        t.match(JSON.stringify(body), /cross_site|requests that pages of|Origin header/i, name);
    }
  }
  t.match((await get('/v1/threads')).body, { total: 0 }, 'nothing was created');
});

t.test('no operation of the admin API is anonymous, whatever the setting (check 9)', async (t) => {
  for (const anonymous of ['loopback', 'always', 'never'] as const) {
    // Without the setting, the extended card is answered with 501.
    const a2a_extended_card_bearer_token = 'token-of-the-extended-card';
    const { url } = await started(t, { identity: { anonymous }, a2a_extended_card_bearer_token });
    const closed = (await operationsOf(url)).filter(({ isOpen, isAnonymous }) => !isOpen && !isAnonymous);
    t.ok(closed.length > 60, `${closed.length} operations`);
    for (const { method, path } of closed) {
      // That of an unknown agent does not exist for any credential.
      if (path === '/v1/a2a/x/extendedAgentCard') continue;
      const { status } = await send(url, path, { method, headers: { 'a2a-version': '1.0' } });
      t.equal(status, 401, `${method} ${path} with ${anonymous}`);
    }
  }
});

t.test(
  'the principal of a program is used, its refusal is a 401, and without one the credential is judged (check 7)',
  async (t) => {
    const alice = createPrincipal({ scope: 'acme', user: 'alice', grants: ['invoke:echo'] });
    for (const later of [false, true]) {
      const { get, run } = await started(
        t,
        {},
        {
          authenticate({ header }) {
            const user = header('x-session');
            if (user === 'broken') throw new Error('the session store is down');
            const found = user === 'alice' ? alice : undefined;
            return later ? Promise.resolve(found) : found;
          },
        },
      );
      t.equal((await run({ 'x-session': 'alice' })).status, 200);
      t.match((await get('/v1/threads', { 'x-session': 'alice' })).body, { total: 1 });
      t.same((await get('/v1/threads')).body, { error: 'authentication required' });
      t.match(
        (await get('/v1/threads', { authorization: `Bearer ${ADMIN_TOKEN}` })).body,
        { total: 0 },
        'another scope',
      );
      const refused = await get('/v1/threads', { 'x-session': 'broken' });
      t.same(
        [refused.status, refused.body],
        [401, { error: 'authentication failed: the session store is down' }],
      );
      const forbidden = await get('/v1/system/info', { 'x-session': 'alice' });
      t.same(
        [forbidden.status, forbidden.body],
        [403, { error: 'this needs the grant observe', code: 'forbidden', needs: ['observe'] }],
      );
    }
  },
);

t.test('a principal of a program has a user that can be stored', async (t) => {
  for (const user of ['', ' ', '~admin', 'a\u0000b', 'x'.repeat(257)]) {
    t.throws(() => createPrincipal({ scope: 'acme', user, grants: [] }), { name: 'Invalid' }, user);
  }
});

t.test('every route checks its grant before its body (check 58)', async (t) => {
  const { url } = await started(
    t,
    {},
    {
      authenticate: ({ header }) =>
        createPrincipal({
          scope: 'acme',
          user: 'u',
          grants: (header('x-grants') ?? '').split(' ').filter(Boolean),
        }),
    },
  );
  const cases: [method: string, path: string, grants: string, needs: string | undefined][] = [
    ['GET', '/v1/config/agents', 'observe', undefined],
    ['GET', '/v1/config/agents', 'configure:models', undefined],
    ['GET', '/v1/config/agents', 'operator', 'observe'],
    ['PUT', '/v1/config/agents/x', 'observe', 'configure:agents'],
    ['PUT', '/v1/config/agents/x', 'configure:models', 'configure:agents'],
    ['PUT', '/v1/config/mcp-servers/x', 'configure', 'configure:mcp-servers'],
    ['PATCH', '/v1/config/tools/x/overrides', 'configure:agents', 'configure:tools'],
    ['PATCH', '/v1/config/agents/x/overrides', 'configure:tools', 'configure:agents'],
    ['POST', '/v1/mcp-servers/x/restart', 'configure:*', 'configure:mcp-servers'],
    ['POST', '/v1/eval/runs', 'observe', 'evaluate'],
    ['PUT', '/v1/admin/assistant/config', 'configure', 'admin'],
    ['GET', '/v1/runs/summary', 'read:all', undefined],
    ['GET', '/v1/runs/summary', 'read:own', 'observe'],
    ['POST', '/v1/runs', 'viewer', 'invoke'],
    ['GET', '/v1/threads', 'keys', 'read'],
    ['POST', '/v1/threads/t/decision', 'keys', 'decide'],
    ['GET', '/v1/a2a/tasks', 'keys', undefined],
  ];
  for (const [method, path, grants, needs] of cases) {
    const { status, body } = await send(url, path, {
      method,
      headers: {
        'x-grants': grants,
        'a2a-version': '1.0',
        ...(method !== 'GET' && { 'content-type': 'text/plain' }),
      },
    });
    if (needs !== undefined)
      t.match([status, body], [403, { needs: [needs] }], `${method} ${path} with ${grants}`);
    else if (path.startsWith('/v1/a2a'))
      t.match([status, body], [403, { error: { status: 'PERMISSION_DENIED' } }]);
    else t.equal(status, 200, `${method} ${path} with ${grants}`);
  }
});

t.test('the agent card of a closed service asks for a bearer token', async (t) => {
  const bearer = { httpAuthSecurityScheme: { scheme: 'Bearer' } };
  const token = 'token-of-the-extended-card';
  const { get } = await started(t, {
    identity: { anonymous: 'never' },
    a2a_extended_card_bearer_token: token,
  });
  const { body } = await get('/.well-known/agent-card.json');
  t.same(body.securitySchemes, { bearer, extendedCardBearer: bearer });
  t.same(body.securityRequirements, [{ schemes: { bearer: { list: [] } } }]);
  const headers = { 'a2a-version': '1.0', authorization: `Bearer ${token}` };
  t.equal(
    (await get('/v1/a2a/extendedAgentCard', headers)).status,
    200,
    'the extended card accepts its token',
  );
  t.equal((await get('/v1/a2a/tasks', headers)).status, 401, 'other routes reject it');
  const open = await (await started(t)).get('/.well-known/agent-card.json');
  t.notOk('securitySchemes' in open.body);
});
