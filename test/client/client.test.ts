import t from 'tap';
import { z } from 'zod';
import {
  type CanonicalEvent,
  Conflict,
  ConnectionLost,
  createClient,
  Gone,
  InvalidRequest,
  NotFound,
  type RunEnd,
  type RunEvent,
  TroupeError,
  Unauthorized,
  Unavailable,
} from '../../src/client/index.ts';
import { createTroupe, defineTool } from '../../src/index.ts';
import { giveAnswer } from '../../src/models/scripted-answer.ts';
import { adminIn } from '../../src/schema/principal.ts';
import { defer } from '../http/serve.ts';
import { asks, hangs } from '../service/models.ts';
import { createTestTools } from '../service/tools.ts';
import { ADMIN_TOKEN, startTroupe } from '../service/troupe.ts';
import { startProxy } from './proxy.ts';

const said = [{ role: 'user' as const, content: 'Hello' }];
const TWIN = { id: 'twin', model_id: 'echo' };
const QUICK = [1, 5, 20, 50];

const add = defineTool({
  id: 'add',
  description: 'Adds.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

const kit = createTestTools();
const troupe = await startTroupe(t, { app: { tools: [add, ...kit.tools] } });
const proxy = await startProxy(t, () => troupe.url);
const client = createClient({
  url: `${proxy.url}/`,
  headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  pauses: QUICK,
});

const collect = async <Item>(source: AsyncIterable<Item>): Promise<Item[]> => {
  const items: Item[] = [];
  for await (const item of source) items.push(item);
  return items;
};

/** The displayed text, without retracted parts. */
const textIn = (events: readonly RunEvent[]): string => {
  const texts = [''];
  for (const event of events) {
    if (event.event_type === 'step_start') texts.push('');
    if (event.event_type === 'stream_reset') texts.splice(-1, 1, '');
    if (event.event_type === 'text_delta') texts.push((texts.pop() ?? '') + event.delta);
  }
  return texts.join('');
};

t.test('a run returns its events, ids and completion', async (t) => {
  const run = client.runs.stream({ agentId: 'echo', threadId: 'plain', messages: said });
  const { thread_id, run_id } = await run.ids;
  t.equal(thread_id, 'plain');
  const events = await collect(run);
  t.match(events[0], { event_type: 'run_start', run_id });
  t.match(events.at(-1), { event_type: 'run_finish', termination: { type: 'natural_end' } });
  t.match(await client.runs.get(run_id), { status: 'done', final_output: 'echo: Hello' });

  const other = client.runs.stream({ agentId: 'echo', messages: said });
  t.strictSame(await other.end(), {
    ...(await other.ids),
    text: 'echo: Hello',
    termination: { type: 'natural_end' },
  });
  t.equal(await client.runs.stream({ agentId: 'echo', messages: said }).text(), 'echo: Hello');
});

t.test('a run continues after its connection is cut, without repeated events', async (t) => {
  const run = client.runs.stream({ agentId: 'slow', messages: said });
  const events: RunEvent[] = [];
  for await (const event of run) {
    events.push(event);
    if (event.event_type !== 'text_delta' || event.delta !== 'partial') continue;
    proxy.isDown = true;
    proxy.cut();
    setImmediate(() => {
      proxy.isDown = false;
      troupe.models.release();
    });
  }
  t.match(
    events.filter(({ event_type }) => event_type === 'text_delta'),
    [{ delta: 'partial' }, { delta: ' answer' }],
  );
  for (const once of ['run_start', 'step_start', 'inference_complete', 'run_finish']) {
    t.equal(events.filter(({ event_type }) => event_type === once).length, 1, once);
  }
  t.equal((await client.runs.get((await run.ids).run_id)).final_output, 'partial answer');
});

t.test('delivers calls and results from during an outage in order', async (t) => {
  const { steps } = troupe.models;
  const isCut = defer();
  steps.push(asks(['one', 'add', { a: 1, b: 2 }]), async (sink, request, signal) => {
    await isCut.promise;
    return asks(['two', 'add', { a: 3, b: 4 }])(sink, request, signal);
  });
  const run = client.runs.stream({ agentId: 'steps', messages: said });
  const told: string[] = [];
  for await (const event of run) {
    if (event.event_type === 'tool_call_ready') told.push(`ask ${event.id}`);
    if (event.event_type === 'text_delta') told.push(event.delta);
    if (event.event_type !== 'tool_call_done') continue;
    told.push(`${event.id} gave ${JSON.stringify(event.result.data)}`);
    if (event.id !== 'one') continue;
    proxy.cut();
    setImmediate(isCut.resolve);
  }
  t.strictSame(told, ['ask one', 'one gave 3', 'ask two', 'two gave 7', 'echo: Hello']);
});

t.test(
  'after an interruption, a message that continues a run ends with its own response, not with the earlier wait',
  async (t) => {
    const { steps } = troupe.models;
    steps.push(asks(['red', 'add', { a: 1, b: 2 }], ['pick', 'pick_color']));
    const first = await client.runs.stream({ agentId: 'steps', threadId: 'goes-on', messages: said }).end();
    t.equal(first.termination.type, 'suspended');
    steps.push((sink) => {
      sink.text('never ');
      proxy.cut();
      return giveAnswer({ text: 'mind' }, sink);
    });
    const run = client.runs.stream({ agentId: 'steps', threadId: 'goes-on', messages: said });
    const events = await collect(run);
    const ids = events.flatMap((event) => ('id' in event ? [event.id] : []));
    t.notOk(ids.includes('red'), 'events of the earlier run are not repeated');
    t.match(await run.ids, { run_id: first.run_id });
    t.match(events.at(-1), { event_type: 'run_finish', termination: { type: 'natural_end' } });
    t.equal(textIn(events), 'never mind');
  },
);

for (const event_capture_mode of ['compacted', 'full_fidelity'] as const) {
  t.test(`a stream survives a restart of the service: ${event_capture_mode}`, async (t) => {
    const restarted = await startTroupe(t, { settings: { event_capture_mode }, app: { tools: [add] } });
    const way = await startProxy(t, () => restarted.url);
    const { runs } = createClient({ url: way.url, pauses: [50, 100, 200, 500, 1000, 1000] });
    restarted.models.steps.push(asks(['one', 'add', { a: 1, b: 2 }]), hangs('half'), (sink) =>
      giveAnswer({ text: 'whole answer' }, sink),
    );
    const run = runs.stream({ agentId: 'steps', messages: said });
    let restarting: Promise<void> | undefined;
    const events: RunEvent[] = [];
    for await (const event of run) {
      events.push(event);
      if (event.event_type === 'text_delta' && event.delta === 'half') restarting = restarted.restart();
    }
    await restarting;
    for (const once of ['run_start', 'tool_call_done', 'run_finish', 'stream_reset']) {
      t.equal(events.filter(({ event_type }) => event_type === once).length, 1, once);
    }
    t.match(events.at(-1), { event_type: 'run_finish', termination: { type: 'natural_end' } });
    t.equal(textIn(events), 'whole answer');
    t.match(await runs.get((await run.ids).run_id), { status: 'done', final_output: 'whole answer' });
  });
}

t.test('a service that stops without a restart reports the ends of its streams', async (t) => {
  const stopped = await startTroupe(t);
  const { app, url } = stopped;
  const ends: Promise<RunEnd>[] = [];
  const inside = (request: Request): Promise<Response> => app.fetchAs(adminIn('default'), request);
  for (const client of [
    createClient({ url, pauses: QUICK }),
    createClient({ url, pauses: [], fetch: inside }),
  ]) {
    const run = client.runs.stream({ agentId: 'slow', messages: said });
    await run.ids;
    ends.push(run.end());
  }
  await app.stop();
  for (const end of await Promise.all(ends)) {
    t.match(end, { termination: { type: 'error', value: 'service is shutting down' } });
  }
});

t.test('treats an unreadable stream as a cut one', async (t) => {
  let isBroken = true;
  const broken = createClient({
    url: troupe.url,
    pauses: QUICK,
    async fetch(request) {
      const response = await fetch(request);
      if (!isBroken || !request.url.endsWith('/v1/runs')) return response;
      isBroken = false;
      const [start = ''] = (await response.text()).split('\n\n');
      return new Response(`${start}\n\ndata: {"event_type":"te`.concat('\n\n'), response);
    },
  });
  t.equal(await broken.runs.stream({ agentId: 'echo', messages: said }).text(), 'echo: Hello');
});

t.test('reports a service that is unreachable or does not return as a lost connection', async (t) => {
  const nowhere = createClient({ url: 'http://127.0.0.1:1', pauses: QUICK });
  await t.rejects(nowhere.threads.create(), { name: 'ConnectionLost', request: 'POST /v1/threads' });
  const never = nowhere.runs.stream({ agentId: 'echo', messages: said });
  await t.rejects(never.ids, ConnectionLost);
  await t.rejects(never.text(), { name: 'ConnectionLost', request: 'POST /v1/runs' });

  const before = proxy.connections();
  const run = client.runs.stream({ agentId: 'slow', messages: said });
  await run.ids;
  proxy.isDown = true;
  proxy.cut();
  await t.rejects(run.end(), { name: 'ConnectionLost', request: /^GET \/v1\/runs\/.*\/events$/ });
  t.ok(proxy.connections() - before <= 3 * (QUICK.length + 1), 'the client stops after its last attempt');
  proxy.isDown = false;
  troupe.models.release();
});

t.test('leaving a stream lets the run continue, and abort cancels it', async (t) => {
  const left = client.runs.stream({ agentId: 'slow', messages: said });
  for await (const { event_type } of left) if (event_type === 'text_delta') break;
  const { run_id } = await left.ids;
  t.equal((await client.runs.get(run_id)).status, 'running');
  troupe.models.release();

  const control = new AbortController();
  const quiet = client.runs.stream({ agentId: 'slow', messages: said }, { signal: control.signal });
  await quiet.ids;
  control.abort(new Error('enough'));
  await t.rejects(quiet.end(), { message: 'enough' });
  troupe.models.releaseAll();

  const run = client.runs.stream({ agentId: 'slow', messages: said });
  for await (const { event_type } of run) if (event_type === 'text_delta') await run.abort();
  t.match(await client.runs.get((await run.ids).run_id), {
    status: 'done',
    termination_reason: { type: 'cancelled' },
  });
});

t.test('a rejected request throws an error of its class, with text, request and id', async (t) => {
  const { threads, runs } = client;
  await client.request('POST', '/v1/config/agents', { body: TWIN });
  const table: [() => Promise<unknown>, new (...given: never[]) => TroupeError, object][] = [
    [() => threads.get('no/where?'), NotFound, { status: 404, request: 'GET /v1/threads/no%2Fwhere%3F' }],
    [() => runs.stream({ agentId: 'nobody', messages: said }).text(), InvalidRequest, { status: 400 }],
    [() => client.request('POST', '/v1/runs', { body: { agentId: 1 } }), InvalidRequest, { status: 422 }],
    [() => createClient({ url: troupe.url }).actors.list(), Unauthorized, { status: 401 }],
    [
      () => threads.events('plain', { cursor: 'cur_9999999_x' }),
      Gone,
      { status: 410, message: /not of|no longer/ },
    ],
    [() => client.request('POST', '/v1/config/agents', { body: TWIN }), Conflict, { status: 409 }],
    [
      () => client.request('PATCH', '/v1/runs'),
      TroupeError,
      { status: 405, message: /only GET, HEAD, POST/ },
    ],
  ];
  for (const [call, Class, shape] of table) {
    const error = await call().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    t.ok(error instanceof Class, Class.name);
    t.match(error, { name: Class.name, requestId: /./, ...shape });
  }
  const parent = await threads.create();
  await threads.create({ parent_thread_id: parent.id });
  await t.rejects(threads.delete(parent.id, { children: 'reject' }), InvalidRequest);
  await threads.delete(parent.id, { children: 'cascade' });
  t.throws(() => createClient({ url: 'localhost' }), { name: 'TypeError', message: /'localhost'/ });
});

t.test('waits for a busy service as long as it asks, and no longer than the pauses', async (t) => {
  const answers = [503, 503, 200];
  const asked: number[] = [];
  const busy = createClient({
    url: 'http://any.example',
    pauses: [1, 1, 1],
    fetch: async () => {
      asked.push(performance.now());
      const status = answers.shift() ?? 503;
      const body = status === 200 ? 'id: cur_1\ndata: {"event_kind":"x"}\n\n' : '{"error":"busy"}';
      return new Response(body, { status, headers: { 'retry-after': '0.01' } });
    },
  });
  await t.rejects(busy.runs.get('x'), { name: 'Unavailable', message: 'busy', retryAfter: 10 });
  answers.unshift(503);
  const followed = busy.events.follow({ runId: 'x' });
  await t.rejects(collect(followed), Unavailable);
  t.equal(asked.length, 1 + 3 + 3, 'each received event resets the pauses');
});

t.test('lists return their first page, or every item of all pages', async (t) => {
  const list = await startTroupe(t);
  const { threads } = createClient({ url: list.url });
  for (let index = 0; index < 25; index += 1) await threads.create({ title: String(index) });
  const page = await threads.list({ limit: 10 });
  t.equal(page.items.length, 10);
  t.equal(page.total, 25);
  const titles = (await collect(threads.list({ limit: 10 }))).map(({ title }) => title);
  t.equal(new Set(titles).size, 25);
  t.equal((await collect(threads.list({ limit: 10, cursor: page.next_cursor ?? '' }))).length, 15);
});

t.test('follows the event log of a thread through cuts, with each event once', async (t) => {
  const control = new AbortController();
  const { id } = await client.threads.create();
  const { cursors_by_scope } = (await client.threads.events(id)).items.at(-1) ?? { cursors_by_scope: [] };
  const cursor = cursors_by_scope[0]?.cursor ?? '';
  const seen: CanonicalEvent[] = [];
  const following = (async () => {
    const { signal } = control;
    for await (const event of client.events.follow({ threadId: id, cursor }, { signal })) {
      seen.push(event);
      if (event.event_kind === 'RunStarted') proxy.cut();
      if (event.event_kind === 'RunFinished' && seen.length > 10) return;
    }
  })();
  for (const content of ['one', 'two']) {
    const sent = await troupe.runToEnd({
      agentId: 'echo',
      threadId: id,
      messages: [{ role: 'user', content }],
    });
    t.ok(sent.length > 0);
  }
  await following;
  const all = (await collect(client.threads.events(id))).slice(1);
  t.strictSame(
    seen.map(({ event_id }) => event_id),
    all.map(({ event_id }) => event_id),
  );
  control.abort();
  await t.rejects(client.events.follow({ threadId: id }, control)[Symbol.asyncIterator]().next(), {
    name: 'AbortError',
  });
});

for (const of of [{ threadId: 'quiet' }, { threadId: 'new' }]) {
  t.test(
    `following from now on misses no event of an outage before the first event: ${of.threadId}`,
    async (t) => {
      const control = new AbortController();
      if (of.threadId === 'quiet') await troupe.runToEnd({ agentId: 'echo', ...of, messages: said });
      const before = (await collect(client.threads.events(of.threadId))).length;
      const begins = defer();
      const follower = createClient({
        url: proxy.url,
        pauses: [50, ...QUICK, 500],
        async fetch(request) {
          const response = await fetch(request);
          const [body, copy] = response.body?.tee() ?? [];
          await copy?.getReader().read();
          begins.resolve();
          return new Response(body, response);
        },
      });
      const next = follower.events.follow(of, control)[Symbol.asyncIterator]().next();
      await begins.promise;
      proxy.isDown = true;
      proxy.cut();
      await troupe.runToEnd({ agentId: 'echo', ...of, messages: said });
      proxy.isDown = false;
      const { value } = await next;
      const [first] = (await collect(client.threads.events(of.threadId))).slice(before);
      t.ok(first);
      t.equal(value?.event_id, first?.event_id);
      control.abort();
    },
  );
}

t.test('reads and changes threads and actors', async (t) => {
  const { threads, actors } = client;
  const { id } = await threads.create({ title: 'First', resource_id: 'box' });
  const update = {
    title: 'Second',
    resource_id: null,
    custom: { color: 'red' },
    visibility: 'read',
  } as const;
  await threads.update(id, update);
  await t.rejects(threads.update(id, { owner: 'nobody' }), { message: /unknown user/ });
  t.match(await threads.get(id), { metadata: { title: 'Second', custom: { color: 'red' } } });
  const { status } = await threads.send(id, { agentId: 'slow', messages: said });
  t.match(status, /running|queued/);
  const run = await waitFor(async () => (await threads.activeRun(id)) ?? undefined);
  const { items } = await actors.list({ thread: id });
  t.ok(items.some(({ machine }) => machine === 'run'));
  for await (const frame of actors.follow({ run: run.run_id })) {
    t.equal(frame.type, 'actor');
    break;
  }
  t.match(await threads.mailbox(id), [{ thread_id: id }]);
  await threads.send(id, { messages: said });
  t.equal(await threads.interrupt(id), 1);
  await waitFor(async () => (await client.runs.get(run.run_id)).status === 'done' || undefined);
  t.match(await collect(client.runs.list({ threadId: id, status: 'done' })), [{ run_id: run.run_id }]);
  t.match(await collect(threads.messages(id, { order: 'asc' })), [{ role: 'user' }]);
});

t.test('a program has the same API without a network, in each of its scopes', async (t) => {
  const inside = await createTroupe({
    listen: false,
    settings: { storage_dir: t.testdir(), seed: { profile: 'demo' } },
    log: { write() {} },
  });
  t.teardown(() => inside.stop());
  const run = inside.runs.stream({ agentId: 'default', messages: said });
  t.equal(await run.text(), 'Scripted response to: Hello');
  t.equal((await inside.runs.list()).total, 1);
  t.match(await inside.request('GET', '/v1/config/agents'), { namespace: 'agents' });
  const other = inside.inScope('other');
  t.equal((await other.runs.list()).total, 0);
  await t.rejects(other.runs.get((await run.ids).run_id), NotFound);
  t.throws(() => inside.inScope(''), { message: 'the scope id is blank' });
});

const waitFor = async <Value>(look: () => Promise<Value | undefined>): Promise<Value> => {
  for (;;) {
    const value = await look();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
};
