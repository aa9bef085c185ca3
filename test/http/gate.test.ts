import t from 'tap';
import { z } from 'zod';
import { createGate } from '../../src/http/gate.ts';
import { route } from '../../src/http/route.ts';
import { createEventStream } from '../../src/http/sse.ts';
import { type Deferred, defer, get, serve, settle, type Wire, when, wire } from './serve.ts';

const base = { summary: 'test', needs: 'nothing', responses: { 200: z.json() } } as const;
const Name = z.object({ name: z.string() });

/** Handlers that respond when the test releases them. */
const controlled = () => {
  const started: string[] = [];
  const open = new Map<string, Deferred<unknown>>();
  const slow = route.get('/slow/:name', {
    id: 'getSlowName',
    ...base,
    params: Name,
    handle({ params }) {
      started.push(params.name);
      const deferred = defer<unknown>();
      open.set(params.name, deferred);
      return deferred.promise;
    },
  });
  const finish = (name: string, value: unknown = name) => open.get(name)?.resolve(value);
  return { slow, started, finish };
};

t.test('executes requests up to the limit, and the others in order', async (t) => {
  const { slow, started, finish } = controlled();
  const { port, inFlight } = await serve(t, [slow], { settings: { max_concurrent_requests: 2 } });
  const clients: Wire[] = [];
  for (const name of ['a', 'b', 'c', 'd']) {
    clients.push(wire(t, port, get(`/slow/${name}`)));
    await when(() => inFlight() === clients.length);
  }
  t.strictSame(started, ['a', 'b']);
  finish('b');
  await when(() => started.length === 3);
  finish('a');
  await when(() => started.length === 4);
  t.strictSame(started, ['a', 'b', 'c', 'd']);
  finish('c');
  finish('d');
  for (const client of clients) await client.until('200 OK');
});

t.test('returns 503 with Retry-After to a request that waited for a second', async (t) => {
  const { slow, started, finish } = controlled();
  const { url } = await serve(t, [slow], { settings: { max_concurrent_requests: 1 } });
  const first = fetch(`${url}/slow/a`);
  await when(() => started.length === 1);
  const refused = await fetch(`${url}/slow/b`);
  t.equal(refused.status, 503);
  t.equal(refused.headers.get('retry-after'), '1');
  t.match(await refused.json(), { error: /too many requests/ });
  finish('a');
  t.equal((await first).status, 200);
  t.strictSame(started, ['a']);
});

t.test('removes a waiting request whose client disconnects', async (t) => {
  const { slow, started, finish } = controlled();
  const { port, observed, inFlight } = await serve(t, [slow], { settings: { max_concurrent_requests: 1 } });
  const first = wire(t, port, get('/slow/a'));
  await when(() => started.length === 1);
  const second = wire(t, port, get('/slow/b'));
  await when(() => inFlight() === 2);
  second.socket.destroy();
  await when(() => observed.length === 1);
  t.match(observed[0], { route: '/slow/:name', status: 499 });
  finish('a');
  await first.until('200 OK');
  await settle();
  t.strictSame(started, ['a']);
  t.equal(inFlight(), 0);
});

t.test('counts an event stream until it is bound, and a held request until it is released', async (t) => {
  const { slow, started, finish } = controlled();
  const held = defer();
  const hold = route.get('/hold', {
    id: 'getHold',
    ...base,
    async handle({ hold }) {
      started.push('hold');
      await held.promise;
      hold();
      hold();
      await new Promise(() => {});
    },
  });
  const { url, port, streams } = await serve(t, [slow, hold], { settings: { max_concurrent_requests: 1 } });
  wire(t, port, get('/slow/stream'));
  await when(() => started.length === 1);
  wire(t, port, get('/hold'));
  await settle();
  t.strictSame(started, ['stream']);

  finish('stream', createEventStream());
  await when(() => started.length === 2);
  t.equal(streams(), 1);

  const next = fetch(`${url}/slow/next`);
  await settle();
  t.strictSame(started, ['stream', 'hold']);
  held.resolve();
  await when(() => started.length === 3);

  const last = fetch(`${url}/slow/last`);
  await settle();
  t.strictSame(started, ['stream', 'hold', 'next'], 'a second hold of a request frees no further place');
  finish('next');
  await next;
  await when(() => started.length === 4);
  finish('last');
  await last;
});

t.test('rejects a request at once when the queue is full', (t) => {
  const gate = createGate({ limit: 1, maxWaiting: 2, waitMs: 60_000 });
  const waiter = () => ({ start() {}, expire() {} });
  t.equal(gate.enter(), true);
  t.equal(gate.enter(), false);
  const first = waiter();
  t.equal(gate.wait(first), true);
  t.equal(gate.wait(waiter()), true);
  t.equal(gate.wait(waiter()), false);
  gate.withdraw(first);
  t.equal(gate.wait(waiter()), true);
  gate.close();
  t.end();
});

t.test('admits waiting requests before new ones', (t) => {
  const gate = createGate({ limit: 1, waitMs: 60_000 });
  const order: string[] = [];
  gate.enter();
  gate.wait({
    start() {
      order.push('first');
      gate.leave();
      t.equal(gate.enter(), false, 'a waiting request is admitted first');
    },
    expire() {},
  });
  gate.wait({
    start() {
      order.push('second');
      gate.leave();
    },
    expire() {},
  });
  gate.leave();
  t.strictSame(order, ['first', 'second']);
  t.equal(gate.enter(), true);
  gate.close();
  t.end();
});

t.test('admits ten thousand requests at once without recursion', (t) => {
  const gate = createGate({ limit: 1, waitMs: 60_000 });
  let started = 0;
  gate.enter();
  for (let index = 0; index < 10_000; index += 1) {
    gate.wait({
      start() {
        started += 1;
        gate.leave();
      },
      expire() {},
    });
  }
  gate.leave();
  t.equal(started, 10_000);
  gate.close();
  t.end();
});

t.test('expires waiting requests in order of arrival', async (t) => {
  const gate = createGate({ limit: 1, waitMs: 20 });
  const expired: string[] = [];
  const waiter = (name: string) => ({ start: () => t.fail('started'), expire: () => expired.push(name) });
  gate.enter();
  gate.wait(waiter('first'));
  const since = performance.now();
  await when(() => performance.now() - since >= 1);
  gate.wait(waiter('second'));
  await when(() => expired.length === 2);
  t.strictSame(expired, ['first', 'second']);
  gate.leave();
  gate.close();
});

t.test('reports when no request is executing or waiting', async (t) => {
  const gate = createGate({ limit: 1 });
  await gate.empty();
  let isEmpty = false;
  gate.enter();
  gate.wait({ start: () => {}, expire: () => t.fail('expired') });
  const emptied = gate.empty().then(() => {
    isEmpty = true;
  });
  gate.leave();
  await when(() => true);
  t.equal(isEmpty, false, 'a formerly waiting request is executing');
  gate.leave();
  await emptied;
  gate.close();
});
