import t from 'tap';
import { z } from 'zod';
import { route } from '../../src/http/route.ts';
import { createEventStream } from '../../src/http/sse.ts';
import { defer, get, serve, settle, when, wire } from './serve.ts';

const base = { summary: 'test', needs: 'nothing', responses: { 200: z.json() } } as const;

t.test('does not call the handler when the client disconnects during its body', async (t) => {
  let handled = 0;
  const upload = route.post('/upload', {
    id: 'postUpload',
    ...base,
    body: z.json(),
    handle() {
      handled += 1;
    },
  });
  const { port, observed, inFlight } = await serve(t, [upload]);
  const client = wire(
    t,
    port,
    'POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"a":',
  );
  await when(() => inFlight() === 1);
  client.socket.destroy();
  await when(() => inFlight() === 0);
  t.match(observed, [{ method: 'POST', route: '/upload', status: 499 }]);
  t.equal(handled, 0);
});

/** A handler whose client disconnects; the test decides how it finishes. */
const abandoned = async (t: Parameters<typeof serve>[0], finish: () => unknown) => {
  const proceed = defer();
  let started = false;
  let finished = false;
  const slow = route.get('/slow', {
    id: 'getSlow',
    ...base,
    async handle() {
      started = true;
      await proceed.promise;
      finished = true;
      return finish();
    },
  });
  const served = await serve(t, [slow]);
  const client = wire(t, served.port, get('/slow'));
  await when(() => started);
  client.socket.destroy();
  await when(() => served.inFlight() === 0);
  proceed.resolve();
  await when(() => finished);
  await settle();
  t.match(served.observed, [{ route: '/slow', status: 499 }]);
  t.equal(served.inFlight(), 0);
  t.equal((await fetch(`${served.url}/unknown`)).status, 404, 'the server serves other requests');
  return served;
};

t.test('discards a response after the client has disconnected', async (t) => {
  const { errors } = await abandoned(t, () => ({ late: true }));
  t.strictSame(errors, []);
});

t.test('logs an error that is thrown after the client has disconnected', async (t) => {
  const { errors } = await abandoned(t, () => {
    throw new Error('late bug');
  });
  t.match(errors, [{ data: { err: { message: 'late bug' } } }]);
});

t.test('closes a stream whose client has disconnected', async (t) => {
  let told = 0;
  const stream = createEventStream();
  stream.write('data: 1\n\n');
  stream.onClose(() => {
    told += 1;
  });
  const { streams } = await abandoned(t, () => stream);
  t.equal(stream.closed, true);
  t.equal(told, 1);
  t.equal(streams(), 0);
});

t.test('drops a request whose client disconnects while its scope is resolved', async (t) => {
  const scope = defer<string>();
  let handled = 0;
  const scoped = route.get('/scoped', {
    id: 'getScoped',
    ...base,
    needs: 'invoke',
    handle() {
      handled += 1;
    },
  });
  const { port, inFlight, observed } = await serve(t, [scoped], { resolveScope: () => scope.promise });
  const client = wire(t, port, get('/scoped'));
  await when(() => inFlight() === 1);
  client.socket.destroy();
  await when(() => inFlight() === 0);
  scope.resolve('default');
  await settle();
  t.equal(handled, 0);
  t.match(observed, [{ status: 499 }]);
});
