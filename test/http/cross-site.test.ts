import t from 'tap';
import { z } from 'zod';
import { reply, route } from '../../src/http/route.ts';
import { adminIn } from '../../src/schema/principal.ts';
import { ADMIN_TOKEN, ORIGIN, type ServeOptions, serve, wire } from './serve.ts';

/** Requests that a page of another site triggers in a browser are rejected before they are executed. */

let executed = 0;
const handle = () => {
  executed += 1;
  return reply(204);
};
const spec = (id: string) => ({ id, summary: 'a change', responses: { 204: 'done' }, handle }) as const;

const routes = [
  route.post('/open', { ...spec('postOpen'), needs: 'nothing' }),
  route.post('/run', { ...spec('postRun'), needs: 'invoke' }),
  route.put('/run', { ...spec('putRun'), needs: 'invoke', body: z.unknown() }),
  route.delete('/run', { ...spec('deleteRun'), needs: 'invoke' }),
  route.get('/run', { ...spec('getRun'), needs: 'invoke' }),
  route.post('/admin', { ...spec('postAdmin'), needs: 'observe' }),
];

type Served = Awaited<ReturnType<typeof serve>>;

const sender =
  (t: Parameters<typeof serve>[0], { port }: Served) =>
  async (method: string, path: string, ...headers: string[]): Promise<number> => {
    const { length } = headers.filter((header) => /^host:/i.test(header));
    const lines = [...(length === 0 ? [`Host: localhost:${port}`] : []), ...headers];
    const client = wire(t, port, [`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
    return Number(/HTTP\/1\.1 (\d+)/.exec(await client.until('\r\n\r\n'))?.[1]);
  };

const start = async (t: Parameters<typeof serve>[0], options: ServeOptions = {}) => {
  const served = await serve(t, routes, options);
  executed = 0;
  return { ...served, send: sender(t, served) };
};

const EVIL = 'Origin: https://evil.example';

t.test('rejects a cross-site change without executing it', async (t) => {
  const { send, port } = await start(t);
  for (const headers of [
    [EVIL],
    [EVIL, 'Sec-Fetch-Site: cross-site'],
    ['Sec-Fetch-Site: cross-site'],
    ['Origin: null'],
    ['Origin: null', 'Sec-Fetch-Site: cross-site'],
    [`Origin: http://localhost:${port + 1}`],
    [`Origin: http://localhost:${port + 1}`, 'Sec-Fetch-Site: same-site'],
    [`Origin: https://localhost.evil.example:${port}`],
    [`Origin: http://localhost:${port}`, 'Sec-Fetch-Site: cross-site'],
    ['Origin: file://'],
    ['Origin: chrome-extension://abcdefgh'],
    ['Origin: http://localhost:99999'],
  ]) {
    for (const path of ['/open', '/run', '/admin']) {
      t.equal(await send('POST', path, ...headers), 403, `${path} ${headers}`);
    }
    t.equal(await send('DELETE', '/run', ...headers), 403, `DELETE ${headers}`);
    const body = ['Content-Type: application/json', 'Content-Length: 0'];
    t.equal(await send('PUT', '/run', ...headers, ...body), 403, `PUT ${headers}`);
  }
  t.equal(executed, 0);
});

t.test('explains in the error how to allow the origin', async (t) => {
  const { url } = await start(t);
  const response = await fetch(`${url}/run`, {
    method: 'POST',
    headers: { origin: 'https://evil.example' },
  });
  t.match(await response.json(), {
    error: /pages of 'https:\/\/evil\.example' send.*AdminApiConfig\.cors_allowed_origins/,
  });
});

t.test('accepts same-origin pages, allowed origins and clients other than browsers', async (t) => {
  const { send, port } = await start(t);
  for (const headers of [
    [],
    [`Origin: http://localhost:${port}`],
    [`Origin: http://localhost:${port}`, 'Sec-Fetch-Site: same-origin'],
    ['Origin: https://agents.example', 'Sec-Fetch-Site: same-origin'],
    ['Sec-Fetch-Site: none'],
    [`Origin: ${ORIGIN}`],
    [`Origin: ${ORIGIN}`, 'Sec-Fetch-Site: cross-site'],
    ['Origin: https://agents.example', 'Host: agents.example'],
    ['Origin: https://agents.example', 'Host: agents.example:443'],
    ['Origin: http://[::1]:8080', 'Host: [::1]:8080'],
    ['Origin: https://agents.example', 'X-Forwarded-Host: agents.example'],
  ]) {
    t.equal(await send('POST', '/run', ...headers), 204, String(headers));
  }
  t.equal(
    await send('GET', '/run', EVIL, 'Sec-Fetch-Site: cross-site'),
    204,
    'requests that change nothing are accepted',
  );
});

t.test('trusts a forwarded host only from a trusted proxy', async (t) => {
  const { send } = await start(t, { settings: { trusted_proxies: [] } });
  t.equal(await send('POST', '/run', EVIL, 'X-Forwarded-Host: evil.example'), 403);
});

t.test('treats the public address of the service as same-origin', async (t) => {
  const { send } = await start(t, { publicHost: 'agents.example' });
  t.equal(await send('POST', '/run', 'Origin: https://agents.example'), 204);
});

t.test('accepts a valid admin token as proof, and rejects a wrong one', async (t) => {
  const { send } = await start(t);
  t.equal(await send('POST', '/admin', EVIL, `Authorization: Bearer ${ADMIN_TOKEN}`), 204);
  t.equal(await send('POST', '/admin', EVIL, 'Authorization: Bearer wrong'), 401);
});

t.test('allows pages of this host on any port with `loopback`', async (t) => {
  const { send } = await start(t, { settings: { cors_allowed_origins: ['loopback'] } });
  t.equal(await send('POST', '/run', 'Origin: http://localhost:5173', 'Sec-Fetch-Site: same-site'), 204);
  t.equal(await send('POST', '/run', EVIL), 403);
});

t.test('rejects cross-site requests without a socket, but not those of the embedding program', async (t) => {
  const { server } = await start(t);
  const request = () =>
    new Request('http://agents.example/run', {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
    });
  t.equal((await server.fetch(request(), { from: 'stranger' })).status, 403);
  t.equal((await server.fetch(request(), { from: 'program', principal: adminIn('default') })).status, 204);
});
