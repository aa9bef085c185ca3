import t, { type Test } from 'tap';
import { ask } from './http.ts';
import { readBlocks } from './stream.ts';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';

/** Tickets of event streams: identity.md 2.7, and check 40. */

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const admin = bearer(ADMIN_TOKEN);

const start = async (t: Test) => {
  const clock = { ms: Date.now(), now: () => clock.ms };
  const troupe = await startTroupe(t, { app: { clock }, settings: { identity: { anonymous: 'never' } } });
  const person = async (user: string, grants = ['member']) => {
    const new_user = { kind: 'person', grants };
    const { body } = await troupe.call('POST', '/v1/keys', { name: user, user, new_user }, admin);
    return { head: bearer(String(body.key)), id: String(body.id) };
  };
  const alice = await person('alice');
  await troupe.call('POST', '/v1/threads', { id: 't1' }, alice.head);
  const { body } = await troupe.call('GET', '/v1/threads', undefined, alice.head);
  const [{ id }] = body.items as [{ id: string }];
  const path = `/v1/threads/${id}/events/stream`;
  const create = async (given: string = path, head = alice.head) => {
    const answer = await troupe.call('POST', '/v1/tickets', { path: given }, head);
    return { ...answer, ticket: String(answer.body.ticket) };
  };
  const open = (ticket: string, at: string = path) =>
    ask(`${troupe.url}${at}?ticket=${ticket}`, { headers: { accept: 'text/event-stream' } });
  return { troupe, clock, alice, person, path, create, open };
};

t.test('a ticket opens its event stream once (check 40)', async (t) => {
  const { create, open, clock } = await start(t);
  const { status, body, ticket, headers } = await create();
  t.equal(status, 201);
  t.match(ticket, /^tpt_[0-9A-Za-z]{49}$/);
  t.equal(body.expires_at, clock.ms + 60_000);
  t.equal(headers.get('cache-control'), 'no-store');
  const stream = readBlocks(await open(ticket));
  t.equal(stream.status, 200);
  t.match(await stream.next(), /^: from/);
  const again = await open(ticket);
  t.equal(again.status, 401);
  t.match(await again.text(), /invalid credential/);
  await stream.close();
});

t.test('a ticket is rejected elsewhere, and afterwards (check 40)', async (t) => {
  const { troupe, create, open, clock, path } = await start(t);
  const other = await open((await create()).ticket, path.replace('/stream', ''));
  t.equal(other.status, 401);
  const { ticket } = await create();
  t.equal((await troupe.call('POST', `/v1/runs?ticket=${ticket}`, {})).status, 401);
  t.equal((await open(ticket)).status, 401, 'the attempt has used it');
  const late = (await create()).ticket;
  clock.ms += 60_000;
  t.equal((await open(late)).status, 401);
  t.equal((await open('tpt_nonsense')).status, 401);
  t.match((await troupe.call('GET', '/v1/system/info?ticket=x')).body, {
    error: 'invalid admin bearer token',
  });
  t.equal((await troupe.call('GET', '/health?ticket=x')).status, 200, 'an open route needs no credential');
});

t.test('a ticket needs the right to read the stream', async (t) => {
  const { create, person, path } = await start(t);
  const bob = await person('bob');
  const strange = await create(path, bob.head);
  const unknown = await create('/v1/threads/unknown/events/stream', bob.head);
  t.equal(strange.status, unknown.status, 'a thread of another user does not exist');
  t.match(await create('/v1/system/actors/stream', bob.head), { status: 403 });
  t.match(await create('/v1/system/actors/stream', admin), { status: 201 });
  for (const wrong of ['/v1/threads', `${path}?cursor=x`, '/v1/runs', 'https://evil.example/', '/nowhere'])
    t.match(await create(wrong), { status: 400 }, wrong);
  t.match(await create(''), { status: 422 });
});

t.test('a ticket and its stream end with the credential behind it', async (t) => {
  const { troupe, create, open, alice } = await start(t);
  const stream = readBlocks(await open((await create()).ticket));
  t.match(await stream.next(), /^: from/);
  const { ticket } = await create();
  await troupe.call('DELETE', `/v1/keys/${alice.id}`, undefined, admin);
  t.equal(await stream.next(), undefined);
  t.equal((await open(ticket)).status, 401);
});

t.test('a principal has at most 100 open tickets (check 22)', async (t) => {
  const { create, clock, person, path, open } = await start(t);
  const first = await create();
  for (let count = 1; count < 100; count += 1) t.equal((await create()).status, 201);
  const { status, body, headers } = await create();
  t.match({ status, body }, { status: 429, body: { code: 'rate_limited', bound: 'tickets' } });
  t.equal(headers.get('retry-after'), '60');
  const carol = await person('carol', ['read:all']);
  t.equal((await create(path, carol.head)).status, 201, 'others have their own');
  const stream = readBlocks(await open(first.ticket));
  t.equal((await create()).status, 201, 'a used one makes room');
  await stream.close();
  clock.ms += 60_000;
  t.equal((await create()).status, 201, 'expired ones make room');
});

t.test('1 000 bad tickets fill no bucket of guesses, and are counted', async (t) => {
  const { troupe } = await start(t);
  for (let count = 0; count < 1000; count += 1) {
    const { status } = await troupe.call('GET', `/v1/threads?ticket=tpt_${count}`);
    if (status !== 401) t.fail(String(status));
  }
  const { status, body } = await troupe.call('GET', '/metrics', undefined, admin);
  t.equal(status, 200);
  t.match(String(body.text), /auth_requests_total\{kind="ticket",result="invalid"\} 1000/);
});
