import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { mock } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ask, chunked, HEAD, openTransport, response, startRawServer } from './open.ts';

const ANSWER = response(['data: {"finish":1}\n\n', 'data: [DONE]\n\n']);
const answer = (socket: Socket): void => void socket.write(ANSWER);

const CANCELLED = { name: 'ModelError', class: 'cancelled' };
const PROVIDER = { name: 'ModelError', class: 'provider' };

/** Sockets report a change within the next event-loop ticks. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await nextTick();
};

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await nextTick();
};

t.test('keeps an idle connection open for the configured time', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const { url, connections, sockets } = await startRawServer(t, answer);
  const transport = openTransport(t, { keepAliveSeconds: 300 });
  for (let turn = 0; turn < 3; turn += 1) {
    await ask(transport, url);
    await settle();
    mock.timers.tick(299_999);
    await settle();
  }
  t.equal(connections(), 1);
  mock.timers.tick(1);
  await until(() => sockets.size === 0);
  await ask(transport, url);
  t.equal(connections(), 2);
});

t.test('closes an idle connection before the server does', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const hint = ANSWER.toString().replace('content-type', 'keep-alive: timeout=5\r\ncontent-type');
  const { url, connections, sockets } = await startRawServer(t, (socket) => void socket.write(hint));
  const transport = openTransport(t);
  await ask(transport, url);
  await settle();
  mock.timers.tick(2999);
  await ask(transport, url);
  await settle();
  t.equal(connections(), 1);
  mock.timers.tick(3000);
  await until(() => sockets.size === 0);
});

t.test('repeats a request once if the server closes its idle connection', async (t) => {
  const { url, connections } = await startRawServer(t, (socket, nth) => {
    if (nth === 1) socket.write(ANSWER);
    else socket.destroy();
  });
  const transport = openTransport(t);
  await ask(transport, url);
  await settle();
  t.match(await ask(transport, url), { end: 'complete' });
  t.equal(connections(), 2);
});

t.test('repeats a request at most once, and never after the first byte of the response', async (t) => {
  let requests = 0;
  const { url } = await startRawServer(t, (socket) => {
    requests += 1;
    if (requests === 1) socket.write(ANSWER);
    else socket.destroy();
  });
  const transport = openTransport(t);
  await ask(transport, url);
  await settle();
  await t.rejects(ask(transport, url), { class: 'provider', message: /Cannot connect to API/ });
  t.equal(requests, 3);

  let seen = 0;
  const begun = await startRawServer(t, (socket) => {
    seen += 1;
    if (seen === 1) socket.write(ANSWER);
    else socket.end('H');
  });
  await ask(transport, begun.url);
  await settle();
  await t.rejects(ask(transport, begun.url), PROVIDER);
  t.equal(seen, 2);
});

t.test('does not repeat a request whose new connection is closed', async (t) => {
  const { url, connections } = await startRawServer(t, (socket) => void socket.destroy());
  await t.rejects(ask(openTransport(t), url), PROVIDER);
  t.equal(connections(), 1);
});

t.test('completes 1,000 concurrent requests over a bounded number of connections', async (t) => {
  const { url, connections } = await startRawServer(t, (socket) => {
    socket.write(HEAD);
    setImmediate(() => socket.write(ANSWER.subarray(HEAD.length)));
  });
  const transport = openTransport(t, { connections: 50 });
  const answers = await Promise.all(Array.from({ length: 1000 }, () => ask(transport, url)));
  t.ok(answers.every(({ end, seen }) => end === 'complete' && seen.length === 2));
  t.ok(connections() <= 50, `${connections()} connections`);
});

t.test('counts the wait for a connection against the timeout of a request', async (t) => {
  const { url } = await startRawServer(t, () => {});
  const transport = openTransport(t, { connections: 1 });
  const first = ask(transport, url, { seconds: 2 });
  const second = ask(transport, url, { seconds: 1 });
  await t.rejects(second, { class: 'timeout', message: 'timeout: inference timeout after 1s' });
  await t.rejects(first, { class: 'timeout', message: 'timeout: inference timeout after 2s' });
});

t.test('drains an unread response, or closes its connection', async (t) => {
  const requestsOfOne = async (bytes: number): Promise<number> => {
    let most = 0;
    const { url } = await startRawServer(t, (socket, nth) => {
      most = Math.max(most, nth);
      socket.write(ANSWER.subarray(0, -5));
      socket.write(chunked(Buffer.alloc(bytes, ' ')));
      socket.write('0\r\n\r\n');
    });
    const transport = openTransport(t);
    for (let turn = 0; turn < 2; turn += 1) {
      t.match(await ask(transport, url), { end: 'complete' });
      await settle();
    }
    return most;
  };
  t.equal(await requestsOfOne(1000), 2);
  t.equal(await requestsOfOne(1_000_000), 1);
});

t.test('closes a body that stays open after the end of the completion', async (t) => {
  const { url, sockets } = await startRawServer(t, (socket) => void socket.write(ANSWER.subarray(0, -5)));
  t.match(await ask(openTransport(t), url), { end: 'complete' });
  await until(() => sockets.size === 0);
});

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

t.test('a cancel ends a request in each of its phases and leaves neither socket nor timer', async (t) => {
  const PHASES = ['', 'HTTP/1.1 200', HEAD, HEAD + chunked('data: 1\n\ndata: {').toString()];
  for (const bytes of PHASES) {
    const before = timers();
    const abort = new AbortController();
    let calls = 0;
    const { url, sockets } = await startRawServer(t, (socket) => {
      socket.write(bytes);
      setTimeout(() => {
        abort.abort();
        const heard = calls;
        socket.write(chunked('data: 2\n\n'));
        socket.on('close', () => t.equal(calls, heard));
      }, 20);
    });
    const event = (): boolean => {
      calls += 1;
      return false;
    };
    const asked = ask(openTransport(t), url, { signal: abort.signal, reader: { event } });
    await t.rejects(asked, CANCELLED);
    await until(() => sockets.size === 0);
    t.equal(timers(), before, JSON.stringify(bytes));
  }
  const { url, connections } = await startRawServer(t, answer);
  await t.rejects(ask(openTransport(t), url, { signal: AbortSignal.abort() }), CANCELLED);
  t.equal(connections(), 0);
});

t.test('a cancelled request that waits for a connection leaves the connection to others', async (t) => {
  let first: Socket | undefined;
  const { url, connections } = await startRawServer(t, (socket, nth) => {
    if (nth === 1) first = socket;
    else answer(socket);
  });
  const transport = openTransport(t, { connections: 1 });
  const open = ask(transport, url);
  await until(() => first !== undefined);
  const abort = new AbortController();
  const waiting = ask(transport, url, { signal: abort.signal });
  const last = ask(transport, url);
  await settle();
  abort.abort();
  await t.rejects(waiting, CANCELLED);
  if (first) answer(first);
  t.match(await open, { end: 'complete' });
  t.match(await last, { end: 'complete' });
  t.equal(connections(), 1);
});

t.test('close ends open connections and pending connects', async (t) => {
  const { url, sockets } = await startRawServer(t, (socket) => void socket.write(HEAD));
  const transport = openTransport(t);
  const streaming = t.rejects(ask(transport, url), { name: 'ModelError' });
  // The server never responds to the TLS handshake.
  const secure = t.rejects(ask(transport, url.replace('http:', 'https:')), PROVIDER);
  await until(() => sockets.size === 2);
  await settle();
  await transport.close();
  await Promise.all([streaming, secure]);
  await until(() => sockets.size === 0);
  await t.rejects(ask(transport, url), PROVIDER);
});

/** An HTTP proxy that records its requests and forwards them to one server. */
const startProxy = async (t: Test, port: number): Promise<{ url: string; asked: string[] }> => {
  const asked: string[] = [];
  const proxy = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('data: [DONE]\n\n');
  });
  proxy.on('connect', ({ url = '' }, socket: Socket) => {
    asked.push(`CONNECT ${url}`);
    const target = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.destroy());
    socket.on('error', () => target.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  // A server that listens on a port has an address of this shape.
  const { port: own } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, asked };
};

t.test('applies the proxy variables of the environment', async (t) => {
  const { url, port } = await startRawServer(t, answer);
  const proxy = await startProxy(t, port);
  const via = (env: Record<string, string>) => openTransport(t, { env });
  const there = `http://0.0.0.0:${port}`;

  t.match(await ask(via({ HTTP_PROXY: proxy.url }), 'http://provider.test'), { end: 'complete' });
  t.strictSame(proxy.asked.splice(0), ['POST http://provider.test/v1/chat']);

  // No server listens on the port to which this proxy connects.
  const closed = await startProxy(t, 1);
  await t.rejects(ask(via({ https_proxy: closed.url }), 'https://provider.test'), PROVIDER);
  t.strictSame(closed.asked, ['CONNECT provider.test:443']);

  t.match(
    await ask(via({ HTTP_PROXY: proxy.url }), url),
    { end: 'complete' },
    'the host is excluded from the proxy',
  );
  for (const no_proxy of ['0.0.0.0', '*']) {
    t.match(await ask(via({ HTTP_PROXY: proxy.url, NO_PROXY: no_proxy }), there), { end: 'complete' });
  }
  t.match(await ask(via({ HTTPS_PROXY: proxy.url }), there), { end: 'complete' });
  t.strictSame(proxy.asked, []);
  await ask(via({ http_proxy: proxy.url }), there);
  t.strictSame(proxy.asked, [`POST ${there}/v1/chat`]);
});

t.test('reports a proxy that rejects as a connection error', async (t) => {
  const refusing = await startRawServer(t, (socket) => void socket.end('HTTP/1.1 403 No\r\n\r\n'));
  const transport = openTransport(t, { env: { HTTPS_PROXY: refusing.url } });
  await t.rejects(ask(transport, 'https://provider.test'), {
    class: 'provider',
    message: /^provider error: Cannot connect to API: Proxy response \(403\)/,
  });
});
