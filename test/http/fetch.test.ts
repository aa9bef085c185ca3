import type { Test } from 'tap';
import t from 'tap';
import { z } from 'zod';
import { reply, route } from '../../src/http/route.ts';
import { createEventStream, type EventStream } from '../../src/http/sse.ts';
import { adminIn } from '../../src/schema/principal.ts';
import { ADMIN_TOKEN, defer, ORIGIN, type ServeOptions, serve, settle, when } from './serve.ts';

/** Requests of a program that embeds the service. */

const base = { summary: 'x', needs: 'invoke', responses: { 200: z.json() } } as const;

/** The comment that a stream sends after a stall. */
const COMMENT = ':\n\n';

const setUp = async (t: Test, options: ServeOptions = {}) => {
  const streams: EventStream[] = [];
  const gate = defer();
  const gone: string[] = [];
  const routes = [
    route.post('/things/:id', {
      id: 'postThingsId',
      ...base,
      params: z.object({ id: z.string() }),
      query: z.object({ q: z.string().optional() }),
      body: z.object({ text: z.string() }),
      handle: ({ params, query, body, scope, header, ip }) =>
        reply(201, { ...params, ...query, text: body.text, scope, own: header('x-own') ?? null, ip: ip() }),
    }),
    route.delete('/things/:id', { id: 'deleteThingsId', ...base, handle: () => reply(204) }),
    route.get('/things', { id: 'getThings', ...base, handle: ({ scope }) => ({ scope }) }),
    route.get('/secret', { id: 'getSecret', ...base, needs: 'observe', handle: ({ scope }) => ({ scope }) }),
    route.get('/slow', {
      id: 'getSlow',
      ...base,
      async handle({ onGone }) {
        onGone(() => gone.push('slow'));
        await gate.promise;
        return 'slow';
      },
    }),
    route.get('/stream', {
      id: 'getStream',
      ...base,
      handle() {
        const stream = createEventStream();
        stream.onClose(() => gone.push('stream'));
        streams.push(stream);
        return stream;
      },
    }),
  ];
  const served = await serve(t, routes, options);
  const send = (path: string, init?: RequestInit) =>
    served.server.fetch(new Request(`http://any.example${path}`, init), { from: 'stranger' });
  return { ...served, streams, gate, gone, send };
};

const post = (body: string, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/json', ...headers },
});

t.test('responds as over a socket, without checking the host', async (t) => {
  const { send, url, observed } = await setUp(t, { acceptsHost: (host) => host.startsWith('127.') });
  const body = JSON.stringify({ text: 'Grüße' });
  const answer = await send('/things/a%20b?q=1', post(body, { 'x-own': 'yes', origin: ORIGIN }));
  t.equal(answer.status, 201);
  t.equal(answer.statusText, 'Created');
  t.equal(answer.headers.get('content-type'), 'application/json');
  t.equal(answer.headers.get('access-control-allow-origin'), ORIGIN);
  t.equal(answer.headers.get('connection'), null);
  t.strictSame(await answer.json(), {
    id: 'a b',
    q: '1',
    text: 'Grüße',
    scope: 'default',
    own: 'yes',
    ip: '',
  });
  t.match(observed, [{ method: 'POST', route: '/things/:id', status: 201 }]);

  for (const [path, init] of [
    ['/things/1', { method: 'DELETE' }],
    ['/things', { method: 'HEAD' }],
    ['/things', { method: 'PATCH' }],
    ['/nowhere', {}],
    ['/secret', {}],
    ['/things/1', post('{')],
    ['/things/1', post('{}')],
    ['/things/1', post('x'.repeat(2000))],
    ['/things/1', { method: 'POST', body: 'text' }],
    ['/things/1', post(body, { 'content-encoding': 'gzip' })],
  ] as const) {
    const [there, here] = [await fetch(url + path, init), await send(path, init)];
    const seen = async (response: Response) => ({
      status: response.status,
      text: await response.text(),
      type: response.headers.get('content-type'),
      allow: response.headers.get('allow'),
    });
    t.strictSame(await seen(here), await seen(there), `${JSON.stringify(init)} ${path}`);
  }
});

t.test('requires credentials for forwarded requests, but not for the embedding program', async (t) => {
  const { server } = await setUp(t, {
    resolveScope(_surface, { header }) {
      const scope = header('x-tenant');
      if (scope === undefined) throw new Error('no tenant');
      return scope;
    },
  });
  const request = (path: string, headers: Record<string, string> = {}) =>
    new Request(`http://x${path}`, { headers });
  const stranger = { from: 'stranger' } as const;
  t.equal((await server.fetch(request('/things'), stranger)).status, 401);
  t.strictSame(await (await server.fetch(request('/things', { 'x-tenant': 'a' }), stranger)).json(), {
    scope: 'a',
  });
  t.equal((await server.fetch(request('/secret', { 'x-tenant': 'a' }), stranger)).status, 401);
  const admin = { 'x-tenant': 'a', authorization: `Bearer ${ADMIN_TOKEN}` };
  t.equal((await server.fetch(request('/secret', admin), stranger)).status, 200);

  const secret = await server.fetch(request('/secret'), { from: 'program', principal: adminIn('b') });
  t.strictSame(await secret.json(), { scope: 'b' });
  t.equal(secret.headers.get('cache-control'), 'no-store');
});

t.test('streams frames as they are written, and completes the stream', async (t) => {
  const { send, streams } = await setUp(t);
  const response = await send('/stream');
  t.equal(response.headers.get('content-type'), 'text/event-stream');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  t.strictSame(await reader?.read(), { done: false, value: ':\n\n' });
  streams[0]?.write('data: 1\n\n');
  t.strictSame(await reader?.read(), { done: false, value: 'data: 1\n\n' });
  streams[0]?.write('data: 2\n\n');
  streams[0]?.end();
  t.strictSame(await reader?.read(), { done: false, value: 'data: 2\n\n' });
  t.equal((await reader?.read())?.done, true);
});

t.test('buffers frames of a stalled stream and delivers them in order afterwards', async (t) => {
  const { send, streams, gone } = await setUp(t, { settings: { sse_buffer_size: 50 } });
  const response = await send('/stream');
  const [stream] = streams;
  const frame = (index: number) => `data: ${String(index).padStart(4, '0')}${'x'.repeat(10_000)}\n\n`;
  const written: string[] = [];
  for (let index = 0; index < 40; index += 1) {
    stream?.write(frame(index));
    written.push(frame(index));
    await settle();
  }
  t.equal(stream?.stalled, true);
  stream?.end();
  t.equal((await response.text()).replaceAll(COMMENT, ''), written.join(''));
  t.strictSame(gone, ['stream']);
});

t.test('aborts a stream beyond the limit if it is never read', async (t) => {
  const { send, streams, gone } = await setUp(t, { settings: { sse_buffer_size: 5 } });
  const response = await send('/stream');
  for (let index = 0; index < 40; index += 1) {
    streams[0]?.write(`data: ${'x'.repeat(10_000)}\n\n`);
    await settle();
  }
  t.strictSame(gone, ['stream']);
  await t.rejects(response.text(), { message: /cut off: it was not read fast enough/ });
});

t.test('aborts a request at every stage when its signal fires', async (t) => {
  const { send, gone, streams, gate, inFlight, observed } = await setUp(t);
  await t.rejects(send('/slow', { signal: AbortSignal.abort() }), { name: 'AbortError' });
  t.equal(observed.length, 0, 'the service has not received the request');

  const control = new AbortController();
  const waiting = send('/slow', { signal: control.signal });
  await settle();
  control.abort(new Error('enough'));
  await t.rejects(waiting, { message: 'enough' });
  t.strictSame(gone, ['slow']);
  gate.resolve();

  await (await send('/stream')).body?.cancel();
  t.strictSame(gone, ['slow', 'stream']);
  streams[0]?.write('data: after\n\n');

  const streaming = new AbortController();
  const response = await send('/stream', { signal: streaming.signal });
  streaming.abort(new Error('also enough'));
  await t.rejects(response.text(), { message: 'also enough' });
  t.strictSame(gone, ['slow', 'stream', 'stream']);
  await when(() => inFlight() === 0);
});

t.test('rejects a body that fails or was already read', async (t) => {
  const { server, send, inFlight } = await setUp(t);
  const broken = new ReadableStream({
    pull() {
      throw new Error('the disk is unavailable');
    },
  });
  const init = { ...post(''), body: broken, duplex: 'half' } as RequestInit;
  await t.rejects(send('/things/1', init), { message: 'the disk is unavailable' });
  const read = new Request('http://x/things/1', post('{}'));
  await read.text();
  await t.rejects(server.fetch(read, { from: 'stranger' }), TypeError);
  t.equal(inFlight(), 0);
});

t.test('accepts a long body in chunks, and cancels one that is too long', async (t) => {
  const { send } = await setUp(t);
  const pieces = (count: number) => {
    let sent = 0;
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode(sent === 0 ? '{"text":"' : 'é'.repeat(50)));
        sent += 1;
        if (sent < count) return;
        controller.enqueue(new TextEncoder().encode('"}'));
        controller.close();
      },
      cancel() {
        cancelled = true;
      },
    });
    return { init: { ...post(''), body, duplex: 'half' } as RequestInit, cancelled: () => cancelled };
  };
  const taken = await send('/things/1', pieces(5).init);
  t.match(await taken.json(), { text: 'é'.repeat(200) });
  const long = pieces(1_000_000);
  t.equal((await send('/things/1', long.init)).status, 413);
  await when(long.cancelled);
});

t.test('rejects new requests when the service stops, and aborts open ones at its end', async (t) => {
  const { send, server } = await setUp(t);
  const waiting = send('/slow');
  const stream = await send('/stream');
  await settle();
  server.stopListening();
  t.equal((await send('/things')).status, 503);
  const refused = t.rejects(waiting, { message: 'the service has stopped' });
  await server.close();
  await refused;
  t.equal(await stream.text(), ':\n\n', 'the body of the stream is complete');
});
