import type { LookupAddress } from 'node:dns';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createCardReader } from '../../src/a2a/card.ts';

/** config.md 13.5 and 16, check 65. */

const CARD = { name: 'Remote', version: '1' };

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const json =
  (body: unknown, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** A local server of agents, and a reader that treats it as public under any name. */
const start = async (t: Test, answer: Answer = json(CARD)) => {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  // The server is listening on a port.
  const { port } = server.address() as AddressInfo;
  const clock = { time: 0, now: () => clock.time };
  const resolved: string[] = [];
  const here: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];
  const resolve = async (name: string): Promise<LookupAddress[]> => {
    resolved.push(name);
    return here;
  };
  const read = createCardReader({ clock, resolve, mayConnect: () => true });
  return { origin: `http://cards.example:${port}`, port, clock, requests, resolved, read };
};

t.test('reads a card at the well-known path of the origin, with the token', async (t) => {
  const { origin, requests, resolved, read } = await start(t);
  const auth = { token: 'the-token' };
  t.strictSame(await read({ base_url: `${origin}/some/agents?x=1`, auth }), {
    connected: true,
    last_error: null,
    card_url: `${origin}/.well-known/agent-card.json`,
    card: CARD,
  });
  t.match(requests, [{ method: 'GET', url: '/.well-known/agent-card.json' }]);
  t.equal(requests[0]?.headers.authorization, 'Bearer the-token');
  t.strictSame(resolved, ['cards.example'], 'the name is resolved once');
});

t.test('sends no token if none is configured', async (t) => {
  const { origin, requests, read } = await start(t);
  await read({ base_url: origin });
  t.equal(requests[0]?.headers.authorization, undefined);
});

t.test('caches a card for 15 s per definition of the server', async (t) => {
  const { origin, clock, requests, read } = await start(t);
  const [first, second] = await Promise.all([read({ base_url: origin }), read({ base_url: origin })]);
  t.equal(first, second);
  clock.time += 14_999;
  await read({ base_url: origin });
  t.equal(requests.length, 1);
  await read({ base_url: origin, auth: { token: 'x' } });
  await read({ base_url: origin, timeout_ms: 99 });
  t.equal(requests.length, 3);
  clock.time += 1;
  await read({ base_url: origin });
  t.equal(requests.length, 4);
});

t.test('caches a failure as well', async (t) => {
  const { origin, clock, requests, read } = await start(t, json({}, 503));
  const url = `${origin}/.well-known/agent-card.json`;
  const last_error = `HTTP request failed for ${url}: status 503`;
  const failed = { connected: false, last_error, card_url: null, card: null };
  t.strictSame(await read({ base_url: origin }), failed);
  t.strictSame(await read({ base_url: origin }), failed);
  t.equal(requests.length, 1);
  clock.time += 15_000;
  await read({ base_url: origin });
  t.equal(requests.length, 2);
});

const answers: [name: string, answer: Answer, last_error: RegExp][] = [
  [
    'a redirect',
    (response) => response.writeHead(302, { location: '/card' }).end(),
    /^HTTP request failed for http.*card.json: status 302$/,
  ],
  ['an error', json(CARD, 404), /^HTTP request failed for .*: status 404$/],
  [
    'text',
    (response) => response.end('hello'),
    /^failed to decode agent card from http.*: .*not a JSON object$/,
  ],
  ['a list', json([CARD]), /not a JSON object$/],
  ['more than 256 KiB', json({ text: 'x'.repeat(256 * 1024) }), /more than 262144 bytes$/],
  [
    'half a card',
    (response) => response.writeHead(200, { 'content-length': '9' }).end('{', () => response.destroy()),
    /./,
  ],
];
for (const [name, answer, last_error] of answers) {
  t.test(`rejects ${name} as a card`, async (t) => {
    const { origin, requests, read } = await start(t, answer);
    t.match(await read({ base_url: origin }), { connected: false, last_error, card_url: null, card: null });
    t.equal(requests.length, 1);
  });
}

t.test('accepts a card of 256 KiB', async (t) => {
  const size = 256 * 1024;
  const text = 'x'.repeat(size - JSON.stringify({ text: '' }).length);
  const { origin, read } = await start(t, json({ text }));
  t.match(await read({ base_url: origin }), { connected: true, card: { text } });
});

for (const [name, answer] of [
  ['is silent', () => {}],
  ['starts a response and does not end it', (response: ServerResponse) => response.writeHead(200).write('{')],
] as const) {
  t.test(`aborts a server that ${name} in time`, async (t) => {
    const { origin, read } = await start(t, answer);
    t.match(await read({ base_url: origin, timeout_ms: 50 }), {
      last_error: /^HTTP request failed .*: no answer within 50 ms$/,
    });
  });
}

/** Like `start`, but limited to public addresses, and names resolve to these. */
const strict = async (t: Test, addresses: readonly string[]) => {
  const { port, requests } = await start(t);
  const resolved: string[] = [];
  const read = createCardReader({
    clock: { now: () => 0 },
    async resolve(name) {
      resolved.push(name);
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
  });
  return { port, requests, resolved, read };
};

t.test('rejects local names without resolving them', async (t) => {
  const { port, requests, resolved, read } = await strict(t, ['127.0.0.1']);
  for (const host of ['localhost', 'LOCALHOST', 'a.localhost', 'localhost.', 'a.b.localhost']) {
    const last_error = 'A2A discovery URL host is not allowed';
    t.match(await read({ base_url: `http://${host}:${port}` }), { last_error }, host);
  }
  t.strictSame([requests.length, resolved.length], [0, 0]);
});

t.test('accepts local names that resolve to allowed addresses', async (t) => {
  const { port, read } = await start(t);
  t.match(await read({ base_url: `http://localhost:${port}` }), { connected: true });
});

t.test('rejects a non-public address in any notation', async (t) => {
  const { port, requests, read } = await strict(t, []);
  const hosts = ['127.0.0.1', '2130706433', '0x7f.1', '0', '[::1]', '[::ffff:127.0.0.1]', '[::127.0.0.1]'];
  for (const host of hosts) {
    const { last_error } = await read({ base_url: `http://${host}:${port}` });
    t.match(last_error, 'A2A discovery URL resolves to a non-public address: ', host);
  }
  t.equal(requests.length, 0);
  t.match(await createCardReader({ clock: { now: Date.now } })({ base_url: 'http://127.0.0.1:9' }), {
    connected: false,
    last_error: /non-public/,
  });
});

t.test('rejects a name that resolves to a non-public address, and resolves it once', async (t) => {
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['2606:4700::1', '::1']]) {
    const { port, requests, resolved, read } = await strict(t, addresses);
    const { last_error } = await read({ base_url: `http://evil.example:${port}` });
    t.match(last_error, /^A2A discovery URL resolves to a non-public address: (127.0.0.1|::1)$/);
    t.strictSame([requests.length, resolved.length], [0, 1]);
  }
});

t.test('keeps the checked address if the name resolves differently later', async (t) => {
  const { port, requests } = await start(t);
  const answers = ['127.0.0.1', '169.254.169.254'];
  const checked: string[] = [];
  const read = createCardReader({
    clock: { now: () => 0 },
    resolve: async () => [{ address: answers.shift() ?? '', family: 4 }],
    mayConnect(address) {
      checked.push(address);
      return true;
    },
  });
  t.match(await read({ base_url: `http://moving.example:${port}` }), { connected: true });
  t.strictSame(checked, ['127.0.0.1'], 'the request uses the checked address');
  t.equal(requests.length, 1);
});

t.test('reports an unknown name', async (t) => {
  const { port, read } = await strict(t, []);
  t.match(await read({ base_url: `http://nobody.example:${port}` }), { last_error: /no address/ });
  const failing = createCardReader({
    clock: { now: () => 0 },
    resolve: async () => {
      throw new Error('getaddrinfo ENOTFOUND x');
    },
  });
  t.match(await failing({ base_url: 'http://x.example' }), { last_error: /ENOTFOUND/ });
});

t.test('reports an invalid URL', async (t) => {
  const { read } = await strict(t, []);
  for (const base_url of ['nowhere', 'ftp://example.com', '']) {
    t.match(await read({ base_url }), { connected: false, last_error: String });
  }
});
