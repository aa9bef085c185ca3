import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createA2aDiscovery } from '../../src/a2a/discovery.ts';
import { A2aServerSpec } from '../../src/schema/a2a-server.ts';
import { startPlane } from '../configuration/control-plane/plane.ts';
import { startSdkAgent } from './remote/sdk-agent.ts';

/** a2a.md 13.2; 19, check 58. */

type Deps = Parameters<typeof createA2aDiscovery>[0];
type Answer = (response: ServerResponse) => void;

const card = (more: object = {}) => ({
  name: 'Remote Helper!',
  description: 'Helps',
  supportedInterfaces: [
    { url: 'https://agents.example/a2a', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ],
  ...more,
});

const json =
  (body: unknown, status = 200): Answer =>
  (response) =>
    response.writeHead(status).end(JSON.stringify(body));

/** A server with a card that the test sets. */
const startServer = async (t: Test, first: Answer) => {
  const requests: IncomingMessage[] = [];
  const state = { answer: first };
  const server = createServer((request, response) => {
    requests.push(request);
    state.answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  // The server is listening on a port.
  const { port } = server.address() as AddressInfo;
  return { base_url: `http://127.0.0.1:${port}`, requests, state };
};

/** Discovery with simulated time; the test triggers the retries. */
const startDiscovery = (t: Test, more: Partial<Deps> = {}) => {
  const clock = { time: 1_000_000, now: () => clock.time };
  const retries: { run: () => void; ms: number }[] = [];
  const warnings: object[] = [];
  const waiting: (() => void)[] = [];
  let changes = 0;
  const discovery = createA2aDiscovery({
    clock,
    log: { warn: (_, fields = {}) => void warnings.push(fields) },
    changed() {
      changes++;
      for (const wake of waiting.splice(0)) wake();
    },
    mayConnect: () => true,
    timers: {
      setTimeout(run, ms) {
        const retry = { run, ms };
        retries.push(retry);
        for (const wake of waiting.splice(0)) wake();
        return retry;
      },
      clearTimeout(retry) {
        retries.splice(0, retries.length, ...retries.filter((each) => each !== retry));
      },
    },
    ...more,
  });
  t.teardown(discovery.close);
  return {
    ...discovery,
    clock,
    retries,
    warnings,
    changes: () => changes,
    /** Resolves when agents have changed or a retry is set. */
    news: () => new Promise<void>((resolve) => waiting.push(resolve)),
    ids: () => discovery.discovered().map(({ id, registry }) => `${registry}/${id}`),
  };
};

const spec = (id: string, base_url: string, more: object = {}): A2aServerSpec =>
  A2aServerSpec.parse({ id, base_url, ...more });

/** Waits enough event-loop ticks for pending requests to arrive and complete. */
const quiet = async (): Promise<void> => {
  for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
};

t.test('adds the agent of a card once the card was received', async (t) => {
  const { base_url, requests } = await startServer(t, json(card()));
  const { apply, discovered, news, changes } = startDiscovery(t);
  const auth = { type: 'bearer', token: 'secret' };
  apply([
    spec('east', `${base_url}/some/path`, {
      auth,
      auth_origins: ['https://agents.example/'],
      options: { poll_interval_ms: 5 },
    }),
  ]);
  t.strictSame([discovered(), changes()], [[], 0]);
  await news();
  t.match(discovered(), [
    {
      id: 'remote-helper',
      description: 'Helps',
      model_id: '',
      system_prompt: '',
      registry: 'east',
      endpoint: {
        backend: 'a2a',
        base_url: 'https://agents.example/a2a',
        auth,
        target: undefined,
        timeout_ms: 300_000,
        options: { poll_interval_ms: 5, a2a_server_id: 'east' },
      },
    },
  ]);
  t.equal(changes(), 1);
  t.equal(requests[0]?.url, '/.well-known/agent-card.json');
  t.equal(requests[0]?.headers.authorization, 'Bearer secret');
});

const http = { url: 'https://agents.example/a2a', protocolBinding: 'http+json', protocolVersion: '1.0' };
const cards: [name: string, card: object, agent: object][] = [
  [
    'the tenant is the id of the agent and its target',
    { supportedInterfaces: [{ ...http, tenant: 'helper' }] },
    {
      id: 'helper',
      endpoint: { target: 'helper' },
    },
  ],
  [
    'agentId is the id of the agent',
    { supportedInterfaces: [{ ...http, agentId: 'helper' }] },
    { id: 'helper' },
  ],
  [
    'agent_id is the id of the agent',
    { supportedInterfaces: [{ ...http, tenant: '', agent_id: 'helper' }] },
    { id: 'helper' },
  ],
  [
    'prefers the 1.0 interface to an older one',
    {
      supportedInterfaces: [{ ...http, url: 'https://old.example', protocolVersion: '0.3' }, http],
    },
    { endpoint: { base_url: http.url } },
  ],
  [
    'uses an older interface if there is no other',
    {
      supportedInterfaces: [
        { ...http, protocolBinding: 'JSONRPC' },
        { ...http, url: 'https://old.example', protocolVersion: '0.3' },
      ],
    },
    { endpoint: { base_url: 'https://old.example' } },
  ],
  ['ignores a name without letters as an id', { name: '¿¡' }, { id: 'agent' }],
  ['converts a name to lower case with dashes', { name: '--Über Agent  2--' }, { id: 'ber-agent-2' }],
];
for (const [name, more, agent] of cards) {
  t.test(name, async (t) => {
    const { base_url } = await startServer(t, json(card(more)));
    const { apply, discovered, news } = startDiscovery(t);
    apply([spec('east', base_url)]);
    await news();
    t.match(discovered(), [agent]);
  });
}

t.test('prefers the target of the server over that of the card', async (t) => {
  const { base_url } = await startServer(t, json(card({ supportedInterfaces: [{ ...http, tenant: 'a' }] })));
  const { apply, discovered, news } = startDiscovery(t);
  apply([spec('east', base_url, { target: 'b' })]);
  await news();
  t.match(discovered(), [{ id: 'a', endpoint: { target: 'b' } }]);
});

const useless: [name: string, answer: Answer, problem: RegExp][] = [
  [
    'no interface',
    json(card({ supportedInterfaces: 5 })),
    /does not expose a supported HTTP\+JSON v1.0 interface/,
  ],
  [
    'JSON-RPC only',
    json(card({ supportedInterfaces: [{ ...http, protocolBinding: 'JSONRPC' }] })),
    /does not expose/,
  ],
  [
    'an address with a query',
    json(card({ supportedInterfaces: [{ ...http, url: 'https://a.example?x=1' }] })),
    /query/,
  ],
  ['an invalid address', json(card({ supportedInterfaces: [{ ...http, url: 'here' }] })), /without a URL/],
  ['another scheme', json(card({ supportedInterfaces: [{ ...http, url: 'ftp://a.example' }] })), /http/],
  ['more than 256 KiB', json(card({ more: 'x'.repeat(256 * 1024) })), /more than/],
  ['no card', json({}, 404), /404/],
];
for (const [name, answer, problem] of useless) {
  t.test(`finds no agent on a server with ${name}, and retries`, async (t) => {
    const { base_url } = await startServer(t, answer);
    const { apply, discovered, news, warnings, retries, changes } = startDiscovery(t);
    apply([spec('east', base_url)]);
    await news();
    t.strictSame([discovered(), changes(), retries.length], [[], 0, 1]);
    t.match(warnings, [{ server: 'east', problem }]);
  });
}

t.test('retries an unresponsive server with increasing delays, and logs it once', async (t) => {
  const { base_url, state } = await startServer(t, json({}, 503));
  const { apply, retries, news, warnings, ids, changes } = startDiscovery(t);
  apply([spec('east', base_url)]);
  const pauses: number[] = [];
  for (let tries = 0; tries < 11; tries++) {
    await news();
    const retry = retries.pop();
    pauses.push((retry?.ms ?? 0) / 1000);
    if (tries === 10) state.answer = json(card());
    retry?.run();
  }
  t.strictSame(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  t.equal(warnings.length, 1);
  await news();
  t.strictSame([ids(), changes()], [['east/remote-helper'], 1]);
});

t.test('contacts servers concurrently and keeps their order', async (t) => {
  let release = (): void => {};
  const slow = await startServer(t, (response) => {
    release = () => json(card({ name: 'Slow' }))(response);
  });
  const fast = await startServer(t, json(card({ name: 'Fast' })));
  const { apply, ids, news } = startDiscovery(t);
  apply([spec('a', slow.base_url), spec('b', fast.base_url)]);
  await news();
  t.strictSame(ids(), ['b/fast']);
  while (slow.requests.length === 0) await new Promise(setImmediate);
  release();
  await news();
  t.strictSame(ids(), ['a/slow', 'b/fast']);
});

t.test('warns about two servers with agents of the same id', async (t) => {
  const { base_url } = await startServer(t, json(card()));
  const { apply, ids, news, warnings } = startDiscovery(t);
  apply([spec('a', base_url), spec('b', base_url)]);
  while (ids().length < 2) await news();
  t.match(warnings, [{ agent: 'remote-helper', servers: ['a', 'b'] }]);
});

t.test('ignores the publication that follows a change', async (t) => {
  const { base_url, requests } = await startServer(t, json(card()));
  const { apply, news, changes } = startDiscovery(t);
  apply([spec('east', base_url)]);
  await news();
  apply([spec('east', base_url)]);
  await quiet();
  t.strictSame([requests.length, changes()], [1, 1]);
});

t.test('reads a card again on a later publication, and keeps the last valid one on failure', async (t) => {
  const { base_url, requests, state } = await startServer(t, json(card()));
  const { apply, clock, ids, news, changes, retries } = startDiscovery(t);
  apply([spec('east', base_url)]);
  await news();
  clock.time += 15_000;
  state.answer = json({}, 500);
  apply([spec('east', base_url)]);
  await news();
  t.strictSame([ids(), requests.length, changes()], [['east/remote-helper'], 2, 1]);
  apply([spec('east', base_url)]);
  t.equal(retries.length, 1, 'the scheduled retry and the publication read the card once');
  state.answer = json(card({ name: 'Renamed' }));
  retries.pop()?.run();
  await news();
  t.strictSame([ids(), changes()], [['east/renamed'], 2]);
});

t.test('keeps the agent of a changed entry, and reads its card at once', async (t) => {
  const { base_url, requests } = await startServer(t, json(card()));
  const { apply, discovered, news } = startDiscovery(t);
  apply([spec('east', base_url)]);
  await news();
  const auth = { type: 'bearer', token: 'new' };
  apply([spec('east', base_url, { auth, auth_origins: ['https://agents.example'] })]);
  t.match(discovered(), [{ endpoint: { auth: { token: 'new' } } }]);
  while (requests.length < 2) await new Promise(setImmediate);
  t.equal(requests[1]?.headers.authorization, 'Bearer new');
});

t.test('sends the token to the origins of the entry only, and names both origins otherwise', async (t) => {
  const { base_url } = await startServer(t, json(card()));
  const { apply, discovered, news, warnings } = startDiscovery(t);
  const auth = { type: 'bearer', token: 'secret' };
  apply([spec('east', base_url, { auth, auth_origins: ['https://other.example'] })]);
  await news();
  t.strictSame(discovered(), []);
  const [{ problem }] = warnings as [{ problem: string }];
  for (const named of [base_url, 'https://agents.example', 'auth_origins'])
    t.ok(problem.includes(named), named);
  t.notMatch(problem, /secret/);
  apply([spec('east', base_url, { auth, auth_origins: ['https://agents.example'] })]);
  await news();
  t.match(discovered(), [
    { endpoint: { base_url: 'https://agents.example/a2a', auth: { token: 'secret' } } },
  ]);
  apply([spec('east', base_url)]);
  t.match(discovered(), [{ endpoint: { auth: undefined } }], 'without a token, any interface is used');
});

t.test('drops the agent of an entry with a new URL until the other server responds', async (t) => {
  const { base_url } = await startServer(t, json(card()));
  const other = await startServer(t, json(card({ name: 'Other' })));
  const { apply, ids, news, changes } = startDiscovery(t);
  apply([spec('east', base_url)]);
  await news();
  apply([spec('east', other.base_url)]);
  t.strictSame([ids(), changes()], [[], 2]);
  await news();
  t.strictSame(ids(), ['east/other']);
});

t.test('drops a response to an earlier version of an entry', async (t) => {
  let release = (): void => {};
  const old = await startServer(t, (response) => {
    release = () => json(card({ name: 'Old' }))(response);
  });
  const { base_url } = await startServer(t, json(card({ name: 'New' })));
  const { apply, ids, news } = startDiscovery(t);
  apply([spec('east', old.base_url)]);
  while (old.requests.length === 0) await new Promise(setImmediate);
  apply([spec('east', base_url)]);
  await news();
  release();
  await quiet();
  t.strictSame(ids(), ['east/new']);
});

t.test('drops the agent of a removed server, and does not retry', async (t) => {
  const { base_url } = await startServer(t, json(card()));
  const failing = await startServer(t, json({}, 500));
  const { apply, ids, news, changes, retries } = startDiscovery(t);
  apply([spec('east', base_url), spec('west', failing.base_url)]);
  while (ids().length === 0 || retries.length === 0) await news();
  apply([]);
  t.strictSame([ids(), retries.length, changes()], [[], 0, 2]);
});

t.test('connects to entries at public addresses only', async (t) => {
  const { base_url, requests } = await startServer(t, json(card()));
  const { apply, news, warnings } = startDiscovery(t, { mayConnect: () => false });
  apply([spec('east', base_url)]);
  await news();
  t.match(warnings, [{ problem: /non-public/ }]);
  t.equal(requests.length, 0);
});

t.test('rejects a card that points to a forbidden address', async (t) => {
  const inside = card({ supportedInterfaces: [{ ...http, url: 'http://10.1.2.3/a2a' }] });
  const { base_url } = await startServer(t, json(inside));
  const mayConnect = (address: string) => address === '127.0.0.1';
  const { apply, news, warnings, discovered } = startDiscovery(t, { mayConnect });
  apply([spec('east', base_url)]);
  await news();
  t.match(warnings, [{ problem: /non-public address: 10.1.2.3/ }]);
  t.strictSame(discovered(), []);
});

t.test('allows any address for the server of the settings, named remote', async (t) => {
  const { origin } = await startSdkAgent(t, async () => {});
  const remote = { base_url: origin, token: 'secret' };
  const { apply, discovered, news } = startDiscovery(t, { remote, mayConnect: () => false });
  apply([]);
  await news();
  t.match(discovered(), [
    {
      id: 'sdk-agent',
      registry: 'remote',
      endpoint: {
        base_url: `${origin}/a2a`,
        auth: { token: 'secret' },
        options: { a2a_server_id: 'remote' },
      },
    },
  ]);
});

t.test('prefers an entry named remote over the server of the settings, without its rights', async (t) => {
  const { base_url, requests } = await startServer(t, json(card()));
  const remote = { base_url };
  const { apply, ids, news, warnings } = startDiscovery(t, { remote, mayConnect: () => false });
  apply([]);
  await news();
  t.strictSame(ids(), ['remote/remote-helper']);
  apply([spec('remote', base_url)]);
  t.strictSame(ids(), []);
  await news();
  t.match(warnings, [{ server: 'remote', problem: /non-public/ }]);
  t.equal(requests.length, 1);
});

t.test('publishes an agent that is found late, and removes it with its server', async (t) => {
  const { base_url } = await startServer(t, json(card()));
  let published = (): void => {};
  const publication = () =>
    new Promise<void>((resolve) => {
      published = resolve;
    });
  const a2a = startDiscovery(t, {
    changed: () => void plane.live.refresh().then(() => published()),
  });
  const plane = await startPlane(t, { more: { a2a } });
  const found = publication();
  await plane.create('a2a-servers', { id: 'east', base_url });
  t.strictSame(plane.service.capabilities().agents, [], 'the entry was published before its card was read');
  await found;
  t.strictSame(plane.service.capabilities().agents, ['east/remote-helper']);
  const gone = publication();
  await plane.remove('a2a-servers', 'east');
  await gone;
  t.strictSame(plane.service.capabilities().agents, []);
});

t.test('reports nothing after it was closed', async (t) => {
  const { base_url } = await startServer(t, json(card()));
  const { apply, close, changes } = startDiscovery(t);
  apply([spec('east', base_url)]);
  close();
  await quiet();
  t.equal(changes(), 0);
});
