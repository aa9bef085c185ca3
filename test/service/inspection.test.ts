import t, { type Test } from 'tap';
import { z } from 'zod';
import { MachineDescription } from '../../src/diagrams/description.ts';
import { createWholeScope } from '../../src/identity/access/whole-scope.ts';
import { createInspector } from '../../src/inspection/inspector.ts';
import { inspectionRoutes } from '../../src/routes/inspection.ts';
import { ActorFrame, ActorList } from '../../src/schema/live-actor.ts';
import { get, ADMIN_TOKEN as SERVE_TOKEN, serve, turn, when, wire } from '../http/serve.ts';
import { type StubbedActor, startRun } from '../inspection/actors.ts';
import { storeFor } from '../store/open.ts';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';

/** Data that visualizers read from a service: its statecharts, its live actors and their transitions. */

const EMPTY = { items: [], total: 0, has_more: false, next_cursor: null };

const PATHS = ['/v1/system/machines', '/v1/system/actors', '/v1/system/actors/stream'];

const follow = async (t: Test, url: string) => {
  const gone = new AbortController();
  t.teardown(() => gone.abort());
  const response = await fetch(`${url}/v1/system/actors/stream`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    signal: gone.signal,
  });
  const frames = framesOf(response);
  return {
    /** Reads the frames up to and including the first one that matches. */
    async until(holds: (frame: ActorFrame) => boolean): Promise<ActorFrame[]> {
      const read: ActorFrame[] = [];
      for (;;) {
        const { value } = await frames.next();
        if (!value) throw new Error(`the stream ended: ${JSON.stringify(read)}`);
        read.push(value);
        if (holds(value)) return read;
      }
    },
  };
};

async function* framesOf(response: Response): AsyncGenerator<ActorFrame, undefined> {
  let unread = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const texts = (unread + chunk).split('\n\n');
    unread = texts.pop() ?? '';
    for (const text of texts) {
      if (text.startsWith('data: ')) yield ActorFrame.parse(JSON.parse(text.slice('data: '.length)));
    }
  }
}

t.test('requires the admin token', async (t) => {
  const { call } = await startTroupe(t);
  for (const path of PATHS) t.equal((await call('GET', path)).status, 401, path);
});

t.test('serves the catalog of machines as data', async (t) => {
  const { admin } = await startTroupe(t);
  const { status, body } = await admin('GET', '/v1/system/machines');
  const machines = z.array(MachineDescription).parse(body);
  t.equal(status, 200);
  t.match(
    machines.find(({ name }) => name === 'run'),
    {
      id: 'run',
      initial: 'created',
      states: [{ path: 'created' }],
      transitions: [{ id: 'created CLAIM 0' }],
    },
  );
});

t.test('lists a slow run with its state under its thread', async (t) => {
  const { admin, run, models } = await startTroupe(t);
  t.strictSame((await admin('GET', '/v1/system/actors')).body, EMPTY);
  const stream = await run({ agentId: 'slow', threadId: 'T', messages: [{ role: 'user', content: 'x' }] });
  const { run_id } = await stream.until('run_start');
  await stream.until('text_delta');
  const actors = ActorList.parse((await admin('GET', '/v1/system/actors')).body).items;
  t.match(
    actors.find(({ machine }) => machine === 'run'),
    {
      id: `run:${run_id}`,
      state: 'running.inferring',
      tags: ['running', 'TASK_STATE_WORKING'],
      parent: 'thread:T',
      children: [],
    },
  );
  t.match(
    actors.find(({ machine }) => machine === 'thread'),
    { id: 'thread:T', state: 'busy', parent: null, children: [`run:${run_id}`] },
  );
  models.release();
  await stream.rest();
});

t.test('streams the transitions of a run from start to end, as the catalog defines them', async (t) => {
  const { admin, url, runToEnd } = await startTroupe(t);
  const machines = z.array(MachineDescription).parse((await admin('GET', '/v1/system/machines')).body);
  const stream = await follow(t, url);
  await runToEnd({ agentId: 'echo', threadId: 'T', messages: [{ role: 'user', content: 'x' }] });
  const frames = await stream.until((frame) => frame.type === 'ended' && frame.machine === 'run');
  t.match(
    frames.find((frame) => frame.type === 'began' && frame.machine === 'run'),
    { state: 'created', parent: 'thread:T' },
  );
  const transitions = frames.flatMap((frame) => (frame.type === 'transition' ? [frame] : []));
  for (const { machine, transition, event } of transitions) {
    const known = machines.find(({ name }) => name === machine)?.transitions;
    t.equal(known?.find(({ id }) => id === transition)?.event, event, `${machine}: ${transition}`);
  }
  const ofRun = transitions.filter(({ machine }) => machine === 'run');
  const way = ['created', ...ofRun.map(({ to }) => to)];
  t.strictSame(
    ofRun.map(({ from }) => from),
    way.slice(0, -1),
    'each transition starts in the target of the previous one',
  );
  t.ok(way.includes('running.inferring'));
  t.equal(way.at(-1), 'completed');
});

t.test('sends the current state to late subscribers, then its transitions', async (t) => {
  const { url, run, models } = await startTroupe(t);
  const slow = await run({ agentId: 'slow', messages: [{ role: 'user', content: 'x' }] });
  await slow.until('text_delta');
  const stream = await follow(t, url);
  const first = await stream.until((frame) => frame.type === 'actor' && frame.machine === 'run');
  t.match(first.at(-1), { state: 'running.inferring' });
  models.release();
  const rest = await stream.until((frame) => frame.type === 'ended' && frame.machine === 'run');
  t.match(
    rest.find((frame) => frame.type === 'transition' && frame.machine === 'run'),
    { from: 'running.inferring', event: 'done.infer' },
  );
  await slow.rest();
});

const STREAM = get('/v1/system/actors/stream', `Authorization: Bearer ${SERVE_TOKEN}`);

const inspected = async (t: Test, id = 'R') => {
  const inspector = createInspector({ clock: { now: Date.now } });
  const run = startRun();
  inspector.began(run.actor, { machine: 'run', id, scope: 'default', parent: 'thread:T' });
  const store = await storeFor(t);
  return { routes: inspectionRoutes({ inspector, store, wholeScope: createWholeScope(store) }), ...run };
};

/** With labels of this size, sockets accept a few hundred frames before they block. */
const LONG = 'x'.repeat(20_000);

/** Sends far more than sockets accept while the client reads nothing. */
const overflow = async (actor: StubbedActor['actor']): Promise<void> => {
  actor.send({ type: 'CLAIM' });
  for (let count = 0; count < 5000; count += 1) {
    actor.send({ type: 'STEER' });
    if (count % 5 === 0) await turn();
  }
};

t.test('releases all resources of a client that disconnects', async (t) => {
  const { routes, actor, inspectors } = await inspected(t);
  const { port, streams } = await serve(t, routes);
  const client = wire(t, port, STREAM);
  await client.until('"type":"actor"');
  t.equal(inspectors(), 1);
  actor.send({ type: 'CLAIM' });
  await client.until('running.inferring');
  client.socket.destroy();
  await when(() => streams() === 0);
  t.equal(inspectors(), 0);
});

t.test(
  'sends the current states to a client that stopped reading for a while, without a queue',
  async (t) => {
    const { routes, actor } = await inspected(t, LONG);
    const { port, streams } = await serve(t, routes, { settings: { sse_buffer_size: 10 } });
    const client = wire(t, port, STREAM);
    await client.until('"type":"actor"');
    client.socket.pause();
    await overflow(actor);
    actor.send({ type: 'CANCEL' });
    t.equal(streams(), 1, 'the stream is not closed');
    client.socket.resume();
    const text = await client.until('"state":"concluding"');
    t.ok(text.split('data: ').length < 2000, `${text.length} bytes`);
    actor.send({ type: 'CANCEL' });
    await client.until('"to":"ending"');
  },
);

t.test('stops although a subscriber does not read', async (t) => {
  const { routes, actor, inspectors } = await inspected(t, LONG);
  const { server, port, streams } = await serve(t, routes);
  const client = wire(t, port, STREAM);
  await client.until('"type":"actor"');
  client.socket.pause();
  await overflow(actor);
  await server.close();
  t.equal(streams(), 0);
  t.equal(inspectors(), 0);
  actor.send({ type: 'CANCEL' });
  t.equal(actor.getSnapshot().status, 'active');
});

t.test('isolates the actors of one scope from other scopes', async (t) => {
  const { routes, inspectors } = await inspected(t);
  const headers = { authorization: `Bearer ${SERVE_TOKEN}` };
  for (const [scope, count] of [
    ['default', 1],
    ['other', 0],
  ] as const) {
    const { url, port, streams } = await serve(t, routes, { resolveScope: () => scope });
    const response = await fetch(`${url}/v1/system/actors`, { headers });
    t.equal(ActorList.parse(await response.json()).items.length, count, scope);
    const client = wire(t, port, STREAM);
    await when(() => streams() === 1);
    t.equal(inspectors(), count, scope);
    client.socket.destroy();
    await when(() => streams() === 0);
  }
});
