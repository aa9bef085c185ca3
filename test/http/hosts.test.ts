import t from 'tap';
import { z } from 'zod';
import { createHostCheck } from '../../src/http/hosts.ts';
import { route } from '../../src/http/route.ts';
import { createEventStream } from '../../src/http/sse.ts';
import { serve, wire } from './serve.ts';

const LOOPBACK = { listening: '127.0.0.1', names: [], publicUrls: [] };

t.test('accepts only loopback names and addresses on a loopback listener', (t) => {
  for (const listening of ['127.0.0.1', '127.9.9.9', 'localhost', '::1']) {
    const accepts = createHostCheck({ ...LOOPBACK, listening });
    for (const host of [
      'localhost',
      'LOCALHOST:38080',
      'app.localhost:1',
      'localhost.',
      '127.0.0.1:38080',
      '127.1.2.3',
      '[::1]',
      '[::1]:38080',
    ]) {
      t.equal(accepts?.(host), true, host);
      t.equal(accepts?.(host), true, `${host} again`);
    }
    for (const host of [
      '',
      'evil.example',
      'evil.example:38080',
      'localhost.evil.example',
      'notlocalhost',
      '127.0.0.1.evil.example',
      '128.0.0.1',
      '0.0.0.0',
      '[::2]',
      'evil@localhost',
      'localhost/x',
      'localhost:x',
      'x'.repeat(10_000),
    ]) {
      t.equal(accepts?.(host), false, host.slice(0, 40));
    }
  }
  t.end();
});

t.test('accepts the public name and the configured names', (t) => {
  const accepts = createHostCheck({
    ...LOOPBACK,
    names: ['Agents.Example', '10.0.0.7', 'fd00::7'],
    publicUrls: [undefined, 'https://public.example/agents', 'https://own.example'],
  });
  for (const host of [
    'agents.example:8',
    'public.example',
    'own.example',
    '10.0.0.7',
    '[fd00::7]:8',
    'localhost',
  ]) {
    t.equal(accepts?.(host), true, host);
  }
  for (const host of ['other.agents.example', 'agents.example.evil', '10.0.0.8', '[fd00::8]']) {
    t.equal(accepts?.(host), false, host);
  }
  t.end();
});

t.test('accepts any host on a public listener unless names are configured', (t) => {
  for (const listening of ['0.0.0.0', '::', '192.0.2.1', 'service.example']) {
    t.equal(createHostCheck({ ...LOOPBACK, listening }), undefined, listening);
  }
  const accepts = createHostCheck({ ...LOOPBACK, listening: '0.0.0.0', names: ['agents.example'] });
  t.equal(accepts?.('agents.example'), true);
  t.equal(accepts?.('127.0.0.1:1'), true, 'probes of the same host are accepted');
  t.equal(accepts?.('evil.example'), false);
  t.end();
});

const base = { summary: 'test', needs: 'nothing', responses: { 200: z.json() } } as const;

const reached: string[] = [];

const routes = [
  route.get('/plain', { id: 'getPlain', ...base, handle: () => reached.push('plain') }),
  route.get('/stream', {
    id: 'getStream',
    ...base,
    handle() {
      reached.push('stream');
      return createEventStream();
    },
  }),
  route.get('/admin', { id: 'getAdmin', ...base, needs: 'observe', handle: () => reached.push('admin') }),
];

t.test('rejects a foreign host on every path before anything else', async (t) => {
  const acceptsHost = createHostCheck(LOOPBACK);
  const { port } = await serve(t, routes, { ...(acceptsHost && { acceptsHost }) });
  for (const line of [
    'GET /plain',
    'GET /stream',
    'GET /admin',
    'GET /unknown',
    'POST /plain',
    'OPTIONS /plain',
    'GET /openapi.json',
  ]) {
    const client = wire(t, port, `${line} HTTP/1.1\r\nHost: evil.example:${port}\r\n\r\n`);
    const text = await client.until('SERVICE_ALLOWED_HOSTS');
    t.match(text, /^HTTP\/1\.1 403 /, line);
    t.match(text, /"error":"requests for the host 'evil\.example:\d+' are rejected/);
    t.match(text, /\r\nx-request-id: /);
  }
  t.strictSame(reached, []);
  t.equal((await fetch(`http://127.0.0.1:${port}/plain`)).status, 200);
});
