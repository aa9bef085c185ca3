import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import t from 'tap';
import { underPath } from '../../src/index.ts';
import { clientOf, startTroupe } from './troupe.ts';

/** The service mounted in another server, over real sockets of that server. */

t.test('streams runs through the server of another framework, and detects disconnects', async (t) => {
  const troupe = await startTroupe(t, { app: { listen: false } });
  const app = new Hono();
  app.get('/own', (context) => context.text('own'));
  app.mount('/agents', troupe.app.fetch);
  const below = underPath('/api/v2/', troupe.app.fetch);
  app.all('/api/*', (context) => below(context.req.raw));
  const server = createServer(getRequestListener(app.fetch));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const messages = [{ role: 'user', content: 'Hello' }];

  t.equal(await (await fetch(`${origin}/own`)).text(), 'own');
  for (const base of ['/agents', '/api/v2']) {
    const client = clientOf(() => origin + base);
    const events = await client.runToEnd({ agentId: 'echo', messages });
    t.match(events.at(-1), { event_type: 'run_finish' }, base);
    t.match(await client.call('GET', '/v1/runs'), { status: 200, body: { total: Number } });
    t.match(await client.call('GET', '/v1/nothing'), {
      status: 404,
      body: { error: 'no such path: /v1/nothing' },
    });
    t.match(await client.post('/v1/runs', { agentId: 1 }), { status: 422 });
    t.match(await client.call('GET', '/v1/config/agents'), { status: 401 });
    t.match(await client.admin('GET', '/v1/config/agents'), { status: 200 });

    const held = await client.run({ agentId: 'slow', messages });
    await held.until('text_delta');
    await held.close();
    troupe.models.releaseAll();
  }
  const other = await fetch(`${origin}/api/v3/v1/runs`);
  t.equal(other.status, 404);
  t.strictSame(await other.json(), { error: 'no such path: /api/v3/v1/runs' });
});
