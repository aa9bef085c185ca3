import t from 'tap';
import { when } from '../http/serve.ts';
import { eventually, startTroupe } from './troupe.ts';

/** runtime.md 19, checks 1 to 15. */

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

t.test('creates a thread with a UUIDv7, its title, equal timestamps and no null', async (t) => {
  const { call } = await startTroupe(t);
  const { status, body } = await call('POST', '/v1/threads', { title: 'A' });
  t.equal(status, 201);
  t.match(body.id, UUID_V7);
  const metadata = body.metadata as Record<string, number | string>;
  t.equal(metadata.title, 'A');
  t.ok(Number(metadata.created_at) > 1e12);
  t.equal(metadata.created_at, metadata.updated_at);
  t.notMatch(JSON.stringify(body), 'null');
  t.strictSame((await call('GET', `/v1/threads/${body.id}`)).body, body);
});

t.test('omits the title key without a title', async (t) => {
  const { call } = await startTroupe(t);
  const { status, body } = await call('POST', '/v1/threads', {});
  t.equal(status, 201);
  t.notOk('title' in (body.metadata as object));
});

t.test('accepts links by their aliases, but not both names', async (t) => {
  const { call } = await startTroupe(t);
  const parent = await call('POST', '/v1/threads', {});
  const child = await call('POST', '/v1/threads', { resourceId: ' r ', parentThreadId: parent.body.id });
  t.match(child.body, { resource_id: 'r', parent_thread_id: parent.body.id });
  t.equal((await call('POST', '/v1/threads', { resourceId: 'a', resource_id: 'b' })).status, 422);
  t.equal((await call('GET', '/v1/threads?resourceId=a&resource_id=b')).status, 400);
});

t.test('rejects an invalid lineage', async (t) => {
  const { call } = await startTroupe(t);
  t.match(await call('POST', '/v1/threads', { parent_thread_id: 'x' }), {
    status: 400,
    body: { error: 'parent thread not found: x' },
  });
  const parent = (await call('POST', '/v1/threads', {})).body.id;
  const child = (await call('POST', '/v1/threads', { parent_thread_id: parent })).body.id;
  const grandchild = (await call('POST', '/v1/threads', { parent_thread_id: child })).body.id;
  t.match(await call('PATCH', `/v1/threads/${parent}`, { parent_thread_id: parent }), {
    status: 400,
    body: { error: `thread '${parent}' cannot parent itself` },
  });
  const cycle = await call('PATCH', `/v1/threads/${parent}`, { parent_thread_id: grandchild });
  t.equal(cycle.status, 400);
  t.match(cycle.body.error, /cycle/);
});

t.test('rejects invalid bodies with the status of their kind, and writes nothing', async (t) => {
  const { call, url } = await startTroupe(t);
  t.equal((await call('POST', '/v1/threads', [1])).status, 422);
  t.equal((await call('POST', '/v1/threads', '"x"')).status, 422);
  t.equal((await call('POST', '/v1/threads', '{')).status, 400);
  t.equal((await call('POST', '/v1/threads', { title: 5 })).status, 422);
  t.equal((await call('POST', '/v1/threads', { title: 'x'.repeat(3 << 20) })).status, 413);
  const untyped = await fetch(`${url}/v1/threads`, { method: 'POST', body: new Uint8Array([123, 125]) });
  t.equal(untyped.status, 415);
  t.equal((await call('GET', '/v1/threads')).body.total, 0);
  t.equal((await call('POST', '/v1/threads', { unknown: 1 })).status, 201, 'unknown keys are ignored');
});

t.test('clamps limits and rejects values that are not counts', async (t) => {
  const { call } = await startTroupe(t);
  const { body } = await call('GET', '/v1/threads');
  t.strictSame(body, { items: [], offset: 0, limit: 50, total: 0, has_more: false, next_cursor: null });
  t.equal((await call('GET', '/v1/threads?limit=0')).body.limit, 1);
  t.equal((await call('GET', '/v1/threads?limit=999')).body.limit, 200);
  for (const query of ['limit=abc', 'limit=-1', 'offset=x', 'root=yes', 'root=1']) {
    t.equal((await call('GET', `/v1/threads?${query}`)).status, 400, query);
  }
});

t.test('lists each thread once with cursors, in both directions', async (t) => {
  const { call } = await startTroupe(t);
  const made: unknown[] = [];
  for (let index = 0; index < 5; index += 1) made.push((await call('POST', '/v1/threads', {})).body.id);
  const pages: Record<string, unknown>[] = [];
  let query = '?limit=2';
  for (;;) {
    const page = (await call('GET', `/v1/threads${query}`)).body;
    pages.push(page);
    if (page.next_cursor === null) break;
    query = `?limit=2&cursor=${page.next_cursor}`;
  }
  const [first, second, third] = pages;
  t.same(new Set(pages.flatMap((page) => page.items as unknown[])), new Set(made));
  t.equal(pages.length, 3);
  t.match(third, { has_more: false, next_cursor: null, offset: 4, total: 5 });
  t.notOk(first && 'prev_cursor' in first);
  const back = await call('GET', `/v1/threads?limit=2&cursor=${second?.prev_cursor}`);
  t.strictSame(back.body.items, first?.items);
  t.notOk('prev_cursor' in back.body);
  t.strictSame((await call('GET', '/v1/threads?offset=9')).body.items, []);
});

t.test('binds a cursor to the filters of its query', async (t) => {
  const { call } = await startTroupe(t);
  for (const resource_id of ['a', 'a', 'b']) await call('POST', '/v1/threads', { resource_id });
  const { next_cursor } = (await call('GET', '/v1/threads?resource_id=a&limit=1')).body;
  t.match(await call('GET', `/v1/threads?resource_id=b&cursor=${next_cursor}`), {
    status: 400,
    body: { error: 'cursor does not match thread query filters' },
  });
  t.equal((await call('GET', `/v1/threads?resource_id=a&limit=7&cursor=${next_cursor}`)).status, 200);
  t.equal((await call('GET', '/v1/threads?cursor=2')).body.offset, 2);
  t.equal((await call('GET', '/v1/threads?cursor=2&resource_id=a')).status, 400);
  t.match((await call('GET', '/v1/threads?cursor=zzz')).body, {
    error: 'cursor must be a valid pagination token',
  });
  const forged = `thr_${Buffer.from(JSON.stringify({ p: { not: 'a position' }, f: {} })).toString('base64url')}`;
  t.equal((await call('GET', `/v1/threads?cursor=${forged}`)).status, 400);
  t.equal((await call('GET', '/v1/threads?cursor=')).status, 200, 'a blank cursor is ignored');
});

t.test('lists threads without a parent for root', async (t) => {
  const { call } = await startTroupe(t);
  const parent = (await call('POST', '/v1/threads', {})).body.id;
  const child = (await call('POST', '/v1/threads', { parent_thread_id: parent })).body.id;
  t.strictSame((await call('GET', '/v1/threads?root=true')).body.items, [parent]);
  t.strictSame((await call('GET', `/v1/threads?parentThreadId=${parent}`)).body.items, [child]);
  t.equal((await call('GET', '/v1/threads?root=false')).body.total, 2);
  t.match((await call('GET', '/v1/threads?root=true&parentThreadId=x')).body, {
    error: 'root=true cannot be combined with parentThreadId',
  });
});

/** Threads that changed in the same millisecond have no defined order. */
const nextMillisecond = async (): Promise<void> => {
  const before = Date.now();
  await when(() => Date.now() > before);
};

t.test('lists the last changed thread first', async (t) => {
  const { call } = await startTroupe(t);
  const old = (await call('POST', '/v1/threads', {})).body.id;
  await nextMillisecond();
  await call('POST', '/v1/threads', {});
  await nextMillisecond();
  await call('PATCH', `/v1/threads/${old}`, { title: 'new' });
  t.equal(((await call('GET', '/v1/threads')).body.items as unknown[])[0], old);
});

t.test('lists summaries with all six keys and the agent of the latest run', async (t) => {
  const { call, runToEnd } = await startTroupe(t);
  const { id } = (await call('POST', '/v1/threads', {})).body;
  const before = ((await call('GET', '/v1/threads/summaries')).body.items as object[])[0];
  t.strictSame(Object.keys(before ?? {}).sort(), [
    'agent_id',
    'id',
    'parent_thread_id',
    'resource_id',
    'title',
    'updated_at',
  ]);
  t.match(before, { id, agent_id: null, title: null });
  await runToEnd({ agentId: 'echo', threadId: id, messages: [{ role: 'user', content: 'x' }] });
  const after = ((await call('GET', '/v1/threads/summaries')).body.items as object[])[0];
  t.match(after, { id, agent_id: 'echo' });
});

t.test('sets, keeps and clears fields with a patch, on both paths', async (t) => {
  const { call } = await startTroupe(t);
  const { id } = (await call('POST', '/v1/threads', { title: 'A', resource_id: 'r' })).body;
  t.match((await call('PATCH', `/v1/threads/${id}`, { title: null })).body, {
    metadata: { title: 'A' },
    resource_id: 'r',
  });
  t.match((await call('PATCH', `/v1/threads/${id}/metadata`, { title: 'B' })).body, {
    metadata: { title: 'B' },
  });
  t.notOk('resource_id' in (await call('PATCH', `/v1/threads/${id}`, { resource_id: null })).body);
  await call('PATCH', `/v1/threads/${id}`, { custom: { a: 1 } });
  const { body } = await call('PATCH', `/v1/threads/${id}`, { custom: { b: null } });
  t.strictSame((body.metadata as Record<string, unknown>).custom, { a: 1, b: null });
  t.equal((await call('PATCH', `/v1/threads/${id}`, { custom: 5 })).status, 422);
  t.match(await call('PATCH', '/v1/threads/nope', {}), {
    status: 404,
    body: { error: 'thread not found: nope' },
  });
});

t.test('returns 404 for a deleted thread, also on a second delete', async (t) => {
  const { call } = await startTroupe(t);
  const { id } = (await call('POST', '/v1/threads', {})).body;
  t.equal((await call('DELETE', `/v1/threads/${id}`)).status, 204);
  t.match(await call('GET', `/v1/threads/${id}`), {
    status: 404,
    body: { error: `thread not found: ${id}` },
  });
  t.equal((await call('DELETE', `/v1/threads/${id}`)).status, 404);
  t.equal((await call('GET', '/v1/threads')).body.total, 0);
});

t.test('detaches children, rejects the deletion because of them, or deletes them', async (t) => {
  const { call } = await startTroupe(t);
  const family = async () => {
    const parent = String((await call('POST', '/v1/threads', {})).body.id);
    const child = String((await call('POST', '/v1/threads', { parent_thread_id: parent })).body.id);
    const grandchild = String((await call('POST', '/v1/threads', { parent_thread_id: child })).body.id);
    return { parent, child, grandchild };
  };
  const detached = await family();
  await call('DELETE', `/v1/threads/${detached.parent}`);
  t.notOk('parent_thread_id' in (await call('GET', `/v1/threads/${detached.child}`)).body);
  t.match((await call('GET', `/v1/threads/${detached.grandchild}`)).body, {
    parent_thread_id: detached.child,
  });

  const kept = await family();
  t.match(await call('DELETE', `/v1/threads/${kept.parent}?child_strategy=reject`), {
    status: 400,
    body: { error: `thread '${kept.parent}' has child threads; choose 'detach' or 'cascade'` },
  });
  t.match((await call('GET', `/v1/threads/${kept.child}`)).body, { parent_thread_id: kept.parent });
  t.equal((await call('DELETE', `/v1/threads/${kept.parent}?child_strategy=x`)).status, 400);

  t.equal((await call('DELETE', `/v1/threads/${kept.parent}?childStrategy=cascade`)).status, 204);
  for (const id of Object.values(kept)) t.equal((await call('GET', `/v1/threads/${id}`)).status, 404);
});

t.test('ends the run of a deleted thread, and ignores its late commits', async (t) => {
  const { call, run, models } = await startTroupe(t);
  const stream = await run({ agentId: 'slow', threadId: 'T', messages: [{ role: 'user', content: 'x' }] });
  const { run_id } = await stream.until('run_start');
  t.equal((await call('DELETE', '/v1/threads/T')).status, 204);
  t.match((await stream.rest()).at(-1), { event_type: 'run_finish', termination: { type: 'cancelled' } });
  models.releaseAll();
  const ended = await eventually(
    () => call('GET', `/v1/runs/${run_id}`),
    ({ body }) => body.status === 'done',
  );
  t.match(ended, { status: 200, body: { termination_reason: { type: 'cancelled' } } });
  t.equal((await call('GET', '/v1/threads/T')).status, 404);
  t.equal((await call('GET', '/v1/threads/T/messages')).status, 404);
});

t.test('serves a thread that is deleted and recreated at once, and leaves no run open', async (t) => {
  const { call, run, runToEnd, restart } = await startTroupe(t);
  const say = (agentId: string) => ({ agentId, threadId: 'T', messages: [{ role: 'user', content: 'x' }] });
  for (let round = 0; round < 20; round += 1) {
    const stream = await run(say('slow'));
    await stream.until('text_delta');
    const [deleted, again] = await Promise.all([call('DELETE', '/v1/threads/T'), runToEnd(say('echo'))]);
    t.equal(deleted.status, 204);
    t.match(again.at(-1), { event_type: 'run_finish' });
    await stream.rest();
  }
  await restart();
  const runs = (await call('GET', '/v1/runs')).body as { items: { status: string }[] };
  t.ok(runs.items.every(({ status }) => status === 'done'));
});

t.test('shows no message of a deleted long thread in a new thread with the same id', async (t) => {
  const { call, runToEnd } = await startTroupe(t);
  const say = (texts: readonly string[]) =>
    runToEnd({
      agentId: 'echo',
      threadId: 'T',
      messages: texts.map((content) => ({ role: 'user', content })),
    });
  // Enough that their rows are removed in several commits.
  const long = Array.from({ length: 2500 }, (_, index) => `old ${index}`);
  const paths = ['/v1/threads/T', '/v1/ai-sdk/threads/T', '/v1/ag-ui/threads/T'];
  /** The thread is recreated while it is deleted, and after the response. */
  for (const isAtOnce of [true, false]) {
    await say(long);
    t.match(await call('GET', '/v1/threads/T/messages'), { body: { total: long.length + 1 } });
    const deleted = call('DELETE', '/v1/threads/T');
    if (!isAtOnce) await deleted;
    t.match((await say(['new'])).at(-1), { event_type: 'run_finish' });
    t.equal((await deleted).status, 204);
    for (const path of paths) {
      const { body } = await call('GET', `${path}/messages`);
      t.equal(body.total, 2, path);
      t.notMatch(JSON.stringify(body), /old/, path);
      t.match(JSON.stringify(body), /echo: new/, path);
    }
    t.equal((await call('DELETE', '/v1/threads/T')).status, 204);
    t.match(await call('GET', '/v1/ai-sdk/threads/T/messages'), { body: { total: 0 } });
  }
});
