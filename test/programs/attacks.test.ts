import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createConnectionBudget } from '../../src/http/connection-budget.ts';
import { admit } from '../../src/programs/admission.ts';
import { LIMITS } from '../../src/programs/limits.ts';
import { when } from '../http/serve.ts';
import { listen } from './listen.ts';
import { connectPeer, type Peer } from './peer.ts';
import { testOnEach } from './servers.ts';

/** Clients that open many connections, leave handshakes incomplete, or send frames that violate the protocol. */

const began = (sessionId: string) =>
  JSON.stringify({ type: '@xstate.actor', sessionId, name: sessionId, snapshot: { status: 'active' } });

type Raw = { socket: Socket; received(): string; closed: Promise<void> };

const open = new WeakMap<Test, Set<Socket>>();

/** With one teardown for all connections of a test: tap calls teardowns recursively. */
const destroyAfter = (t: Test, socket: Socket): void => {
  const sockets = open.get(t) ?? new Set();
  if (!open.has(t)) {
    open.set(t, sockets);
    t.teardown(() => {
      for (const each of sockets) each.destroy();
    });
  }
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
};

/** A connection that has sent these bytes and nothing else. */
const send = async (t: Test, url: string, bytes: string): Promise<Raw> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  destroyAfter(t, socket);
  let received = '';
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  const closed = new Promise<void>((resolve) => {
    socket.once('end', () => socket.end());
    socket.once('close', () => resolve());
  });
  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), closed]);
  socket.write(bytes);
  return { socket, received: () => received, closed };
};

const HANDSHAKE = [
  'GET /p HTTP/1.1',
  'Host: 127.0.0.1',
  'Upgrade: websocket',
  'Connection: keep-alive, Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

/** @param changes of lines, by their prefix; an empty line is removed */
const handshake = (changes: Record<string, string> = {}, more: readonly string[] = []): string => {
  const lines = HANDSHAKE.map((line) => {
    const [, change] = Object.entries(changes).find(([name]) => line.startsWith(name)) ?? [];
    return change ?? line;
  });
  return [...lines.filter((line) => line !== ''), ...more, '', ''].join('\r\n');
};

testOnEach(t, 'rejects a request that is not a handshake of version 13', async (t, server) => {
  const listening = await listen(t, server);
  const plain: [string, string][] = [
    ['no key', handshake({ 'Sec-WebSocket-Key': '' })],
    ['a short key', handshake({ 'Sec-WebSocket-Key': 'Sec-WebSocket-Key: AAAA' })],
    ['a key that is not base64', handshake({ 'Sec-WebSocket-Key': `Sec-WebSocket-Key: ${'*'.repeat(24)}` })],
    ['another upgrade', handshake({ Upgrade: 'Upgrade: h2c' })],
    ['no upgrade', handshake({ Upgrade: '' })],
    ['no upgrade in the connection', handshake({ Connection: 'Connection: keep-alive' })],
    ['another method', handshake({ GET: 'POST /p HTTP/1.1' }, ['Content-Length: 0'])],
    ['a plain request', 'GET /v1/system HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
  ];
  for (const [name, bytes] of plain) {
    const client = await send(t, listening.url, bytes);
    await client.closed;
    t.match(client.received(), /^HTTP\/1\.1 426 Upgrade Required\r\n/, name);
    t.match(client.received(), /\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n/i, name);
    t.match(client.received(), /\r\n\r\nprograms of XState report here, over a WebSocket\n$/, name);
  }
  for (const version of ['Sec-WebSocket-Version: 12', 'Sec-WebSocket-Version: 8', '']) {
    const client = await send(t, listening.url, handshake({ 'Sec-WebSocket-Version': version }));
    await client.closed;
    t.match(client.received(), /^HTTP\/1\.1 426 .*\r\nsec-websocket-version: 13\r\n/is, version);
    t.match(client.received(), /version 13 of the WebSocket protocol only\n$/, version);
  }
  t.equal(listening.all().length, 0);
  await listening.until(() => listening.open() === 0, 'every connection is closed');
});

testOnEach(t, 'disconnects after a head that parsers may interpret in two ways', async (t, server) => {
  const listening = await listen(t, server);
  const behind = handshake();
  const doubtful = [
    handshake({}, ['Host: other']),
    handshake({}, ['Content-Length: 0', `Content-Length: ${behind.length}`]) + behind,
    handshake({}, ['Content-Length: +2']),
    handshake({}, ['Content-Length: 2', 'Transfer-Encoding: chunked']),
    handshake({}, ['Transfer-Encoding: gzip']),
    `GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${behind}`,
  ];
  for (const bytes of doubtful) {
    const client = await send(t, listening.url, bytes);
    await client.closed;
    t.notMatch(client.received(), /HTTP\/1\.1 (?:1|2|426)/, bytes);
  }
  t.equal(listening.all().length, 0);
});

// uWebSockets.js reads on to the end of the packet, and applies the same rules to the rest of it.
t.test('executes nothing after a rejected request, on node:http', async (t) => {
  const listening = await listen(t, 'node');
  for (const refused of [
    'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    handshake({ Host: 'Host: evil.example' }),
    handshake({}, ['Origin: https://evil.example']),
  ]) {
    const client = await send(t, listening.url, refused + handshake());
    await client.closed;
    t.equal(client.received().match(/HTTP\/1\.1/g)?.length, 1);
  }
  t.equal(listening.all().length, 0);
});

testOnEach(t, 'decodes the name in the path', async (t, server) => {
  const listening = await listen(t, server);
  for (const path of ['/caf%C3%A9', '/a%2Fb', '/%E0%A4%A', '/name?token=x', '/', '/x?']) {
    const client = await send(t, listening.url, handshake({ GET: `GET ${path} HTTP/1.1` }));
    await listening.until(() => client.received().includes('101'), `${path} is admitted`);
  }
  t.strictSame(
    listening.all().map(({ name }) => name),
    ['café', 'a/b', '%E0%A4%A', 'name', '', 'x'],
  );
});

testOnEach(
  t,
  'closes connections beyond the budget and serves again once others are closed',
  async (t, server) => {
    const reported: number[] = [];
    const budget = createConnectionBudget(LIMITS.connections, (most) => reported.push(most));
    const listening = await listen(t, server, budget);
    const idle: Raw[] = [];
    for (let count = 0; count < LIMITS.connections; count += 1) idle.push(await send(t, listening.url, 'G'));
    await listening.until(() => listening.open() === LIMITS.connections, 'all are counted');
    const beyond: Raw[] = [];
    for (let count = 0; count < 2 * LIMITS.connections; count += 1)
      beyond.push(await send(t, listening.url, handshake()));
    for (const client of beyond) {
      await client.closed;
      t.equal(client.received(), '');
    }
    t.strictSame(reported, [LIMITS.connections]);
    for (const { socket } of idle) socket.destroy();
    await listening.until(() => listening.open() === 0, 'none is open');
    const peer = await connectPeer(t, listening.url);
    t.match(peer.head, 'HTTP/1.1 101');
    t.equal(listening.open(), 1, 'the WebSocket is counted');
    peer.socket.destroy();
    await listening.until(() => listening.open() === 0, 'a closed WebSocket is not counted');
  },
);

testOnEach(t, 'stays open to programs during 1,000 short connections', async (t, server) => {
  const budget = createConnectionBudget(LIMITS.connections, () => {});
  const listening = await listen(t, server, budget);
  const peer = await connectPeer(t, listening.url);
  for (let round = 0; round < 10; round += 1) {
    const clients = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        send(t, listening.url, n % 3 === 0 ? handshake({ Host: 'Host: evil.example' }) : ''),
      ),
    );
    for (const [n, { socket }] of clients.entries()) {
      if (n % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
    }
  }
  await listening.until(() => listening.open() === 1, 'only the program is connected');
  peer.send(began('d'));
  await listening.until(() => listening.all()[0]?.actors.size === 1, 'the program reports');
  t.match((await connectPeer(t, listening.url)).head, 'HTTP/1.1 101');
  t.equal(listening.all().length, 2);
});

testOnEach(t, 'disconnects clients that do not complete a handshake', async (t, server) => {
  const listening = await listen(t, server);
  const silent = await send(t, listening.url, '');
  const half = await send(t, listening.url, handshake().slice(0, 80));
  const slow = await send(t, listening.url, 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ');
  const trickle = setInterval(() => slow.socket.write('x'), 300);
  t.teardown(() => clearInterval(trickle));
  const left = await send(t, listening.url, handshake().slice(0, 80));
  left.socket.end();
  const peer = await connectPeer(t, listening.url);
  await Promise.all([silent.closed, half.closed, slow.closed, left.closed]);
  t.notMatch([silent, half, slow, left].map(({ received }) => received()).join(''), 'HTTP/1.1 101');
  await listening.until(() => listening.open() === 1, 'the program is still connected');
  peer.send(began('d'));
  await listening.until(() => listening.all()[0]?.actors.size === 1, 'the program reports');
});

/** The head of a frame: masked with zeros unless `mask` is false. */
const frameHead = (first: number, size: number, mask = true): Buffer => {
  const head = Buffer.alloc(mask ? 14 : 10);
  head[0] = first;
  head[1] = 127 | (mask ? 0x80 : 0);
  head.writeBigUInt64BE(BigInt(size), 2);
  return head;
};

const TEXT = 0x81;
const FIRST_PART = 0x01;
const PART = 0x00;

testOnEach(t, 'disconnects after frames that are too long or violate the protocol', async (t, server) => {
  const listening = await listen(t, server);
  const mebibyte = Buffer.alloc(1024 * 1024, 'x');
  const parts = (peer: Peer): void => {
    for (let n = 0; n * mebibyte.length <= LIMITS.cutBytes; n += 1) {
      peer.socket.write(frameHead(n === 0 ? FIRST_PART : PART, mebibyte.length));
      peer.socket.write(mebibyte);
    }
  };
  const attacks: [string, (peer: Peer) => void][] = [
    ['announces too long a frame', ({ socket }) => socket.write(frameHead(TEXT, LIMITS.cutBytes + 1))],
    ['announces a frame of 2^62 bytes', ({ socket }) => socket.write(frameHead(TEXT, 2 ** 62))],
    ['sends a message of parts without end', parts],
    ['sends reserved bits', ({ socket }) => socket.write(frameHead(TEXT | 0x40, 5))],
    ['sends an unknown opcode', ({ socket }) => socket.write(frameHead(0x8b, 5))],
    [
      'continues no message',
      ({ socket }) => socket.write(Buffer.concat([frameHead(0x80, 1), Buffer.from('x')])),
    ],
    ['sends a long ping', ({ send }) => send('x'.repeat(126), 9)],
    [
      'sends text that is not UTF-8',
      ({ socket }) => socket.write(Buffer.from([TEXT, 0x82, 0, 0, 0, 0, 0xc3, 0x28])),
    ],
  ];
  for (const [name, attack] of attacks) {
    listening.pause();
    const peer = await connectPeer(t, listening.url);
    peer.send(began('d'));
    attack(peer);
    await peer.closed;
    await listening.until(() => listening.all().every(({ isConnected }) => !isConnected), name);
    const last = listening.all().at(-1);
    t.strictSame([last?.refused, last?.actors.size], [0, 0], name);
  }
  await listening.until(() => listening.open() === 0, 'every connection is closed');
});

testOnEach(t, 'ignores an actor in a frame without a mask', async (t, server) => {
  const listening = await listen(t, server);
  const peer = await connectPeer(t, listening.url);
  const text = began('unmasked');
  peer.socket.write(Buffer.concat([frameHead(TEXT, text.length, false), Buffer.from(text)]));
  peer.socket.end();
  await peer.closed;
  await listening.until(() => listening.all()[0]?.isConnected === false, 'the connection is closed');
  t.equal(listening.programs.serial, 0);
});

testOnEach(t, 'answers a close frame and a half-closed connection', async (t, server) => {
  const listening = await listen(t, server);
  const polite = await connectPeer(t, listening.url);
  const bytes: Buffer[] = [];
  polite.socket.on('data', (chunk: Buffer) => bytes.push(chunk));
  polite.send('', 8);
  await listening.until(() => listening.all()[0]?.isConnected === false, 'the program is gone');
  t.equal(Buffer.concat(bytes)[0], 0x88, 'a close frame');
  const half = await connectPeer(t, listening.url);
  half.send(began('d'));
  half.socket.end();
  await half.closed;
  await listening.until(() => listening.open() === 0, 'every connection is closed');
});

const PINGS = 300_000;

testOnEach(t, 'drops pongs that a client does not read', async (t, server) => {
  const listening = await listen(t, server);
  const peer = await connectPeer(t, listening.url);
  peer.socket.pause();
  const payload = Buffer.alloc(125, 'p');
  const ping = Buffer.concat([Buffer.from([0x89, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
  const batch = Buffer.concat(Array.from({ length: 1000 }, () => ping));
  for (let sent = 0; sent < PINGS; sent += 1000) {
    if (!peer.socket.write(batch)) await once(peer.socket, 'drain');
  }
  peer.send(began('d'));
  await listening.until(() => listening.all()[0]?.actors.size === 1, 'the message behind the pings is read');
  let received = 0;
  peer.socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  peer.socket.resume();
  peer.socket.end();
  await peer.closed;
  t.ok(received > 64 * 1024, 'the server sent pongs');
  t.ok(received < (PINGS * 127) / 2, `pongs are dropped (got ${received} bytes)`);
});

testOnEach(t, 'answers each ping of a client that reads', async (t, server) => {
  const listening = await listen(t, server);
  const peer = await connectPeer(t, listening.url);
  let received = 0;
  peer.socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  const ping = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
  peer.socket.write(Buffer.concat(Array.from({ length: 1000 }, () => ping)));
  await listening.until(() => received === 2000, 'each ping has its pong');
});

const descriptors = (): number => readdirSync('/proc/self/fd').length;

const noProc = process.platform === 'linux' ? undefined : 'there is no /proc';

testOnEach(t, 'closes every connection, and leaves no descriptor open', async (t, server) => {
  const before = noProc === undefined ? descriptors() : 0;
  for (let round = 0; round < 3; round += 1) {
    const listening = await listen(t, server);
    const peer = await connectPeer(t, listening.url);
    const half = await send(t, listening.url, handshake().slice(0, 80));
    const idle = await send(t, listening.url, '');
    await listening.until(() => listening.open() === 3, 'all are connected');
    listening.close();
    half.socket.write(handshake().slice(80));
    await Promise.all([peer.closed, half.closed, idle.closed]);
    await listening.until(() => listening.all().every(({ isConnected }) => !isConnected), 'all are closed');
    t.equal(half.received(), '', 'an incomplete handshake is closed without a response');
    const late = await send(t, listening.url, handshake());
    await late.closed;
    t.equal(late.received(), '', 'the closed port returns nothing');
  }
  if (noProc === undefined) await when(() => descriptors() <= before + 1);
});

testOnEach(t, 'rejects an address that is in use', async (t, server) => {
  const listening = await listen(t, server);
  const port = Number(new URL(listening.url).port);
  await t.rejects(listen(t, server, undefined, { host: '127.0.0.1', port }), {
    name: 'Unavailable',
    message: `cannot listen on 127.0.0.1:${port}: the address is in use: choose another port, or 0 for any free one`,
  });
  await t.rejects(listen(t, server, undefined, { host: '192.0.2.1', port: 0 }), {
    message: 'cannot listen on 192.0.2.1:0: the address does not belong to this host',
  });
  listening.close();
  await listen(t, server, undefined, { host: '127.0.0.1', port });
});

t.test('rejects a handshake that arrives while the listener closes', async (t) => {
  const fields: Record<string, string> = {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-version': '13',
  };
  const request = {
    getMethod: () => 'get',
    getUrl: () => '/',
    getQuery: () => undefined,
    getHeader: (name: string) => fields[name] ?? '',
    forEach() {},
  };
  t.match(admit(undefined, request, '127.0.0.1'), {
    status: '503 Service Unavailable',
    text: 'the service stops\n',
  });
});
