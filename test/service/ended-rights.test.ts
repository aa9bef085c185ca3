import t, { type Test } from 'tap';
import { AUDIENCE, startProvider } from '../identity/issuers/provider.ts';
import { openBrowser } from './browser.ts';
import { ask, type Got } from './http.ts';
import { mcpClient, rpc } from './mcp/mcp.ts';
import { readBlocks } from './stream.ts';
import { ADMIN_TOKEN, eventually, startTroupe, type Troupe, type TroupeOptions } from './troupe.ts';

/** Streams end with the rights of their principals, and runs continue: identity.md 1.5, and checks 41 and 42. */

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const admin = bearer(ADMIN_TOKEN);

type Person = { id: string; key: string; keyId: string };

type Service = {
  troupe: Troupe;
  alice: Person;
  bob: Person;
  /** Calls as the admin; returns the body. @throws for other statuses than 2xx */
  change(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Calls as a user. @throws for other statuses than 2xx */
  as(person: Person, method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
};

const startService = async (t: Test, options: TroupeOptions = {}): Promise<Service> => {
  const troupe = await startTroupe(t, {
    ...options,
    settings: { ...options.settings, identity: { anonymous: 'never' } },
  });
  const call = async (method: string, path: string, body: unknown, head: Record<string, string>) => {
    const answer = await troupe.call(method, path, body, head);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.body;
  };
  const change: Service['change'] = (method, path, body) => call(method, path, body, admin);
  const person = async (id: string, more: object = {}): Promise<Person> => {
    const new_user = { kind: 'person', grants: ['member'] };
    const { key, id: keyId } = await change('POST', '/v1/keys', { name: id, user: id, new_user, ...more });
    return { id, key: String(key), keyId: String(keyId) };
  };
  return {
    troupe,
    alice: await person('alice'),
    bob: await person('bob'),
    change,
    as: ({ key }, method, path, body) => call(method, path, body, bearer(key)),
  };
};

/** A thread that Alice shares, on which a run of hers waits for its model. */
type Shared = { thread: string; run: string; own: Reading };

type Reading = {
  /** The next block; undefined at the end. */
  next(): Promise<string | undefined>;
  /** Everything received so far. */
  raw(): string;
};

/** Opens a stream and reads its first block. */
const open = async (troupe: Troupe, key: string, path: string, body?: object): Promise<Reading> => {
  const json = { 'content-type': 'application/json' };
  const got: Got = await ask(troupe.url + path, {
    method: body ? 'POST' : 'GET',
    headers: { ...bearer(key), ...(body && json) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (got.status !== 200) throw new Error(`${path}: ${got.status} ${await got.text()}`);
  const { next, raw } = readBlocks(got);
  await next();
  return { next, raw };
};

/** Resolves when the server has ended the stream. */
const drain = async ({ next }: Pick<Reading, 'next'>): Promise<void> => {
  while ((await next()) !== undefined);
};

const waitingIn =
  ({ models }: Troupe) =>
  async () =>
    models.waiting();
const isOne = (count: number): boolean => count === 1;

const MCP = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

const hello = [{ role: 'user', content: 'Hello' }];
const chatHello = (id: string) => [{ id, role: 'user', parts: [{ type: 'text', text: 'Hello' }] }];

/** @param visibility what Alice allows other users */
const share = async (
  { troupe, alice, as }: Service,
  visibility: string,
  start = (thread: string) =>
    open(troupe, alice.key, '/v1/runs', { agentId: 'slow', threadId: thread, messages: hello }),
): Promise<Shared> => {
  const thread = String((await as(alice, 'POST', '/v1/threads', {})).id);
  await as(alice, 'PATCH', `/v1/threads/${thread}`, { visibility });
  const own = await start(thread);
  const { items } = await as(alice, 'GET', `/v1/threads/${thread}/runs`);
  const [run] = items as { run_id: string }[];
  return { thread, run: run?.run_id ?? '', own };
};

const finishes = async ({ troupe, alice, as }: Service, { run }: Pick<Shared, 'run'>): Promise<unknown> => {
  troupe.models.releaseAll();
  const done = await eventually(
    () => as(alice, 'GET', `/v1/runs/${run}`),
    ({ status }) => status === 'done',
  );
  return (done.termination_reason as { type: string }).type;
};

/** The streams of other users on a thread with an executing run. */
const FOLLOWED: Record<string, (shared: Shared) => string> = {
  'events of a thread': ({ thread }) => `/v1/threads/${thread}/events/stream`,
  'events of a run': ({ run }) => `/v1/runs/${run}/events/stream`,
  'a subscription to a task': ({ run }) => `/v1/a2a/tasks/${run}:subscribe`,
};

/** The changes after which Bob may no longer follow the thread of Alice. */
const CHANGES: Record<string, (service: Service, shared: Shared) => Promise<unknown>> = {
  'the key is revoked': ({ bob, change }) => change('DELETE', `/v1/keys/${bob.keyId}`),
  'the user is disabled': ({ change }) => change('PATCH', '/v1/users/bob', { disabled: true }),
  'the user is deleted': ({ change }) => change('DELETE', '/v1/users/bob'),
  'the grant is taken': ({ change }) => change('PATCH', '/v1/users/bob', { grants: ['keys'] }),
  'the key is narrowed': ({ bob, change }) =>
    change('PATCH', `/v1/keys/${bob.keyId}`, { grants: ['decide'] }),
  'the visibility is narrowed': ({ alice, as }, { thread }) =>
    as(alice, 'PATCH', `/v1/threads/${thread}`, { visibility: 'private' }),
};

for (const [change, make] of Object.entries(CHANGES)) {
  t.test(`ends the streams of another user when ${change} (check 42)`, async (t) => {
    const service = await startService(t);
    const { troupe, bob } = service;
    const shared = await share(service, 'read');
    const readings = await Promise.all(
      Object.values(FOLLOWED).map((path) => open(troupe, bob.key, path(shared))),
    );
    await make(service, shared);
    await Promise.all(readings.map(drain));
    t.equal(troupe.models.waiting(), 1, 'the run continues');
    t.equal(await finishes(service, shared), 'natural_end');
    await drain(shared.own);
  });

  t.test(`ends a resumed chat stream when ${change} (check 42)`, async (t) => {
    const service = await startService(t);
    const { troupe, alice, bob } = service;
    const shared = await share(service, 'read', (thread) =>
      open(troupe, alice.key, '/v1/ai-sdk/chat', { id: thread, agentId: 'slow', messages: chatHello('m1') }),
    );
    const resumed = await open(troupe, bob.key, `/v1/ai-sdk/chat/${shared.thread}/stream`);
    await make(service, shared);
    await drain(resumed);
    t.equal(await finishes(service, shared), 'natural_end');
    await drain(shared.own);
  });
}

const USER_CHANGES: Record<string, (service: Service) => Promise<unknown>> = {
  'the key is revoked': ({ alice, change }) => change('DELETE', `/v1/keys/${alice.keyId}`),
  'the user is disabled': ({ change }) => change('PATCH', '/v1/users/alice', { disabled: true }),
  'the grant is taken': ({ change }) => change('PATCH', '/v1/users/alice', { grants: ['read:all'] }),
  'the agent is taken': ({ change }) => change('PATCH', '/v1/users/alice', { grants: ['invoke:echo'] }),
};

/** The responses of requests that start a run. */
const STARTED: Record<string, { path: string; body: object }> = {
  'of the native protocol': { path: '/v1/runs', body: { agentId: 'slow', messages: hello } },
  'of chat v6': { path: '/v1/ai-sdk/chat', body: { agentId: 'slow', messages: chatHello('m1') } },
  'of AG-UI': {
    path: '/v1/ag-ui/run',
    body: { agentId: 'slow', messages: [{ id: 'm1', role: 'user', content: 'Hello' }] },
  },
  'of A2A': {
    path: '/v1/a2a/slow/message:stream',
    body: { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] } },
  },
};

const onlyRun = async ({ change }: Service): Promise<Record<string, unknown>> => {
  const { items } = await change('GET', '/v1/runs');
  return (items as Record<string, unknown>[])[0] ?? {};
};

const endsNaturally = async (service: Service): Promise<unknown> => {
  service.troupe.models.releaseAll();
  const run = await eventually(
    () => onlyRun(service),
    ({ status }) => status === 'done',
  );
  return (run.termination_reason as { type: string }).type;
};

for (const [change, make] of Object.entries(USER_CHANGES)) {
  for (const [name, { path, body }] of Object.entries(STARTED)) {
    t.test(`ends the stream ${name} that started a run when ${change}`, async (t) => {
      const service = await startService(t);
      const { troupe, alice } = service;
      const started = await open(troupe, alice.key, path, body);
      await eventually(waitingIn(troupe), isOne);
      await make(service);
      await drain(started);
      t.equal(troupe.models.waiting(), 1, 'the run continues');
      t.equal(await endsNaturally(service), 'natural_end');
    });
  }
}

t.test('keeps streams whose principal would still be accepted', async (t) => {
  const service = await startService(t);
  const { troupe, alice, bob, change, as } = service;
  const shared = await share(service, 'write');
  const reading = await open(troupe, bob.key, `/v1/threads/${shared.thread}/events/stream`);
  await change('PATCH', '/v1/users/bob', { grants: ['read:own', 'keys'] });
  await change('DELETE', `/v1/keys/${String((await as(bob, 'POST', '/v1/keys', { name: 'other' })).id)}`);
  await as(alice, 'PATCH', `/v1/threads/${shared.thread}`, { visibility: 'read' });
  await change('POST', '/v1/users/bob/sign-out');
  await as(alice, 'PATCH', `/v1/threads/${shared.thread}`, { title: 'still followed' });
  while (!reading.raw().includes('still followed')) t.ok(await reading.next(), 'the stream continues');
  await as(alice, 'PATCH', `/v1/threads/${shared.thread}`, { visibility: 'private' });
  await drain(reading);
  t.equal(await finishes(service, shared), 'natural_end');
  await drain(shared.own);
  t.match(shared.own.raw(), 'run_finish', 'the stream of the owner continues');
});

t.test('ends streams of end users with the key that acts for them', async (t) => {
  const service = await startService(t);
  const { troupe, change } = service;
  const made = await change('POST', '/v1/keys', {
    name: 'front',
    user: 'front',
    new_user: { kind: 'service', grants: ['act', 'member'] },
  });
  const got = await ask(`${troupe.url}/v1/runs`, {
    method: 'POST',
    headers: {
      ...bearer(String(made.key)),
      'content-type': 'application/json',
      'x-service-user': 'end-user',
    },
    body: JSON.stringify({ agentId: 'slow', messages: hello }),
  });
  const blocks = readBlocks(got);
  await blocks.next();
  await change('PATCH', '/v1/users/front', { grants: ['member'] });
  await drain(blocks);
  t.equal(await endsNaturally(service), 'natural_end');
});

t.test('ends operator streams when the grant is taken', async (t) => {
  const service = await startService(t);
  const { troupe, alice, change } = service;
  await change('PATCH', '/v1/users/alice', { grants: ['observe'] });
  const reading = await open(troupe, alice.key, '/v1/system/actors/stream');
  await change('PATCH', '/v1/users/alice', { grants: ['member'] });
  await drain(reading);
});

for (const [change, make] of Object.entries(USER_CHANGES).slice(0, 3)) {
  t.test(
    `ends MCP sessions and their streams when ${change}, and the run continues (check 42)`,
    async (t) => {
      const service = await startService(t);
      const { troupe, alice, change: set } = service;
      const second = await set('POST', '/v1/keys', { name: 'second', user: 'alice' });
      const { post, stream } = mcpClient(() => troupe.url);
      const about = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 't', version: '1' },
      };
      const opened = await post(rpc(1, 'initialize', about), { ...MCP, ...bearer(alice.key) });
      const session = { ...MCP, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
      const call = rpc(2, 'tools/call', { name: 'slow', arguments: { message: 'Hello' } });
      const answer = await stream(call, { ...session, ...bearer(alice.key) });
      await eventually(waitingIn(troupe), isOne);
      await make(service);
      await answer.rest();
      await set('PATCH', '/v1/users/alice', { grants: ['member'], disabled: false });
      const after = await post(rpc(3, 'tools/list'), { ...session, ...bearer(String(second.key)) });
      t.equal(after.status, 404, 'the session has ended');
      t.equal(troupe.models.waiting(), 1, 'the run continues');
      t.equal(await endsNaturally(service), 'natural_end');
    },
  );

  t.test(`ends an MCP stream without a session when ${change}, and the run continues`, async (t) => {
    const service = await startService(t);
    const { troupe, alice } = service;
    const { stream } = mcpClient(() => troupe.url);
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const call = rpc(1, 'tools/call', { name: 'slow', arguments: { message: 'Hello' }, _meta });
    const answer = await stream(call, {
      ...MCP,
      ...bearer(alice.key),
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'slow',
    });
    t.equal(answer.status, 200);
    await eventually(waitingIn(troupe), isOne);
    await make(service);
    await answer.rest();
    t.equal(troupe.models.waiting(), 1, 'the run continues');
    t.equal(await endsNaturally(service), 'natural_end');
  });
}

t.test(
  'ends the stream of an MCP call with the grant of its agent, and keeps the session (check 42)',
  async (t) => {
    const service = await startService(t);
    const { troupe, alice, change } = service;
    const { post, stream } = mcpClient(() => troupe.url);
    const opened = await post(rpc(1, 'initialize'), { ...MCP, ...bearer(alice.key) });
    const session = {
      ...MCP,
      ...bearer(alice.key),
      'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
    };
    const call = await stream(
      rpc(2, 'tools/call', { name: 'slow', arguments: { message: 'Hello' } }),
      session,
    );
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const alone = await stream(
      rpc(1, 'tools/call', { name: 'slow', arguments: { message: 'Hello' }, _meta }),
      {
        ...MCP,
        ...bearer(alice.key),
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'slow',
      },
    );
    await eventually(waitingIn(troupe), (count) => count === 2);
    await change('PATCH', '/v1/users/alice', { grants: ['invoke:echo'] });
    const [inSession, withoutSession] = await Promise.all([call.rest(), alone.rest()]);
    t.notOk(
      inSession.some(({ result }) => result),
      'no result was sent',
    );
    t.notOk(withoutSession.some(({ result }) => result));
    t.equal(troupe.models.waiting(), 2, 'the runs continue');
    t.equal((await post(rpc(3, 'tools/list'), session)).status, 200, 'the session continues');
    troupe.models.releaseAll();
  },
);

t.test('ends streams that follow when their key expires; that of a run continues (check 41)', async (t) => {
  const service = await startService(t);
  const { troupe, alice, as, change } = service;
  const made = await change('POST', '/v1/keys', { name: 'short', user: 'alice', expires_in_secs: 1 });
  const key = String(made.key);
  const thread = String((await as(alice, 'POST', '/v1/threads', {})).id);
  const [run, following] = await Promise.all([
    open(troupe, key, '/v1/runs', { agentId: 'slow', threadId: thread, messages: hello }),
    open(troupe, key, `/v1/threads/${thread}/events/stream`),
  ]);
  await drain(following);
  await change('PATCH', '/v1/users/alice', { name: 'Alice' });
  troupe.models.releaseAll();
  await drain(run);
  t.match(run.raw(), 'run_finish');
});

t.test('ends the streams of a token when its user signs out or loses a grant (check 42)', async (t) => {
  const provider = await startProvider(t);
  const issuer = {
    id: 'acme',
    issuer: provider.issuer,
    audiences: [AUDIENCE],
    claims: { roles: 'groups' },
    map: { users: ['read:own'] },
  };
  const troupe = await startTroupe(t, { settings: { identity: { issuers: [issuer] } } });
  const issuedAt = Math.floor(Date.now() / 1000) - 10;
  const token = await provider.sign({ groups: ['users'], iat: issuedAt, exp: issuedAt + 600 });
  const path = '/v1/threads/new/events/stream';
  const reading = await open(troupe, token, path);
  await troupe.call('PATCH', '/v1/users/00u1', { grants: ['member'] }, admin);
  const started = await open(troupe, token, '/v1/runs', { agentId: 'slow', messages: hello });
  await troupe.call('PATCH', '/v1/users/00u1', { grants: [] }, admin);
  await drain(started);
  t.equal(troupe.models.waiting(), 1, 'the run continues');
  await troupe.call('POST', '/v1/users/00u1/sign-out', undefined, admin);
  await drain(reading);
});

t.test('ends streams that follow when their token expires (check 41)', async (t) => {
  const provider = await startProvider(t);
  const issuer = { id: 'acme', issuer: provider.issuer, audiences: [AUDIENCE], default_grants: ['read:own'] };
  const troupe = await startTroupe(t, { settings: { identity: { issuers: [issuer] } } });
  const now = Math.floor(Date.now() / 1000);
  const token = await provider.sign({ iat: now - 10, exp: now + 2 });
  await drain(await open(troupe, token, '/v1/threads/new/events/stream'));
});

t.test('a session made from a token ends with it, except the stream of a run (check 41)', async (t) => {
  const provider = await startProvider(t);
  const issuer = { id: 'acme', issuer: provider.issuer, audiences: [AUDIENCE], default_grants: ['member'] };
  const troupe = await startTroupe(t, { settings: { identity: { issuers: [issuer] } } });
  const now = Math.floor(Date.now() / 1000);
  const token = await provider.sign({ iat: now - 10, exp: now + 3 });
  const browser = openBrowser(troupe);
  const made = await browser.call('POST', '/v1/session', undefined, bearer(token));
  t.match(made, { status: 201, body: { user: '00u1', credential: { kind: 'session' } } });
  const session = browser.cookies.get('__Host-troupe_session') ?? '';
  const messages = [{ role: 'user', content: 'Hello' }];
  const [run, following] = await Promise.all([
    open(troupe, session, '/v1/runs', { agentId: 'slow', messages }),
    open(troupe, session, '/v1/threads/new/events/stream'),
  ]);
  await drain(following);
  t.match(await browser.call('GET', '/v1/threads'), { status: 401, body: { error: 'session has ended' } });
  troupe.models.releaseAll();
  await drain(run);
  t.match(run.raw(), 'run_finish', 'the run was followed to its end');
});
