import t, { type Test } from 'tap';
import { z } from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';
import { defineState, update } from '../../src/tools/state.ts';

import { asks } from './models.ts';
import { suspend, withTools } from './suspended.ts';
import { ADMIN_TOKEN, startTroupe, type Troupe } from './troupe.ts';

/** Forks of threads: runtime.md 3.5. */

const say = (content: string, threadId = 'T', agentId = 'echo') => ({
  agentId,
  threadId,
  messages: [{ role: 'user', content }],
});

type Listed = { id: string; seq: number; role: string; content: unknown; metadata?: { run_id?: string } };

const messagesOf = async ({ call }: Troupe, thread: string): Promise<Listed[]> =>
  (await call('GET', `/v1/threads/${thread}/messages?visibility=all&limit=200`)).body.messages as Listed[];

const eventKinds = async ({ call }: Troupe, thread: string): Promise<unknown[]> => {
  const { body } = await call('GET', `/v1/threads/${thread}/events`);
  return (body.items as { event_kind: string; payload: unknown }[]).map(({ event_kind }) => event_kind);
};

const twoTurns = async (t: Test): Promise<Troupe> => {
  const troupe = await startTroupe(t);
  await troupe.runToEnd(say('one'));
  await troupe.runToEnd(say('two'));
  return troupe;
};

t.test('copies messages with their ids, numbers and runs, and nothing else', async (t) => {
  const troupe = await twoTurns(t);
  const { call } = troupe;
  await call('PATCH', '/v1/threads/T', { title: 'Rome', resource_id: 'customer-7' });
  const before = await messagesOf(troupe, 'T');
  const { status, body } = await troupe.post('/v1/threads/T/fork', {});
  t.equal(status, 201);
  t.match(body, {
    parent_thread_id: 'T',
    resource_id: 'customer-7',
    forked_from: { thread_id: 'T', seq: before.length },
    metadata: { title: 'Rome' },
  });
  const id = String(body.id);
  t.strictSame(await messagesOf(troupe, id), before);
  t.strictSame((await call('GET', `/v1/threads/${id}/runs`)).body.items, []);
  t.strictSame(await eventKinds(troupe, id), ['ThreadCreated', 'ThreadForked']);
  t.strictSame((await call('GET', `/v1/threads/${id}`)).body, body);
  t.match((await call('GET', '/metrics')).body.text, /service_thread_forks_total 1\n/);
});

t.test(
  'continues from the copied history, including after a restart, and leaves the other thread unchanged',
  async (t) => {
    const troupe = await twoTurns(t);
    const before = await messagesOf(troupe, 'T');
    t.equal((await troupe.post('/v1/threads/T/fork', { id: 'F', at: { seq: 2 } })).status, 201);
    await troupe.runToEnd(say('three', 'F'));
    const texts = troupe.models.requests
      .at(-1)
      ?.request.messages.filter(({ role }) => role !== 'system')
      .flatMap(({ content }) => content.map((block) => (block.type === 'text' ? block.text : block.type)));
    t.strictSame(texts, ['one', 'echo: one', 'three']);
    await troupe.restart();
    t.strictSame(await messagesOf(troupe, 'T'), before);
    await troupe.runToEnd(say('four', 'F'));
    t.strictSame(
      (await messagesOf(troupe, 'F')).map(({ seq }) => seq),
      [1, 2, 3, 4, 5, 6],
    );
    await troupe.call('DELETE', '/v1/threads/T');
    t.equal((await messagesOf(troupe, 'F')).length, 6, 'a fork outlives the thread that it was made from');
  },
);

t.test('ends at a message, at the end of a run, or at the end', async (t) => {
  const troupe = await twoTurns(t);
  const [, answer, second] = await messagesOf(troupe, 'T');
  const seqOf = async (at: object | undefined): Promise<unknown> =>
    ((await troupe.post('/v1/threads/T/fork', { at })).body.forked_from as { seq: number }).seq;
  t.equal(await seqOf({ message_id: second?.id }), 3);
  t.equal(await seqOf({ run_id: answer?.metadata?.run_id }), 2);
  t.equal(await seqOf({ seq: 1 }), 1);
  t.equal(await seqOf({ seq: 0 }), 0);
  t.equal(await seqOf(undefined), 4);
  const empty = (await troupe.post('/v1/threads', {})).body.id;
  t.match((await troupe.post(`/v1/threads/${empty}/fork`, {})).body, { forked_from: { seq: 0 } });
  const { items } = (await troupe.call('GET', `/v1/threads/summaries?parent_thread_id=${empty}`)).body;
  t.match(items, [{ forked_from: { thread_id: empty, seq: 0 } }], 'lists have it too');
});

t.test('rejects points that do not exist, and ids that are taken', async (t) => {
  const troupe = await twoTurns(t);
  const fork = async (body: unknown, thread = 'T') => {
    const answer = await troupe.post(`/v1/threads/${thread}/fork`, body);
    return [answer.status, answer.body.error];
  };
  t.strictSame(await fork({ at: { message_id: 'x' } }), [400, 'message not found: x']);
  t.strictSame(await fork({ at: { run_id: 'x' } }), [400, 'run not found: x']);
  t.strictSame(await fork({ at: { seq: 9 } }), [400, 'at.seq must be between 0 and 4 (got 9)']);
  t.strictSame(await fork({}, 'x'), [404, 'thread not found: x']);
  t.strictSame(await fork({ id: 'T' }), [409, "thread 'T' exists already"]);
  for (const at of [{ seq: -1 }, { seq: 1.5 }, { seq: 1, run_id: 'x' }, {}, 'end', { message_id: 5 }])
    t.equal((await fork({ at }))[0], 422, JSON.stringify(at));
  t.equal((await fork({ id: `${'x'.repeat(600)}` }))[0], 400);
  t.equal((await troupe.call('GET', '/v1/threads')).body.total, 1);
});

t.test('copies at most 10,000 messages', async (t) => {
  const troupe = await startTroupe(t);
  // Two runs with a response each.
  for (const length of [4999, 5000]) {
    const messages = Array.from({ length }, () => ({ role: 'user', content: 'x' }));
    const events = await troupe.runToEnd({ agentId: 'echo', threadId: 'T', messages });
    t.equal(events.at(-1)?.event_type, 'run_finish');
  }
  for (const at of [undefined, { seq: 10_001 }, { message_id: 'x' }])
    t.match(await troupe.post('/v1/threads/T/fork', { at }), {
      status: 413,
      body: { error: 'a fork has at most 10000 messages, and the thread has 10001' },
    });
  t.match(await troupe.post('/v1/threads/T/fork', { at: { seq: 10_000 } }), {
    status: 201,
    body: { forked_from: { seq: 10_000 } },
  });
});

t.test('keeps a step whole, and leaves out that of a run that waits', async (t) => {
  const { troupe } = await withTools(t);
  await troupe.runToEnd(say('before'));
  troupe.models.steps.push(asks(['c0', 'add', { a: 1, b: 2 }]));
  await troupe.runToEnd(say('sum', 'T', 'steps'));
  const roles = (await messagesOf(troupe, 'T')).map(({ role }) => role);
  t.strictSame(roles.slice(0, 5), ['user', 'assistant', 'user', 'assistant', 'tool']);
  t.match(await troupe.post('/v1/threads/T/fork', { at: { seq: 4 } }), {
    status: 400,
    body: { error: 'cannot fork inside a step; nearest points are 3, 5' },
  });
  const { run_id } = await suspend(troupe, 'T', ['c1', 'risky']);
  const all = await messagesOf(troupe, 'T');
  const asked = all.findLast(({ role }) => role === 'user');
  for (const at of [undefined, { run_id }])
    t.match((await troupe.post('/v1/threads/T/fork', { at })).body, { forked_from: { seq: asked?.seq } });
});

t.test('copies what a rewind has hidden, and shows it again before the rewind', async (t) => {
  const troupe = await startTroupe(t);
  const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'one' }] };
  const ask = async (trigger: string): Promise<void> => {
    const body = { agentId: 'echo', threadId: 'T', trigger, messages: [message] };
    t.equal((await troupe.post('/v1/ai-sdk/chat', body)).status, 200);
  };
  const visible = async (thread: string): Promise<string[]> =>
    (await messagesOf(troupe, thread)).map(({ id }) => id);
  await ask('submit-message');
  const first = await visible('T');
  await ask('regenerate-message');
  const second = await visible('T');
  t.strictSame([first.length, second.length, second[0]], [2, 2, 'u1']);
  await troupe.post('/v1/threads/T/fork', { id: 'all' });
  t.strictSame(await visible('all'), second);
  await troupe.post('/v1/threads/T/fork', { id: 'early', at: { seq: 2 } });
  t.strictSame(await visible('early'), first);
  t.match(await troupe.post('/v1/threads/T/fork', { at: { message_id: first[1] } }), {
    status: 400,
    body: { error: `message not found: ${first[1]}` },
  });
});

const visits = defineState({ key: 'visits', scope: 'thread', schema: z.number() });
const visit = defineTool({
  id: 'visit',
  description: 'Counts.',
  input: z.object({}),
  execute: (_, { state }) => {
    const count = (state.get(visits) ?? 0) + 1;
    return { data: count, state: [update(visits, count)] };
  },
});

t.test('gives the fork the state that the last run before the point has left', async (t) => {
  const troupe = await startTroupe(t, { app: { tools: [visit] } });
  const visitOnce = async (thread: string): Promise<void> => {
    troupe.models.steps.push(asks(['c', 'visit']));
    await troupe.runToEnd(say('visit', thread, 'steps'));
  };
  const countOf = async (thread: string): Promise<unknown> => {
    await visitOnce(thread);
    const results = (await messagesOf(troupe, thread)).filter(({ role }) => role === 'tool');
    return JSON.stringify(results.at(-1)?.content);
  };
  await visitOnce('T');
  const first = (await messagesOf(troupe, 'T')).length;
  await visitOnce('T');
  await troupe.restart();
  await visitOnce('T');
  await troupe.post('/v1/threads/T/fork', { id: 'early', at: { seq: first } });
  await troupe.post('/v1/threads/T/fork', { id: 'whole' });
  await troupe.post('/v1/threads/early/fork', { id: 'second' });
  await troupe.post('/v1/threads/T/fork', { id: 'question', at: { seq: 1 } });
  t.match(await countOf('early'), /2/);
  t.match(await countOf('whole'), /4/);
  t.match(await countOf('second'), /2/);
  t.match(await countOf('question'), /1/);
});

t.test('copies the committed messages of a thread whose run executes', async (t) => {
  const troupe = await startTroupe(t);
  await troupe.runToEnd(say('one'));
  const busy = await troupe.run(say('two', 'T', 'slow'));
  await busy.until('text_delta');
  const { body } = await troupe.post('/v1/threads/T/fork', { id: 'F' });
  t.match(body, { forked_from: { seq: 3 } });
  troupe.models.release();
  await busy.rest();
  t.equal((await messagesOf(troupe, 'F')).length, 3);
});

t.test('creates one thread for concurrent forks to one id', async (t) => {
  const troupe = await twoTurns(t);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => troupe.post('/v1/threads/T/fork', { id: 'F' })),
  );
  t.strictSame(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409]);
});

t.test(
  'a fork of a shared thread belongs to the caller, and names the other thread by its uid',
  async (t) => {
    const troupe = await startTroupe(t);
    const key = async (user: string): Promise<Record<string, string>> => {
      const body = { name: user, user, new_user: { kind: 'person', grants: ['member'] } };
      const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
      const made = await troupe.call('POST', '/v1/keys', body, admin);
      return { authorization: `Bearer ${made.body.key}` };
    };
    const [alice, bob] = [await key('alice'), await key('bob')];
    const { id, uid } = (await troupe.call('POST', '/v1/threads', { title: 'A' }, alice)).body;
    const input = { agentId: 'echo', messages: [{ role: 'user', content: 'hello' }] };
    t.equal((await troupe.call('POST', `/v1/threads/${id}/messages`, input, alice)).status, 202);
    t.equal(
      (await troupe.call('POST', `/v1/threads/${id}/fork`, {}, bob)).status,
      404,
      'private threads are unknown',
    );
    await troupe.call('PATCH', `/v1/threads/${id}`, { visibility: 'read' }, alice);
    const forked = await troupe.call('POST', `/v1/threads/${id}/fork`, { id: 'mine' }, bob);
    t.match(forked, {
      status: 201,
      body: { owner: 'bob', visibility: 'private', forked_from: { thread_id: uid } },
    });
    t.notOk('parent_thread_id' in forked.body);
    t.equal((await troupe.call('GET', '/v1/threads/mine', undefined, alice)).status, 404);
  },
);
