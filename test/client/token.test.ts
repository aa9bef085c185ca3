import t, { type Test } from 'tap';
import { type Client, createClient, type TokenSource } from '../../src/client/index.ts';
import { createToken } from '../../src/client/token.ts';
import { defer } from '../http/serve.ts';
import { ADMIN_TOKEN, startTroupe } from '../service/troupe.ts';

/** The option `token` of `createClient` with a real service. */

const troupe = await startTroupe(t, { settings: { identity: { anonymous: 'never' } } });
const admin = createClient({ url: troupe.url, token: ADMIN_TOKEN });

/** Keys of one user. `requests` are the `Authorization` headers of all requests in their order. */
const start = async (t: Test, user: string) => {
  await admin.users.create({ id: user, kind: 'service', grants: ['member'] });
  t.teardown(() => admin.users.delete(user));
  const requests: string[] = [];
  return {
    requests,
    create: () => admin.keys.create({ name: user, user }),
    clientOf: (token: TokenSource, headers: Record<string, string> = {}): Client =>
      createClient({
        url: troupe.url,
        token,
        headers,
        pauses: [1, 5],
        fetch(request) {
          requests.push(request.headers.get('authorization') ?? '');
          return fetch(request);
        },
      }),
  };
};

const bearer = (token: string): string => `Bearer ${token}`;

t.test('a text is the bearer token of every request, in place of the header', async (t) => {
  const { clientOf, create, requests } = await start(t, 'text');
  const { key } = await create();
  const client = clientOf(key, { Authorization: 'Bearer other', 'X-Request-Id': 'r1' });
  t.match(await client.identity(), { user: 'text' });
  t.match(await client.threads.create(), { id: String });
  t.strictSame(requests, [bearer(key), bearer(key)]);
  await t.rejects(clientOf('wrong').identity(), { name: 'Unauthorized', status: 401 });
  t.equal(requests.length, 3, 'a text is not sent again');
});

t.test('a function is called once, and again after a 401', async (t) => {
  const { clientOf, create, requests } = await start(t, 'function');
  const first = await create();
  const keys = [first.key];
  let calls = 0;
  const client = clientOf(async () => {
    calls += 1;
    return keys.at(-1) ?? '';
  });
  t.equal(calls, 0, 'the function is not called before the first request');
  await client.identity();
  await client.identity();
  t.equal(calls, 1);
  const second = await create();
  keys.push(second.key);
  await admin.keys.revoke(first.id);
  t.match(
    await client.threads.create({ title: 'T' }),
    { metadata: { title: 'T' } },
    'the request is repeated',
  );
  t.equal((await client.threads.list()).total, 1, 'the rejected request had no effect');
  t.equal(calls, 2);
  t.strictSame(
    requests,
    [first, first, first, second, second].map(({ key }) => bearer(key)),
  );
});

t.test('a function may return the token without a promise', async (t) => {
  const { clientOf, create } = await start(t, 'sync');
  const { key } = await create();
  t.match(await clientOf(() => key).identity(), { user: 'sync' });
});

t.test('concurrent requests share one call of the function', async (t) => {
  const { clientOf, create, requests } = await start(t, 'concurrent');
  const [first, second] = [await create(), await create()];
  await admin.keys.revoke(first.id);
  let calls = 0;
  const client = clientOf(async () => {
    calls += 1;
    return calls === 1 ? first.key : second.key;
  });
  const found = await Promise.all(Array.from({ length: 5 }, () => client.identity()));
  t.match(
    found,
    Array.from({ length: 5 }, () => ({ user: 'concurrent' })),
  );
  t.equal(calls, 2);
  t.equal(requests.length, 10);
});

t.test('two rejections at the same moment share one call of the function', async (t) => {
  let calls = 0;
  const token = createToken(async () => {
    calls += 1;
    return `token-${calls}`;
  });
  const first = await token.current();
  t.strictSame(await Promise.all([token.renew(first), token.renew(first)]), ['token-2', 'token-2']);
  t.equal(await token.renew(first), 'token-2', 'a late rejection of the first token');
  t.equal(calls, 2);
});

t.test('a request is repeated once, and not with the rejected token', async (t) => {
  const { clientOf, requests } = await start(t, 'repeated');
  let calls = 0;
  const same = clientOf(() => {
    calls += 1;
    return 'wrong';
  });
  await t.rejects(same.identity(), { name: 'Unauthorized', status: 401 });
  t.strictSame({ calls, sent: requests.length }, { calls: 2, sent: 1 });
  await t.rejects(same.identity(), { name: 'Unauthorized' });
  t.strictSame({ calls, sent: requests.length }, { calls: 3, sent: 2 });

  requests.length = 0;
  let count = 0;
  const changing = clientOf(() => {
    count += 1;
    return `wrong-${count}`;
  });
  await t.rejects(changing.identity(), { name: 'Unauthorized', status: 401 });
  t.strictSame(requests, [bearer('wrong-1'), bearer('wrong-2')]);
});

t.test('a 403 does not call the function again', async (t) => {
  const { clientOf, create, requests } = await start(t, 'forbidden');
  const { key } = await create();
  let calls = 0;
  const client = clientOf(() => {
    calls += 1;
    return key;
  });
  await t.rejects(client.audit.list(), { name: 'Unauthorized', status: 403 });
  t.strictSame({ calls, sent: requests.length }, { calls: 1, sent: 1 });
});

t.test('an error of the function is that of the request, and is not kept', async (t) => {
  const { clientOf, create, requests } = await start(t, 'failing');
  const { key } = await create();
  let calls = 0;
  const client = clientOf(() => {
    calls += 1;
    if (calls === 1) throw new Error('the provider is down');
    return key;
  });
  await t.rejects(client.identity(), { message: 'the provider is down' });
  t.strictSame(requests, []);
  t.match(await client.identity(), { user: 'failing' });

  const first = await create();
  await admin.keys.revoke(first.id);
  let isDown = false;
  const renewing = clientOf(async () => {
    if (isDown) throw new Error('the session of the app has ended');
    isDown = true;
    return first.key;
  });
  await t.rejects(renewing.identity(), { message: 'the session of the app has ended' });
});

t.test('rejects a token that a header cannot contain, without quoting it', async (t) => {
  for (const token of ['', 'secret\n', ' secret', 'se\ncret', 'sécret'])
    t.throws(() => createClient({ url: troupe.url, token }), { name: 'TypeError', message: /^token must/ });
  const client = createClient({ url: troupe.url, token: async () => 'se\r\ncret' });
  const error = await client.identity().then(
    () => undefined,
    (reason: Error) => reason,
  );
  t.match(error, { name: 'TypeError', message: /^token must not contain line breaks/ });
  t.notMatch(error?.stack, /se\r\ncret/);
  // JavaScript programs have no types.
  const untyped = createClient({ url: troupe.url, token: (() => undefined) as unknown as () => string });
  await t.rejects(untyped.identity(), { name: 'TypeError', message: /token must be/ });
});

t.test('a signal ends the wait for a token', async (t) => {
  const { clientOf, create } = await start(t, 'aborted');
  const { key } = await create();
  const arrived = defer<string>();
  const client = clientOf(() => arrived.promise);
  const leaving = new AbortController();
  const pending = client.identity({ signal: leaving.signal });
  const other = client.identity();
  leaving.abort(new Error('left'));
  await t.rejects(pending, { message: 'left' });
  await t.rejects(client.identity({ signal: AbortSignal.abort(new Error('before')) }), { message: 'before' });
  arrived.resolve(key);
  t.match(await other, { user: 'aborted' }, 'other requests receive the token');
});

t.test('an event stream continues with another token after its key has ended', async (t) => {
  const { clientOf, create } = await start(t, 'stream');
  const [first, second] = [await create(), await create()];
  const keys = [first.key];
  const client = clientOf(async () => keys.at(-1) ?? '');
  const { id } = await client.threads.create();
  const run = async (content: string): Promise<void> => {
    const messages = [{ role: 'user' as const, content }];
    await client.runs.stream({ agentId: 'echo', threadId: id, messages }).end();
  };
  await run('Before');
  const { items, next_cursor } = await client.threads.events(id, { limit: 1 });
  const ended: string[] = [];
  let seen = items.length;
  for await (const { event_kind } of client.events.follow({ threadId: id, cursor: next_cursor ?? '' })) {
    seen += 1;
    if (event_kind !== 'RunFinished') continue;
    ended.push(event_kind);
    if (ended.length === 2) break;
    keys.push(second.key);
    await admin.keys.revoke(first.id);
    await run('After');
  }
  t.equal(
    seen,
    (await client.threads.events(id, { limit: 200 })).items.length,
    'no event is lost or repeated',
  );
});
