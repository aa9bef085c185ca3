import t, { type Test } from 'tap';
import { createAuthorizations, MOST_OPEN } from '../../src/connections/authorizations.ts';
import { endOfOffer } from '../../src/connections/try.ts';
import type { Store } from '../../src/store/index.ts';
import { storeFor } from '../store/open.ts';
import { createScriptedConnections, tokensFor } from './scripted-connections.ts';

/** identity.md 6.2: authorizations as records, without their routes. */

const ALICE = { scope: 'acme', user: 'alice' };
const BOB = { scope: 'acme', user: 'bob' };
const MINUTE = 60_000;
const DAY = 86_400_000;
const BROWSER = { by: 'browser', confirmed: undefined } as const;
const APP = { by: 'app', return_to: 'https://app.example/done' } as const;

const open = async (t: Test, given?: Store) => {
  const clock = { ms: Date.UTC(2026, 0, 1), now: () => clock.ms };
  const store = given ?? (await storeFor(t));
  const scripted = createScriptedConnections(clock.now);
  const results: string[] = [];
  const connected: string[] = [];
  let count = 0;
  const begin = () =>
    createAuthorizations({
      store,
      connections: scripted.connections,
      clock,
      ids: { uuid: () => `authorization-${++count}` },
      addresses: () => ({ redirectUri: 'https://agents.example/callback', clientDocument: undefined }),
      observe: (server, result) => results.push(`${server} ${result}`),
      connected: ({ user }, server) => connected.push(`${user} ${server}`),
    });
  return { ...scripted, authorizations: begin(), restart: begin, store, clock, results, connected };
};

const stateIn = (started: object): string => {
  const url = 'url' in started && typeof started.url === 'string' ? started.url : '';
  return new URL(url).searchParams.get('state') ?? '';
};

const callback = (state: string, rest: Record<string, string> = { code: 'c1' }): URLSearchParams =>
  new URLSearchParams({ state, ...rest });

t.test('shares one authorization between the calls of one user and server', async (t) => {
  const { authorizations } = await open(t);
  const first = await authorizations.offer(ALICE, 'mail', ['read']);
  const second = await authorizations.offer(ALICE, 'mail', ['send']);
  t.equal(second.id, first.id);
  t.same(second.scopes, ['read', 'send']);
  t.not((await authorizations.offer(ALICE, 'files', [])).id, first.id);
  t.not((await authorizations.offer(BOB, 'mail', [])).id, first.id);
  t.not((await authorizations.offer({ ...ALICE, scope: 'globex' }, 'mail', [])).id, first.id);
  t.not((await authorizations.offer({ scope: 'acme', user: undefined }, 'mail', [])).id, first.id);
});

t.test('connects in a browser of the same user', async (t) => {
  const { authorizations, connections, connected, results } = await open(t);
  const { id } = await authorizations.offer(ALICE, 'mail', ['read']);
  const state = stateIn(await authorizations.start(id, BROWSER));
  t.match(authorizations.ofCallback(callback(state)), { id, user: 'alice' });
  const { authorization, problem } = await authorizations.finish(callback(state));
  t.match(authorization, { id, state: 'connected' });
  t.equal(problem, undefined);
  t.match(connections.list(ALICE), [{ server: 'mail', scopes: ['read'] }]);
  t.same(connected, ['alice mail']);
  t.same(results, ['mail connected']);
  t.not((await authorizations.offer(ALICE, 'mail', [])).id, id, 'the next call needs another authorization');
});

t.test('does not connect an app before its user has confirmed, and then once', async (t) => {
  const { authorizations, connections, connected } = await open(t);
  const { id } = await authorizations.offer(ALICE, 'mail', []);
  const state = stateIn(await authorizations.start(id, APP));
  const { authorization, code = '' } = await authorizations.finish(callback(state));
  t.match(authorization, { state: 'unconfirmed', started: { return_to: 'https://app.example/done' } });
  t.same(connections.list(ALICE), []);
  t.same(connected, []);
  await t.rejects(authorizations.confirm(id, ALICE, 'other'), { name: 'Forbidden' });
  const both = await Promise.allSettled([
    authorizations.confirm(id, ALICE, code),
    authorizations.confirm(id, ALICE, code),
  ]);
  t.match(both, [{ status: 'fulfilled' }, { status: 'rejected', reason: { name: 'NotFound' } }]);
  t.match(connections.list(ALICE), [{ server: 'mail' }]);
  t.same(connected, ['alice mail']);
});

t.test('drops the tokens when another user confirms them', async (t) => {
  const { authorizations, connections, discarded, results } = await open(t);
  const { id } = await authorizations.offer(ALICE, 'mail', []);
  const state = stateIn(await authorizations.start(id, APP));
  const { code = '' } = await authorizations.finish(callback(state));
  await t.rejects(authorizations.confirm(id, BOB, 'other'), { name: 'Forbidden' });
  t.same(discarded, [], 'without the code, another user drops nothing');
  await t.rejects(authorizations.confirm(id, BOB, code), { name: 'Forbidden' });
  t.same(discarded, ['token-of-c1']);
  await t.rejects(authorizations.confirm(id, ALICE, code), { name: 'NotFound' });
  t.same([...connections.list(ALICE), ...connections.list(BOB)], []);
  t.same(results, ['mail failed']);
});

t.test('exchanges a code once, also if the callback arrives twice', async (t) => {
  const { authorizations, exchanged } = await open(t);
  const { id } = await authorizations.offer(ALICE, 'mail', []);
  const state = stateIn(await authorizations.start(id, BROWSER));
  const both = await Promise.allSettled([
    authorizations.finish(callback(state)),
    authorizations.finish(callback(state)),
  ]);
  t.match(both, [{ status: 'fulfilled' }, { status: 'rejected', reason: { name: 'Conflict' } }]);
  await t.rejects(authorizations.finish(callback(state)), { name: 'Conflict' });
  t.same(exchanged, ['c1 verifier-1']);
});

t.test('ignores the redirect of an earlier start', async (t) => {
  const { authorizations, exchanged } = await open(t);
  const { id } = await authorizations.offer(ALICE, 'mail', []);
  const first = stateIn(await authorizations.start(id, BROWSER));
  const second = stateIn(await authorizations.start(id, BROWSER));
  await t.rejects(authorizations.finish(callback(first)), { name: 'NotFound' });
  await t.rejects(authorizations.finish(callback('')), { name: 'NotFound' });
  t.match(await authorizations.finish(callback(second)), { authorization: { state: 'connected' } });
  t.same(exchanged, ['c1 verifier-2']);
});

t.test('offers another try at the same address after a failure', async (t) => {
  const { authorizations, clock, results } = await open(t);
  const { id } = await authorizations.offer(ALICE, 'mail', []);
  const denied = stateIn(await authorizations.start(id, BROWSER));
  t.match(await authorizations.finish(callback(denied, { error: 'access_denied' })), {
    authorization: { state: 'declined' },
    problem: 'denied',
  });
  const refused = stateIn(await authorizations.start(id, BROWSER));
  t.match(await authorizations.finish(callback(refused, { code: 'wrong' })), {
    authorization: { state: 'failed' },
    problem: 'invalid_grant',
  });
  const slow = stateIn(await authorizations.start(id, BROWSER));
  clock.ms += 10 * MINUTE;
  t.match(authorizations.find(id), { state: 'expired' });
  await t.rejects(authorizations.finish(callback(slow)), { name: 'Conflict' });
  const last = stateIn(await authorizations.start(id, BROWSER));
  t.match(await authorizations.finish(callback(last)), { authorization: { id, state: 'connected' } });
  t.same(results, ['mail declined', 'mail failed', 'mail expired', 'mail connected']);
  await t.rejects(authorizations.start(id, BROWSER), { name: 'NotFound' });
});

t.test('expires a day after the last offer, and is removed then', async (t) => {
  const { authorizations, clock, results, store } = await open(t);
  const { id } = await authorizations.offer(ALICE, 'mail', []);
  clock.ms += DAY - 1;
  const again = await authorizations.offer(ALICE, 'mail', []);
  t.equal(endOfOffer(again), clock.ms + DAY);
  clock.ms += DAY;
  t.match(authorizations.find(id), { state: 'expired' });
  await t.rejects(authorizations.start(id, BROWSER), { name: 'NotFound' });
  await authorizations.sweep();
  t.equal(authorizations.find(id), undefined);
  t.equal(store.authorizations.get(id), undefined);
  t.same(results, ['mail expired']);
});

t.test('drops tokens without a confirmation in time', async (t) => {
  const { authorizations, clock, discarded } = await open(t);
  const { id } = await authorizations.offer(ALICE, 'mail', []);
  const { code = '' } = await authorizations.finish(callback(stateIn(await authorizations.start(id, APP))));
  clock.ms += 10 * MINUTE;
  await t.rejects(authorizations.confirm(id, ALICE, code), { name: 'NotFound' });
  await authorizations.sweep();
  t.same(discarded, ['token-of-c1']);
  t.equal(authorizations.find(id)?.state, 'expired');
});

t.test('revokes tokens that arrive after the end of their try', async (t) => {
  const { authorizations, clock, hold, discarded, connections } = await open(t);
  const { id } = await authorizations.offer(ALICE, 'mail', []);
  const release = hold();
  const state = stateIn(await authorizations.start(id, BROWSER));
  const late = authorizations.finish(callback(state));
  while (authorizations.find(id)?.state !== 'exchanging') await new Promise(setImmediate);
  clock.ms += 10 * MINUTE;
  release();
  t.match(await late, { authorization: { state: 'expired' }, problem: /expired/ });
  t.same(discarded, ['token-of-c1']);
  t.same(connections.list(ALICE), []);
});

t.test('revokes tokens that arrive after their user was deleted', async (t) => {
  const { authorizations, hold, discarded } = await open(t);
  const { id } = await authorizations.offer(ALICE, 'mail', []);
  const release = hold();
  const state = stateIn(await authorizations.start(id, BROWSER));
  const late = authorizations.finish(callback(state));
  while (authorizations.find(id)?.state !== 'exchanging') await new Promise(setImmediate);
  await authorizations.removeAll(ALICE);
  release();
  t.match(await late, { problem: /expired/ });
  t.same(discarded, ['token-of-c1']);
  t.equal(authorizations.find(id), undefined);
});

t.test('shows the scopes in a browser before it starts', async (t) => {
  const { authorizations, facts } = await open(t);
  facts.confirm_scopes = true;
  const { id } = await authorizations.offer(ALICE, 'mail', []);
  const shown = await authorizations.start(id, BROWSER);
  t.match(shown, { server: 'mail', scopes: ['read'], issuer: 'https://login.example' });
  t.equal(authorizations.find(id)?.state, 'offered');
  const proof = 'proof' in shown ? shown.proof : '';
  t.match(await authorizations.start(id, { by: 'browser', confirmed: `${proof}x` }), { proof });
  t.match(await authorizations.start(id, { by: 'browser', confirmed: proof }), { url: /scope=read/ });
  facts.scopes = ['read', 'delete'];
  t.match(await authorizations.start(id, { by: 'browser', confirmed: proof }), {
    scopes: ['read', 'delete'],
  });
});

t.test('continues after a restart, and repeats no exchange', async (t) => {
  const opened = await open(t);
  const { authorizations, hold, restart, exchanged, connections } = opened;
  const redirected = await authorizations.offer(ALICE, 'mail', []);
  const state = stateIn(await authorizations.start(redirected.id, BROWSER));
  const app = await authorizations.offer(BOB, 'mail', []);
  const { code = '' } = await authorizations.finish(
    callback(stateIn(await authorizations.start(app.id, APP)), { code: 'c2' }),
  );
  const cut = await authorizations.offer(ALICE, 'files', []);
  const stored = await authorizations.offer(BOB, 'files', []);
  hold();
  for (const { id } of [cut, stored]) {
    const begun = stateIn(await authorizations.start(id, BROWSER));
    authorizations.finish(callback(begun, { code: `of-${id}` }));
    while (authorizations.find(id)?.state !== 'exchanging') await new Promise(setImmediate);
  }
  // The process ends after the commit of the tokens, and before that of the authorization.
  await connections.store(BOB, 'files', tokensFor('files', 'c3'));

  const next = restart();
  await next.recover();
  t.equal(next.find(cut.id)?.state, 'failed');
  t.equal(next.find(stored.id)?.state, 'connected');
  t.match(await next.offer(ALICE, 'mail', []), { id: redirected.id, state: 'redirected' });
  await next.confirm(app.id, BOB, code);
  t.match(connections.list(BOB), [{ server: 'files' }, { server: 'mail' }]);
  t.match(next.ofCallback(callback(state)), { id: redirected.id });
  t.equal(exchanged.length, 3);
});

t.test(`rejects more than ${MOST_OPEN} open authorizations of a user`, async (t) => {
  const { authorizations, clock } = await open(t);
  for (let count = 0; count < MOST_OPEN; count += 1) await authorizations.offer(ALICE, `server-${count}`, []);
  await t.rejects(authorizations.offer(ALICE, 'one-more', []), {
    name: 'RateLimited',
    details: { bound: 'open authorizations' },
  });
  t.match(await authorizations.offer(ALICE, 'server-7', []), { state: 'offered' });
  t.match(await authorizations.offer(BOB, 'one-more', []), { state: 'offered' });
  clock.ms += DAY;
  await authorizations.sweep();
  t.match(await authorizations.offer(ALICE, 'one-more', []), { state: 'offered' });
});

t.test('stores verifiers and unconfirmed tokens sealed', async (t) => {
  const { authorizations, store } = await open(t);
  const { id } = await authorizations.offer(ALICE, 'mail', []);
  const started = await authorizations.start(id, APP);
  t.match(store.authorizations.get(id), { attempt: { verifier: 'verifier-1' } });
  await authorizations.finish(callback(stateIn(started)));
  t.match(store.authorizations.get(id), {
    attempt: undefined,
    unconfirmed: { tokens: { access_token: 'token-of-c1' } },
  });
  const heads = JSON.stringify([...store.authorizations.heads()]);
  t.notMatch(heads, /verifier|token-of|state-1/);
});
