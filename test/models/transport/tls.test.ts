import { execFile } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { CERTIFICATE, KEY } from '../../certificate.ts';
import { ask, openTransport } from './open.ts';

const CHILD = fileURLToPath(new URL('child-tls.ts', import.meta.url));

t.test('resumes the TLS session of an earlier connection', async (t) => {
  const reused: boolean[] = [];
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (socket) => {
    reused.push(socket.isSessionReused());
    socket.on('error', () => {});
    socket.once('data', () =>
      socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  // A server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  const authority = join(t.testdir({ 'ca.pem': CERTIFICATE }), 'ca.pem');
  const url = `https://localhost:${port}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', CHILD, url], {
    env: { ...process.env, NODE_OPTIONS: '', NODE_EXTRA_CA_CERTS: authority },
  });
  t.equal(stdout, 'okok');
  t.strictSame(reused, [false, true]);

  await t.rejects(ask(openTransport(t), url), {
    class: 'provider',
    message: /^provider error: Cannot connect to API: self-signed certificate/,
  });
});
