import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { createConnectionBudget } from '../../src/http/connection-budget.ts';
import { listenOnNode } from '../../src/http/node-socket.ts';
import { route } from '../../src/http/route.ts';
import { listenOn } from '../../src/http/socket.ts';
import { readTls, type TlsFiles } from '../../src/http/tls.ts';
import { CERTIFICATE, tlsFiles } from '../certificate.ts';
import { ADMIN_TOKEN, get, LISTENER, type Served, serve, when } from './serve.ts';

/** Encrypted connections, on the HTTP server that the tests run on. */

const Text = z.object({ text: z.string() });

const routes = [
  route.post('/echo', {
    id: 'echo',
    summary: 'test',
    needs: 'nothing',
    body: Text,
    responses: { 200: Text },
    handle: ({ body }) => body,
  }),
  route.get('/secret', {
    id: 'getSecret',
    summary: 'test',
    needs: 'observe',
    responses: { 200: Text },
    handle: () => ({ text: 'secret' }),
  }),
];

const serveTls = (t: Test): Promise<Served> =>
  serve(t, routes, { settings: { tls: tlsFiles(t), body_limit_bytes: 1_000_000 } });

type Got = { status: number | undefined; headers: NodeJS.Dict<string | string[]>; text: string };

const ask = (
  port: number,
  path: string,
  { body, headers }: { body?: string; headers?: Record<string, string> } = {},
): Promise<Got> =>
  new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const options = { host: '127.0.0.1', servername: 'localhost', ca: CERTIFICATE, agent: false };
    const asked = request(
      { ...options, port, path, method, headers: { ...type, ...headers } },
      async (response) => {
        let text = '';
        for await (const chunk of response.setEncoding('utf8')) text += chunk;
        resolve({ status: response.statusCode, headers: response.headers, text });
      },
    );
    asked.once('error', reject);
    asked.end(body);
  });

t.test('answers with HTTPS, and asks browsers to use nothing else (check 10)', async (t) => {
  const { port } = await serveTls(t);
  const text = 'café 🎭 '.repeat(20_000);
  const echoed = await ask(port, '/echo', { body: JSON.stringify({ text }) });
  t.equal(echoed.status, 200);
  t.strictSame(JSON.parse(echoed.text), { text });
  const refused = await ask(port, '/secret');
  const admitted = await ask(port, '/secret', { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  t.strictSame([refused.status, admitted.status], [401, 200]);
  for (const { headers } of [echoed, refused, admitted]) {
    t.equal(headers['strict-transport-security'], 'max-age=31536000');
  }
});

t.test('sends no such header without TLS', async (t) => {
  const { url } = await serve(t, routes);
  t.equal((await fetch(`${url}/secret`)).headers.get('strict-transport-security'), null);
});

t.test('does not answer plain HTTP on the port, and still serves other clients (check 10)', async (t) => {
  const { port } = await serveTls(t);
  const plain = connect(port, '127.0.0.1');
  let received = '';
  plain.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  plain.on('error', () => {});
  plain.write(get('/secret'));
  await once(plain, 'close');
  t.notMatch(received, /HTTP\/1\.1/);
  t.equal((await ask(port, '/secret')).status, 401);
});

t.test('refuses TLS 1.1', async (t) => {
  const { port } = await serveTls(t);
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const handshake = (options: object): Promise<TLSSocket> =>
    new Promise((resolve, reject) => {
      const socket = connectTls({
        port,
        host: '127.0.0.1',
        servername: 'localhost',
        ca: CERTIFICATE,
        ...options,
      });
      socket.once('secureConnect', () => resolve(socket));
      socket.once('error', reject);
    });
  await t.rejects(handshake(old));
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await handshake({ minVersion: version, maxVersion: version });
    t.equal(socket.getProtocol(), version);
    socket.destroy();
  }
});

t.test('counts connections whose handshake never ends', async (t) => {
  const { uWS } = LISTENER;
  let open = 0;
  const budget = {
    opened: () => {
      open += 1;
      return true;
    },
    closed: () => {
      open -= 1;
    },
  };
  const options = { address: { host: '127.0.0.1', port: 0 }, budget, tls: readTls(tlsFiles(t)) };
  const ignore = (): void => {};
  const listening = await (uWS ? listenOn(uWS, ignore, options) : listenOnNode(ignore, options));
  t.teardown(() => {
    listening.stop();
    listening.close();
  });
  const { port = 0 } = listening;
  const sockets = Array.from({ length: 5 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await when(() => open === 5);
  for (const socket of sockets) socket.destroy();
  await when(() => open === 0);
});

t.test('closes connections above the budget before the handshake', async (t) => {
  const { uWS } = LISTENER;
  const budget = createConnectionBudget(1, () => {});
  const options = { address: { host: '127.0.0.1', port: 0 }, budget, tls: readTls(tlsFiles(t)) };
  const ignore = (): void => {};
  const listening = await (uWS ? listenOn(uWS, ignore, options) : listenOnNode(ignore, options));
  t.teardown(() => {
    listening.stop();
    listening.close();
  });
  const { port = 0 } = listening;
  const first = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: CERTIFICATE });
  await once(first, 'secureConnect');
  const second = connect(port, '127.0.0.1').on('error', () => {});
  await once(second, 'close');
  t.notOk(first.destroyed);
  first.destroy();
});

t.test('names the file that cannot be used', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const other = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const locked = privateKey
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
    .toString();
  const { cert_file, key_file } = tlsFiles(t);
  const inFolder = (name: string): string => join(dirname(cert_file), name);
  writeFileSync(inFolder('other.pem'), other);
  writeFileSync(inFolder('locked.pem'), locked);
  writeFileSync(inFolder('text.pem'), 'none');
  const refusals: [TlsFiles, RegExp][] = [
    [
      { cert_file: inFolder('none'), key_file },
      /^SERVICE_TLS_CERT_FILE: '.*none' cannot be used: ENOENT.*; allowed: a PEM file/,
    ],
    [{ cert_file: inFolder('text.pem'), key_file }, /^SERVICE_TLS_CERT_FILE: '.*text\.pem' cannot be used: /],
    [{ cert_file, key_file: inFolder('text.pem') }, /^SERVICE_TLS_KEY_FILE: '.*text\.pem' cannot be used: /],
    [
      { cert_file, key_file: inFolder('locked.pem') },
      /^SERVICE_TLS_KEY_FILE: '.*locked\.pem' cannot be used: .*without a passphrase$/,
    ],
    [
      { cert_file, key_file: inFolder('other.pem') },
      /^SERVICE_TLS_KEY_FILE: '.*other\.pem' is not the key of the first certificate in '.*cert\.pem'$/,
    ],
  ];
  for (const [tls, message] of refusals) {
    t.throws(() => readTls(tls), { message });
    await t.rejects(serve(t, routes, { settings: { tls } }), { message });
  }
});

t.test('warns of a certificate that expires soon', async (t) => {
  const warned: [string, object | undefined][] = [];
  const log = {
    error() {},
    warn: (event: string, data?: object) => void warned.push([event, data]),
    info() {},
    debug() {},
    isLevelEnabled: () => false,
  };
  await serve(t, routes, { settings: { tls: tlsFiles(t) }, log });
  t.strictSame(warned, []);
  const now = Date.UTC(2126, 10, 1);
  t.intercept(Date, 'now', { value: () => now });
  const tls = tlsFiles(t);
  await serve(t, routes, { settings: { tls }, log });
  t.match(warned, [['http.certificate_expires', { file: tls.cert_file, expires: /^2126-11-03T/ }]]);
});
