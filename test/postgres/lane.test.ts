import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createConnector } from '../../src/postgres/connection.ts';
import { readDatabaseUrl } from '../../src/postgres/connection-options.ts';
import { createLane } from '../../src/postgres/lane.ts';

/** Connections that end, or never answer. */

const listen = async (t: Test, answer: (socket: Socket) => void) => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    // Without a reader, a socket never ends.
    socket.resume();
    answer(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  // A server that listens on a port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    lane: createLane(createConnector(readDatabaseUrl(`postgresql://u@127.0.0.1:${port}/d`))),
    sockets,
  };
};

const QUERY = { text: 'SELECT 1', values: [] };

t.test('a server that accepts and never answers is not waited for', async (t) => {
  const { lane, sockets } = await listen(t, () => {});
  await t.rejects(lane.query(QUERY, 100), { name: 'ConnectionLost', wasSent: false });
  const [socket] = sockets;
  if (socket && !socket.destroyed) await once(socket, 'close');
  t.equal(lane.pending, 0);
  await t.rejects(lane.query(QUERY, 100), { name: 'ConnectionLost' }, 'each statement tries again');
  t.equal(sockets.length, 2);
});

t.test('a server that ends the connection is reported at once', async (t) => {
  const { lane } = await listen(t, (socket) => socket.destroy());
  await t.rejects(lane.query(QUERY, 60_000), { name: 'ConnectionLost', wasSent: false });
});

t.test('a close ends an attempt to connect, and all that waits', async (t) => {
  const { lane, sockets } = await listen(t, () => lane.close());
  const both = await Promise.allSettled([lane.query(QUERY, 60_000), lane.query(QUERY, 60_000)]);
  for (const result of both) {
    t.match(result, { status: 'rejected', reason: { name: 'ConnectionLost', wasSent: false } });
  }
  t.equal(sockets.length, 1);
});

t.test('what is no answer of PostgreSQL ends the connection', async (t) => {
  const { lane } = await listen(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await t.rejects(lane.query(QUERY, 2000), { name: 'ConnectionLost' });
});
