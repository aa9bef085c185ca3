import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { createHostCheck } from '../../src/http/hosts.ts';
import { route } from '../../src/http/route.ts';
import { nodeCommand } from '../child.ts';
import { LISTENER, serve } from './serve.ts';

const routes = [
  route.get('/peer', {
    id: 'getPeer',
    summary: 'test',
    needs: 'nothing',
    responses: { 200: z.json() },
    handle: ({ ip }) => ip(),
  }),
];

type Got = { status: number | undefined; text: string };

const ask = (socketPath: string, headers: Record<string, string> = {}): Promise<Got> =>
  new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/peer', headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode, text });
    });
    asked.once('error', reject);
    asked.end();
  });

/** Located directly in the temporary directory, because the path of a socket has at most 107 bytes. */
const place = (t: Test): string => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 's');
};

const acceptsHost = createHostCheck({ listening: 'localhost', names: [], publicUrls: [] });

t.test('serves a Unix socket like a loopback address, and removes its file on stop', async (t) => {
  const path = place(t);
  const { server } = await serve(t, routes, { acceptsHost });
  t.strictSame(await server.listen(LISTENER, { path }), { port: undefined });
  t.strictSame(await ask(path), { status: 200, text: '"127.0.0.1"' });
  const forwarded = await ask(path, { 'x-forwarded-for': '203.0.113.7' });
  t.equal(forwarded.text, '"203.0.113.7"', 'the peer of a Unix socket is a trusted proxy');
  t.equal((await ask(path, { host: 'elsewhere.test' })).status, 403);
  server.stopListening();
  await server.close();
  t.notOk(existsSync(path));
});

t.test('keeps the file of a process that is listening', async (t) => {
  const path = place(t);
  const first = await serve(t, routes);
  await first.server.listen(LISTENER, { path });
  const second = await serve(t, routes);
  await t.rejects(second.server.listen(LISTENER, { path }), {
    message: `cannot listen on unix:${path}: another process listens on it`,
  });
  await second.server.close();
  t.equal((await ask(path)).status, 200);
});

t.test('replaces the file of a killed process', async (t) => {
  const path = place(t);
  const child = spawn(
    ...nodeCommand([
      '-e',
      `require('net').createServer().listen(${JSON.stringify(path)}, () => console.log(1))`,
    ]),
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'close');
  t.ok(existsSync(path));
  const { server } = await serve(t, routes);
  await server.listen(LISTENER, { path });
  t.equal((await ask(path)).status, 200);
});

t.test('never removes a file that is not a socket', async (t) => {
  const path = place(t);
  writeFileSync(path, 'kept');
  const { server } = await serve(t, routes);
  await t.rejects(server.listen(LISTENER, { path }), {
    message: `cannot listen on unix:${path}: the file is not a socket`,
  });
  t.ok(statSync(path).isFile());
});

t.test('names a missing directory', async (t) => {
  const path = join(dirname(place(t)), 'none', 's');
  const { server } = await serve(t, routes);
  await t.rejects(server.listen(LISTENER, { path }), {
    message: `cannot listen on unix:${path}: the folder does not exist or is not writable`,
  });
});
