import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { KEPT_BYTES } from '../../src/cluster/client-body.ts';
import { MOST_SOCKETS } from '../../src/cluster/forward.ts';
import { route } from '../../src/http/route.ts';
import { get, settle, when, wire } from '../http/serve.ts';
import { freePort } from '../ports.ts';
import { PAGE, peerOf, startEntry, startOwner, startPair, type TestMember } from './fronts.ts';

/** Members that do not answer, do not serve, or die in the middle of a request. */

const base = { summary: 'test', needs: 'nothing', responses: { 200: z.json() } } as const;

const UNKNOWN = 'the member that has this thread did not answer; whether it took the request is not known';

const startOf = async (t: Test, name: string, effects: string[]) =>
  startOwner(
    t,
    name,
    [
      route.post('/effects', {
        id: 'postEffects',
        ...base,
        body: z.object({ text: z.string() }),
        handle({ body }) {
          effects.push(body.text);
          return { by: name };
        },
      }),
      route.get('/name', { id: 'getName', ...base, handle: () => ({ by: name }) }),
    ],
    { settings: { body_limit_bytes: 10_000_000 } },
  );

const post = (member: TestMember, text: string): Promise<Response> =>
  fetch(`${member.url}/effects`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  });

type Taken = { socket: Socket; text(): string };

/** A member that accepts connections; each receives what `answer` does with its first bytes. */
const startRaw = async (t: Test, entry: TestMember, answer: (taken: Taken, count: number) => void) => {
  const taken: Taken[] = [];
  const server = createServer((socket) => {
    let text = '';
    const one = { socket, text: () => text };
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.length === chunk.length) answer(one, taken.push(one));
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    for (const { socket } of taken) socket.destroy();
  });
  entry.known.active = { id: 'id-raw', name: 'raw', url: `http://127.0.0.1:${port}` };
  return taken;
};

t.test('reports that the effect of a request is not known when its member dies', async (t) => {
  const entry = await startEntry(t, 'entry');
  const taken = await startRaw(t, entry, ({ socket }) => socket.destroy());

  const response = await post(entry, 'x');
  t.equal(response.status, 503);
  t.strictSame(await response.json(), { error: UNKNOWN });
  t.equal(response.headers.get('retry-after'), '8', 'the rest of the lease');
  t.equal(response.headers.get('x-troupe-member'), 'entry');
  t.equal(response.headers.get('x-troupe-untouched'), null);
  t.equal(taken.length, 1, 'sent once');
  t.strictSame(entry.results, ['unknown']);
  t.strictSame(entry.reached, [['id-raw', false]]);
});

t.test('repeats a request that reads when its member dies', async (t) => {
  const entry = await startEntry(t, 'entry');
  const taken = await startRaw(t, entry, ({ socket }, count) => {
    if (count < 3) socket.destroy();
    else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  });
  t.equal(await (await fetch(`${entry.url}/name`)).text(), 'ok');
  t.equal(taken.length, 3);
});

t.test('cuts the client off when its member dies within a response', async (t) => {
  const entry = await startEntry(t, 'entry');
  const taken = await startRaw(t, entry, ({ socket }) =>
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'),
  );
  for (const method of ['GET', 'POST']) {
    const client = wire(t, entry.port, get('/x').replace('GET', method));
    await client.until('abc');
    taken.pop()?.socket.destroy();
    t.notMatch(await client.end(), /0\r\n\r\n$/, `no end of ${method}`);
  }
});

t.test('sends nothing to a client that disconnects before it has read a complete response', async (t) => {
  const entry = await startEntry(t, 'entry');
  const taken = await startRaw(t, entry, ({ socket }) =>
    socket.write(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${(66_000).toString(16)}\r\n${'x'.repeat(66_000)}\r\n`,
    ),
  );
  const client = new AbortController();
  const request = new Request('http://any.test/x', { signal: client.signal });
  const response = await entry.listeners.fetch(request, { from: 'stranger' });
  for (let wait = 0; wait < 10; wait += 1) await settle();
  taken[0]?.socket.write('3\r\nabc\r\n0\r\n\r\n');
  for (let wait = 0; wait < 10; wait += 1) await settle();

  client.abort();
  await t.rejects(response.text(), { name: 'AbortError' });
  await when(() => taken[0]?.socket.destroyed === true || taken[0]?.socket.readableEnded === true);
  for (let wait = 0; wait < 10; wait += 1) await settle();
  t.strictSame(entry.results, ['ok']);
});

t.test('reports an unknown effect for a short response that ends early', async (t) => {
  const entry = await startEntry(t, 'entry');
  await startRaw(t, entry, ({ socket }) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nabc'));
  const response = await post(entry, 'x');
  t.strictSame(await response.json(), { error: UNKNOWN });
});

t.test('reports that no member can be reached, without an effect', async (t) => {
  const entry = await startEntry(t, 'entry');
  const without = await post(entry, 'x');
  t.equal(without.status, 503);
  t.match(await without.json(), { error: 'no active member is known; try again' });
  t.equal(without.headers.get('x-troupe-untouched'), '1');
  t.equal(without.headers.get('retry-after'), '8');

  entry.results.length = 0;
  entry.known.active = { id: 'id-x', name: 'x', url: `http://127.0.0.1:${await freePort()}` };
  const refused = await post(entry, 'x');
  t.equal(refused.status, 503);
  t.match(await refused.json(), { error: 'the active member cannot be reached; try again' });
  t.strictSame(entry.results, ['unreachable', 'unreachable', 'unreachable', 'unreachable']);
  const head = wire(t, entry.port, get('/x', 'Connection: close').replace('GET', 'HEAD'));
  t.match(await head.until('\r\n\r\n'), / 503 /);
});

t.test('lets pages of allowed origins read its own errors', async (t) => {
  const entry = await startEntry(t, 'entry');
  const asked = async (origin: string, more = {}) => {
    const { status, headers } = await fetch(entry.url, { headers: { origin, ...more } });
    return [status, headers.get('vary'), headers.get('access-control-allow-origin')];
  };
  t.strictSame(await asked(PAGE), [503, 'origin', PAGE]);
  t.strictSame(await asked('https://other.test'), [503, 'origin', null]);
  t.strictSame(await asked(PAGE, { 'x-troupe-member': 'forged' }), [400, 'origin', PAGE]);
  const { headers } = await fetch(entry.url, { headers: { origin: PAGE } });
  t.match(headers.get('access-control-expose-headers'), /\bretry-after\b/);
});

t.test('sends a request to the member that becomes active', async (t) => {
  const effects: string[] = [];
  const owner = await startOf(t, 'owner', effects);
  const entry = await startEntry(t, 'entry');
  entry.known.active = { id: 'id-x', name: 'x', url: `http://127.0.0.1:${await freePort()}` };
  const answered = post(entry, 'café');
  await when(() => entry.results.length > 0);
  entry.known.active = peerOf(owner);
  t.strictSame(await (await answered).json(), { by: 'owner' });
  t.strictSame(effects, ['café']);
});

t.test('answers a request itself once it becomes active', async (t) => {
  const effects: string[] = [];
  const other = await startOf(t, 'other', effects);
  const entry = await startEntry(t, 'entry');
  for (const send of [() => post(entry, 'x'.repeat(100_000)), () => fetch(`${entry.url}/name`)]) {
    entry.results.length = 0;
    entry.known.own = undefined;
    const answered = send();
    await when(() => entry.results.length > 0);
    entry.known.own = other.served.server.answer;
    t.strictSame(await (await answered).json(), { by: 'other' });
  }
  t.equal(effects.join().length, 100_000);
});

t.test('resends what a member refuses as untouched, until another one serves it', async (t) => {
  const effects: string[] = [];
  const [first, second] = [await startOf(t, 'first', effects), await startOf(t, 'second', effects)];
  const entry = await startEntry(t, 'entry');
  const answer = new Map([first, second].map((member) => [member, member.known.own]));
  let [active, standby] = [first, second];
  const texts = Array.from({ length: 200 }, (_, index) => `text ${index}`);
  for (let sent = 0; sent < texts.length; sent += 10) {
    [active, standby] = [standby, active];
    active.known.own = answer.get(active);
    standby.known.own = undefined;
    entry.known.active = peerOf(standby);
    entry.results.length = 0;
    const answered = texts.slice(sent, sent + 10).map((text) => post(entry, text));
    await when(() => entry.results.includes('misdirected'));
    entry.known.active = peerOf(active);
    for (const response of await Promise.all(answered)) {
      t.strictSame([response.status, await response.json()], [200, { by: active.name }]);
    }
  }
  t.strictSame(effects.toSorted(), texts.toSorted(), 'each once');
});

t.test('names the active member in the refusal of a forwarded request', async (t) => {
  const { owner, entry } = await startPair(t, []);
  owner.known.own = undefined;
  owner.known.active = { id: 'id-next', name: 'next', url: 'http://127.0.0.1:1' };
  const response = await fetch(`${entry.url}/name`);
  t.equal(response.status, 503);
  t.match(await response.json(), { error: /does not serve them; try again/ });
  t.strictSame(entry.results, Array(4).fill('misdirected'));
  t.strictSame(entry.warnings, ['cluster.misdirected']);
});

t.test('resends requests that a suspended service refuses', async (t) => {
  const effects: string[] = [];
  const owner = await startOf(t, 'owner', effects);
  const entry = await startEntry(t, 'entry');
  entry.known.active = peerOf(owner);
  owner.served.server.suspend();
  const answered = post(entry, 'x');
  await when(() => entry.results.includes('misdirected'));
  owner.served.server.resume();
  t.equal((await answered).status, 200);
  t.strictSame(effects, ['x']);
});

t.test('refuses a request with a long body that cannot be sent again', async (t) => {
  const entry = await startEntry(t, 'entry');
  const taken = await startRaw(t, entry, () => {});
  const answered = post(entry, 'x'.repeat(KEPT_BYTES * 20));
  await when(() => (taken[0]?.text().length ?? 0) > KEPT_BYTES * 10);
  taken[0]?.socket.write(
    'HTTP/1.1 421 Misdirected Request\r\nX-Troupe-Untouched: 1\r\nContent-Length: 0\r\n\r\n',
  );
  const response = await answered;
  t.equal(response.status, 503);
  t.equal(response.headers.get('x-troupe-untouched'), '1');
  t.equal(taken.length, 1);
});

t.test('opens a limited number of connections, and lets later requests wait', async (t) => {
  const entry = await startEntry(t, 'entry');
  const taken = await startRaw(t, entry, () => {});
  const clients = Array.from({ length: MOST_SOCKETS }, () => wire(t, entry.port, get('/x')));
  await when(() => taken.length === MOST_SOCKETS);
  const late = wire(t, entry.port, get('/late'));
  const refused = wire(t, entry.port, get('/refused'));
  t.match(await refused.until('}'), / 503 [\s\S]*too many requests are being forwarded/);
  t.equal(taken.length, MOST_SOCKETS);
  await late.until('}');

  const waiting = wire(t, entry.port, get('/waiting'));
  await settle();
  clients[0]?.socket.destroy();
  await when(() => taken.length === MOST_SOCKETS + 1);
  taken.at(-1)?.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  t.match(await waiting.until('ok'), / 200 OK/);
});

t.test('occupies no connection for bodies that arrive slowly, and refuses them in time', async (t) => {
  const entry = await startEntry(t, 'entry', { bodyTimeoutMs: 300 });
  const taken = await startRaw(t, entry, () => {});
  const head = 'POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n';
  const clients = Array.from({ length: 20 }, () => wire(t, entry.port, `${head}abc`));
  for (const client of clients) t.match(await client.until('}'), / 408 /);
  t.equal(taken.length, 0);
});
