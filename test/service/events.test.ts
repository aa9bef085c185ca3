import t from 'tap';
import type { CanonicalEvent } from '../../src/schema/canonical-event.ts';
import { when } from '../http/serve.ts';
import { roundsOf } from '../long.ts';
import { type EventClient, followEvents } from './follow.ts';
import { eventually, startDemo, type Troupe } from './troupe.ts';

/** runtime.md 19, checks 59 to 63 and 65. */

type Page = { items: CanonicalEvent[]; next_cursor: string | null; has_more: boolean };

const TERMINAL = ['RunFinished', 'RunCancelled', 'RunErrored', 'RunTerminated'];

const hello = (agentId: string, threadId: string, content = 'Hello') => ({
  agentId,
  threadId,
  messages: [{ role: 'user', content }],
});

const pageOf = async ({ call }: Troupe, path: string): Promise<Page> => {
  const { status, body } = await call('GET', path);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  // The OpenAPI test of the routes checks the shape; the assertions here read its fields.
  return body as unknown as Page;
};

/** Reads all pages of this size. */
const listAll = async (troupe: Troupe, path: string, limit = 200): Promise<CanonicalEvent[]> => {
  const items: CanonicalEvent[] = [];
  let cursor = '';
  for (;;) {
    const page = await pageOf(troupe, `${path}?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    items.push(...page.items);
    if (page.next_cursor === null) return items;
    cursor = page.next_cursor;
  }
};

const kinds = (events: readonly CanonicalEvent[]): string[] => events.map((event) => event.event_kind);

const ids = (events: readonly CanonicalEvent[]): string[] => events.map((event) => event.event_id);

const idsOf = (client: EventClient): string[] => ids(client.frames.map(({ event }) => event));

const cursorIn = (event: CanonicalEvent | undefined, scope: 'thread' | 'run'): string =>
  event?.cursors_by_scope.find((entry) => entry.scope.scope_type === scope)?.cursor ?? 'none';

t.test('lists the events of a plain run in order, in both scopes and in pages of any size', async (t) => {
  const troupe = await startDemo(t);
  const [start] = await troupe.runToEnd(hello('default', 'T'));
  const events = await listAll(troupe, '/v1/threads/T/events');
  const run_id = String(start?.run_id);
  t.equal(events[0]?.event_kind, 'ThreadCreated');
  t.strictSame(events[0]?.scopes, [{ scope_type: 'thread', thread_id: 'T' }]);
  const ofRun = events.slice(1);
  t.strictSame(kinds(ofRun), [
    'MessageCommitted',
    'ThreadMessagesCheckpointed',
    'RunQueued',
    'RunSubmitted',
    'RunStarted',
    'InferenceComplete',
    'MessageCommitted',
    'ThreadMessagesCheckpointed',
    'RunFinished',
  ]);
  const scopes = [
    { scope_type: 'thread', thread_id: 'T' },
    { scope_type: 'run', run_id },
  ];
  for (const event of ofRun) {
    t.match(event, { scopes, thread_id: 'T', run_id, schema_version: 1, visibility: 'public' });
    t.match(
      event.cursors_by_scope,
      scopes.map((scope) => ({ scope, cursor: /^\S+$/ })),
    );
  }
  t.match(ofRun.at(-1)?.payload, { event_type: 'run_finish', termination: { type: 'natural_end' } });
  t.strictSame(await listAll(troupe, '/v1/threads/T/events', 1), events);
  t.strictSame(await listAll(troupe, `/v1/runs/${run_id}/events`, 1), ofRun);
  const whole = await pageOf(troupe, '/v1/threads/T/events?limit=0');
  t.match(whole, { items: { length: 1 }, has_more: true, next_cursor: cursorIn(events[0], 'thread') });
});

t.test('starts a stream behind its cursor, at Last-Event-ID or at the end, and continues live', async (t) => {
  const troupe = await startDemo(t);
  await troupe.runToEnd(hello('default', 'T'));
  const before = await listAll(troupe, '/v1/threads/T/events');
  const stream = `${troupe.url}/v1/threads/T/events/stream`;
  const [third, fifth] = [cursorIn(before[2], 'thread'), cursorIn(before[4], 'thread')];
  const clients = [
    { client: await followEvents(t, `${stream}?cursor=${third}`), from: 3 },
    { client: await followEvents(t, stream, { 'last-event-id': third }), from: 3 },
    { client: await followEvents(t, `${stream}?cursor=${fifth}`, { 'last-event-id': third }), from: 5 },
    { client: await followEvents(t, stream), from: before.length },
  ];
  await troupe.runToEnd(hello('default', 'T', 'Again'));
  const all = await listAll(troupe, '/v1/threads/T/events');
  for (const { client, from } of clients) {
    t.equal(client.headers['content-type'], 'text/event-stream');
    t.equal(client.headers['cache-control'], 'no-cache');
    const frames = await client.until(all.length - from);
    t.strictSame(
      frames.map(({ event }) => event),
      all.slice(from),
    );
    t.strictSame(
      frames.map(({ id }) => id),
      all.slice(from).map((event) => cursorIn(event, 'thread')),
    );
  }
});

t.test('streams only the events of its run', async (t) => {
  const troupe = await startDemo(t);
  const slow = await troupe.run(hello('slow', 'T'));
  const { run_id } = await slow.until('run_start');
  const client = await followEvents(t, `${troupe.url}/v1/runs/${run_id}/events/stream`);
  const already = await listAll(troupe, `/v1/runs/${run_id}/events`);
  await troupe.call('POST', '/v1/threads/T/messages', {
    mode: 'queue',
    agent_id: 'echo',
    messages: [{ role: 'user', content: 'next' }],
  });
  troupe.models.release();
  await slow.rest();
  const all = await listAll(troupe, `/v1/runs/${run_id}/events`);
  await client.until(all.length - already.length);
  t.strictSame(idsOf(client), ids(all.slice(already.length)));
});

t.test('rejects invalid cursors, and lists unknown logs as empty', async (t) => {
  const { call, runToEnd, url } = await startDemo(t);
  const [start] = await runToEnd(hello('default', 'T'));
  await runToEnd(hello('default', 'U'));
  const [ofThread] = (await call('GET', '/v1/threads/T/events')).body.items as CanonicalEvent[];
  const foreign = cursorIn(ofThread, 'thread');
  const gone = (cursor: unknown) => ({
    error: `cursor '${cursor}' is not, or no longer, of this log; read from its beginning`,
  });
  for (const path of [
    '/v1/threads/U/events',
    `/v1/runs/${start?.run_id}/events`,
    '/v1/runs/unknown/events',
  ]) {
    for (const form of [path, `${path}/stream`]) {
      t.match(await call('GET', `${form}?cursor=`), {
        status: 400,
        body: { error: 'validation error: cursor is required' },
      });
      t.match(await call('GET', `${form}?cursor=%20`), { status: 400 });
      t.strictSame((await call('GET', `${form}?cursor=nope`)).body, gone('nope'));
      t.match(await call('GET', `${form}?cursor=${foreign}`), { status: 410, body: gone(foreign) });
    }
    t.equal((await call('GET', `${path}?limit=x`)).status, 400);
    const header = { 'last-event-id': 'nope' };
    t.match(await call('GET', `${path}/stream`, undefined, header), { status: 410, body: gone('nope') });
  }
  for (const path of ['/v1/runs/unknown/events', '/v1/threads/unknown/events', '/v1/threads/a%00b/events']) {
    const { status, body } = await call('GET', path);
    t.equal(status, 200);
    t.strictSame(body, { items: [], next_cursor: null, has_more: false });
  }
  const client = await followEvents(t, `${url}/v1/threads/later/events/stream`);
  await runToEnd(hello('default', 'later'));
  t.match(await client.until(1), [{ event: { event_kind: 'ThreadCreated', thread_id: 'later' } }]);
});

t.test('writes exactly one terminal event for each run, also when ends race', async (t) => {
  const troupe = await startDemo(t);
  const rounds = roundsOf(10);
  for (let round = 0; round < rounds; round += 1) {
    const first = await troupe.run(hello('slow', 'T'));
    const { run_id } = await first.until('run_start');
    await eventually(
      async () => troupe.models.waiting(),
      (waiting) => waiting > 0,
    );
    troupe.models.release();
    const takeover = troupe.runToEnd(hello('echo', 'T'));
    await eventually(
      () => troupe.call('GET', `/v1/runs/${run_id}`),
      ({ body }) => body.status === 'done',
    );
    const ofRun = kinds(await listAll(troupe, `/v1/runs/${run_id}/events`));
    t.equal(ofRun.filter((kind) => TERMINAL.includes(kind)).length, 1);
    await Promise.all([takeover, first.rest()]);
  }
  const all = await listAll(troupe, '/v1/threads/T/events');
  const ended = all.filter(({ event_kind }) => TERMINAL.includes(event_kind)).map(({ run_id }) => run_id);
  t.equal(ended.length, 2 * rounds);
  t.equal(new Set(ended).size, 2 * rounds);
});

t.test('emits creation, changes and deletion of a thread, and keeps its events', async (t) => {
  const troupe = await startDemo(t);
  const { body: thread } = await troupe.call('POST', '/v1/threads', { title: 'A' });
  const path = `/v1/threads/${thread.id}`;
  const client = await followEvents(t, `${troupe.url}${path}/events/stream`);
  await troupe.call('PATCH', path, { title: 'B' });
  await troupe.call('DELETE', path);
  const events = await listAll(troupe, `${path}/events`);
  t.match(events, [
    { event_kind: 'ThreadCreated', payload: { thread_id: thread.id, title: 'A', parent_thread_id: null } },
    { event_kind: 'ThreadUpdated', payload: { title: 'B', previous: { title: 'A' } } },
    { event_kind: 'ThreadDeleted', payload: { thread_id: thread.id, child_strategy: 'detach' } },
  ]);
  t.equal(events.length, 3);
  for (const event of events)
    t.match(event, { origin: 'server', correlation_id: thread.id, scopes: { length: 1 } });
  await client.until(2);
  t.strictSame(idsOf(client), ids(events.slice(1)));
});

t.test('keeps all events for a stalled reader without slowing the run', async (t) => {
  // More events than one turn writes, and more bytes than the sockets of both sides buffer.
  const [STEPS, DELTAS] = [8, 80];
  const troupe = await startDemo(t, {
    settings: { event_capture_mode: 'full_fidelity', sse_heartbeat_ms: 3_600_000 },
  });
  for (let step = 1; step <= STEPS; step += 1) {
    troupe.models.steps.push((sink) => {
      for (let delta = 0; delta < DELTAS; delta += 1) sink.text(`${delta} ${'x'.repeat(12_500)}`);
      if (step === STEPS) return { stop: 'EndTurn' };
      sink.toolStart(`c${step}`, 'get_stock_price');
      sink.toolEnd(`c${step}`, '{"symbol":"aapl"}');
      return { stop: 'ToolUse' };
    });
  }
  const stream = `${troupe.url}/v1/threads/T/events/stream`;
  let slow = await followEvents(t, stream);
  slow.stop();
  const fast = await followEvents(t, stream);
  // The direct reader of the run is not under test, and a slow host would disconnect it.
  await (await troupe.run(hello('steps', 'T'))).close();
  await eventually(
    async () => (await troupe.call('GET', '/v1/threads/T/runs/latest')).body.status,
    (status) => status === 'done',
  );
  const expected = ids(await listAll(troupe, '/v1/threads/T/events'));
  t.ok(expected.length > STEPS * DELTAS);
  await fast.until(expected.length);
  t.strictSame(idsOf(fast), expected);
  t.ok(slow.frames.length < expected.length, 'the socket has stalled');

  slow.goOn();
  const seen: string[] = [];
  const complete = (): boolean => seen.length + slow.frames.length >= expected.length;
  // On a slow host the server may close the socket; the client then reconnects at its last position.
  while (!complete()) {
    await when(() => complete() || slow.closed());
    if (complete()) break;
    seen.push(...idsOf(slow));
    const last = slow.frames.at(-1)?.id;
    slow = await followEvents(t, stream, last === undefined ? {} : { 'last-event-id': last });
  }
  t.strictSame([...seen, ...idsOf(slow)], expected);
});
