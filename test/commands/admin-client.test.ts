import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { z } from 'zod';
import { connectAdmin } from '../../src/commands/admin-client.ts';
import { Invalid } from '../../src/schema/outcome.ts';

t.test('repeats a POST once under the same key when its connection is lost', async (t) => {
  const keys: unknown[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    keys.push(request.headers['idempotency-key']);
    if (keys.length === 1) request.socket.destroy();
    else response.writeHead(status).end('{"error":"no"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const client = connectAdmin({ url: `http://127.0.0.1:${port}`, token: 'x' });
  const create = () => client.ask('POST', ['v1', 'keys'], { body: {}, schema: z.unknown() });
  await create();
  t.equal(keys.length, 2);
  t.match(keys[0], /^[0-9a-f-]{36}$/);
  t.equal(keys[1], keys[0]);
  await create();
  t.not(keys[2], keys[0]);
  status = 400;
  await t.rejects(create(), Invalid);
  t.equal(keys.length, 4, 'a refused request is not repeated');
  status = 200;
  await client.ask('GET', ['v1', 'keys'], { schema: z.unknown() });
  t.equal(keys[4], undefined);
});
