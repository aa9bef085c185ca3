import t, { type Test } from 'tap';
import { asks } from './models.ts';
import { withTools } from './suspended.ts';
import { ADMIN_TOKEN, eventually } from './troupe.ts';

/** `DELETE /v1/keys/:id?runs=cancel`: identity.md 2.1, and check 13. */

const bearer = (key: unknown) => ({ authorization: `Bearer ${key}` });
const ADMIN = bearer(ADMIN_TOKEN);

const started = async (t: Test) => {
  const { troupe, tools } = await withTools(t, { settings: { identity: { anonymous: 'never' } } });
  const keyOf = async (user: string) => {
    const new_user = { kind: 'person', grants: ['operator'] };
    const { body } = await troupe.call('POST', '/v1/keys', { name: user, user, new_user }, ADMIN);
    return { key: String(body.key), id: String(body.id) };
  };
  const secondKeyOf = async (user: string) => {
    const { body } = await troupe.call('POST', '/v1/keys', { name: 'second', user }, ADMIN);
    return { key: String(body.key), id: String(body.id) };
  };
  const newThread = async (key: string) =>
    String((await troupe.call('POST', '/v1/threads', {}, bearer(key))).body.id);
  /** Submits input in the background, to a new thread or to this one, and returns the run. */
  const say = async (key: string, agentId: string, { threadId = '', mode = 'queue' } = {}) => {
    const { status, body } = await troupe.call(
      'POST',
      `/v1/threads/${threadId || (await newThread(key))}/messages`,
      { agentId, mode, messages: [{ role: 'user', content: 'Hello' }] },
      bearer(key),
    );
    if (status !== 202) throw new Error(JSON.stringify(body));
    return String(body.accepted_run_id);
  };
  const run = async (id: string) => (await troupe.call('GET', `/v1/runs/${id}`, undefined, ADMIN)).body;
  const until = (id: string, status: string) =>
    eventually(
      () => run(id),
      (body) => body.status === status,
    );
  const revoke = (id: string, query = '') =>
    troupe.call('DELETE', `/v1/keys/${id}${query}`, undefined, ADMIN);
  return { troupe, tools, keyOf, secondKeyOf, newThread, say, run, until, revoke };
};

t.test('cancels the executing, waiting and queued runs of a revoked key, and no others', async (t) => {
  const { troupe, keyOf, secondKeyOf, newThread, say, run, until, revoke } = await started(t);
  const stolen = await keyOf('alice');
  const own = await secondKeyOf('alice');
  const bobs = await keyOf('bob');

  const ended = await say(stolen.key, 'echo');
  await until(ended, 'done');
  troupe.models.steps.push(asks(['c1', 'risky']), asks(['c2', 'risky']));
  const waiting = await say(stolen.key, 'steps');
  await until(waiting, 'waiting');
  const othersWaiting = await say(own.key, 'steps');
  await until(othersWaiting, 'waiting');
  const threadId = await newThread(stolen.key);
  const executing = await say(stolen.key, 'slow', { threadId });
  const queued = await say(stolen.key, 'echo', { threadId });
  const othersExecuting = await say(bobs.key, 'slow');
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 2,
  );
  t.equal((await run(queued)).status, 'created');

  t.equal((await revoke(stolen.id, '?runs=cancel')).status, 204);
  t.equal((await troupe.call('GET', '/v1/threads', undefined, bearer(stolen.key))).status, 401);
  for (const id of [waiting, executing, queued]) {
    t.match(await until(id, 'done'), { termination_reason: { type: 'cancelled' } }, id);
  }
  t.match(await run(ended), { termination_reason: { type: 'natural_end' } });
  t.equal((await run(othersWaiting)).status, 'waiting');
  t.equal((await run(othersExecuting)).status, 'running');
  troupe.models.releaseAll();
  t.match(await until(othersExecuting, 'done'), { termination_reason: { type: 'natural_end' } });
});

t.test('lets runs continue unless the query asks to cancel them, also after the revocation', async (t) => {
  const { troupe, keyOf, say, run, until, revoke } = await started(t);
  const { key, id } = await keyOf('alice');
  const executing = await say(key, 'slow');
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );
  t.equal((await revoke(id, '?runs=stop')).status, 400);
  t.equal((await revoke(id)).status, 204);
  t.equal((await run(executing)).status, 'running');
  t.equal((await revoke(id, '?runs=cancel')).status, 204);
  t.match(await until(executing, 'done'), { termination_reason: { type: 'cancelled' } });
});

t.test('cancels the runs of all keys of a chain of rotations', async (t) => {
  const { troupe, keyOf, say, until, revoke } = await started(t);
  const first = await keyOf('alice');
  const rotate = `/v1/keys/${first.id}/rotate`;
  const { body: second } = await troupe.call('POST', rotate, { grace_secs: 600 }, bearer(first.key));
  troupe.models.steps.push(asks(['c1', 'risky']), asks(['c2', 'risky']));
  const runs = [await say(first.key, 'steps'), await say(String(second.key), 'steps')];
  for (const id of runs) await until(id, 'waiting');
  t.equal((await revoke(String(second.id), '?runs=cancel')).status, 204);
  for (const id of runs) t.match(await until(id, 'done'), { termination_reason: { type: 'cancelled' } });
});

t.test('finds runs beyond the first page, and after a restart', async (t) => {
  const { troupe, keyOf, secondKeyOf, say, until, revoke, run } = await started(t);
  const stolen = await keyOf('alice');
  const own = await secondKeyOf('alice');
  const others: string[] = [];
  const runs: string[] = [];
  for (let count = 0; count < 210; count += 1) {
    troupe.models.steps.push(asks([`c${count}`, 'risky']));
    const isStolen = count > 205;
    const id = await say(isStolen ? stolen.key : own.key, 'steps');
    await until(id, 'waiting');
    (isStolen ? runs : others).push(id);
  }
  await troupe.restart();
  t.equal((await revoke(stolen.id, '?runs=cancel')).status, 204);
  for (const id of runs) t.match(await until(id, 'done'), { termination_reason: { type: 'cancelled' } });
  for (const id of others.slice(0, 3)) t.equal((await run(id)).status, 'waiting');
});
