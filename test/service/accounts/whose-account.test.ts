import t from 'tap';
import { z } from 'zod';
import { defineTool } from '../../../src/tools/define-tool.ts';
import type { Json } from '../../../src/tools/tool.ts';
import { asks } from '../models.ts';
import { eventually } from '../troupe.ts';
import { ADMIN, open, type Run, TOOL, ticketOf } from './connected.ts';

/** Whose accounts a key and a run use: identity.md 2.1, 3.5, 6.2, checks 20 and 92. */

type Opened = Awaited<ReturnType<typeof open>>;

const hello = { messages: [{ role: 'user', content: 'Hi' }] };

/** A client with the headers of a request. */
const clientOf = ({ troupe, kit, callback }: Opened, head: Record<string, string>) => {
  const call = (method: string, path: string, body?: unknown) => troupe.call(method, path, body, head);
  return {
    call,
    connections: async () => (await call('GET', '/v1/connections')).body.items,
    async connect(): Promise<number> {
      const { status, body } = await call('POST', '/v1/connections', { server: 'notes' });
      if (status !== 201) return status;
      const start = `/v1/authorizations/${body.id}/start`;
      const { body: started } = await call('POST', start, { return_to: '/' });
      const back = await callback(await kit.approve(String(started.url)), '');
      const code = new URL(back.headers.get('location') ?? '').searchParams.get('code');
      return (await call('POST', `/v1/authorizations/${body.id}/confirm`, { code })).status;
    },
    /** Starts a run that calls the tool, and returns it once it has ended or waits. */
    async run(threadId: string): Promise<Run> {
      troupe.models.steps.push(asks(['c1', TOOL, {}]));
      await call('POST', '/v1/runs', { agentId: 'steps', threadId, ...hello });
      const { body } = await call('GET', `/v1/threads/${threadId}/runs`);
      const [run] = body.items as Run[];
      if (!run) throw new Error('no run');
      return run;
    },
  };
};

/** The result of the last call that a model has read. */
const lastResult = ({ troupe }: Opened): string =>
  JSON.stringify(troupe.models.requests.at(-1)?.request.messages.filter(({ role }) => role === 'tool'));

const create = async ({ troupe }: Opened, path: string, body: object): Promise<Record<string, unknown>> => {
  const made = await troupe.call('POST', path, body, ADMIN);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body;
};

const keyOf = async (service: Opened, key: object): Promise<Record<string, string>> => {
  const { key: text } = await create(service, '/v1/keys', { name: 'k', ...key });
  return { authorization: `Bearer ${text}` };
};

const IDENTITY = { issuer: 'https://login.acme.example', subject: '00u1' };

t.test(
  'a key that another user made for a person neither lists nor uses its accounts (check 20)',
  async (t) => {
    const service = await open(t);
    await create(service, '/v1/users', { id: 'bea', kind: 'person', grants: ['member'], identity: IDENTITY });
    t.equal((await service.connect('bea')).status, 200);
    const foreign = clientOf(service, await keyOf(service, { user: 'bea' }));
    t.strictSame(await foreign.connections(), []);
    t.equal((await foreign.call('DELETE', '/v1/connections/notes')).status, 404);
    t.not(await foreign.connect(), 200, 'the key makes none');
    const before = service.kit.calls.length;
    t.match(await foreign.run('of-key'), { status: 'done' });
    t.match(lastResult(service), /server 'notes' needs a signed-in user|credential|key/);
    t.equal(service.kit.calls.length, before, 'nothing was called');

    await service.run('bea', 'of-bea', ['c1', TOOL, {}]);
    await service.done('bea', 'of-bea');
    t.equal(service.kit.calls.length, before + 1, 'her own requests use it');
    t.match((await service.as('bea').get('/v1/connections')).body, { items: [{ server: 'notes' }] });
  },
);

t.test('the first key of a person, and keys of services, use their accounts (check 20)', async (t) => {
  const service = await open(t);
  for (const [user, kind] of [
    ['ben', 'person'],
    ['bot', 'service'],
  ] as const) {
    const head = await keyOf(service, { user, new_user: { kind, grants: ['member'] } });
    const client = clientOf(service, head);
    t.equal(await client.connect(), 200, user);
    t.match(await client.connections(), [{ server: 'notes' }]);
    const before = service.kit.calls.length;
    await client.run(`of-${user}`);
    t.equal(service.kit.calls.length, before + 1);
  }
  const second = clientOf(service, await keyOf(service, { user: 'bot' }));
  t.match(await second.connections(), [{ server: 'notes' }], 'all keys of a service do');
  const another = clientOf(service, await keyOf(service, { user: 'ben' }));
  t.strictSame(await another.connections(), []);
});

t.test('a back end uses accounts of end users, and none of users with an identity (check 20)', async (t) => {
  const service = await open(t);
  await create(service, '/v1/users', { id: 'bea', kind: 'person', grants: ['member'], identity: IDENTITY });
  await create(service, '/v1/users', {
    id: 'invited',
    kind: 'person',
    grants: ['member'],
    identity: 'pending',
  });
  t.equal((await service.connect('bea')).status, 200);
  const key = await keyOf(service, { user: 'app', new_user: { kind: 'service', grants: ['member', 'act'] } });
  const actingFor = (user: string) => clientOf(service, { ...key, 'x-service-user': user });
  for (const user of ['bea', 'invited']) {
    const bound = actingFor(user);
    t.strictSame(await bound.connections(), [], user);
    t.not(await bound.connect(), 200);
    t.equal((await bound.call('DELETE', '/v1/connections/notes')).status, 404);
    const before = service.kit.calls.length;
    t.match(await bound.run(`of-${user}`), { status: 'done' });
    t.equal(service.kit.calls.length, before);
  }
  const [one, other] = [actingFor('u1'), actingFor('u2')];
  t.equal(await one.connect(), 200);
  t.match(await one.connections(), [{ server: 'notes' }]);
  const before = service.kit.calls.length;
  await one.run('of-u1');
  t.equal(service.kit.calls.length, before + 1);
  t.strictSame(await other.connections(), []);
  t.match(await other.run('of-u2'), { status: 'waiting', waiting: { message: 'auth_required' } });
  t.match((await service.as('bea').get('/v1/connections')).body, { items: [{ server: 'notes' }] });
});

/** Bob, whose account is not connected, sends input into the thread of Alice, whose account is. */
const inThreadOfAlice = async (service: Opened, agentId: string) => {
  const { as, connect, troupe } = service;
  t.equal((await connect('alice')).status, 200);
  const { body: thread } = await as('alice').post('/v1/threads', {});
  await troupe.call('PATCH', `/v1/threads/${thread.id}`, { visibility: 'write' }, { 'x-user': 'alice' });
  const send = (user: string) => as(user).post('/v1/runs', { agentId, threadId: thread.id, ...hello });
  /** The waiting run of this user, on the thread or below it. */
  const waits = async (user: string): Promise<Run | undefined> => {
    const { body } = await as('alice').get('/v1/runs?status=waiting');
    const runs = (body.items as (Run & { user: string })[]).filter((run) => run.user === user);
    return runs.find(({ waiting }) => waiting?.message === 'auth_required');
  };
  return { send, waits };
};

t.test('a sub-agent calls with the account of the user of its run (check 92)', async (t) => {
  const service = await open(t);
  const { troupe, kit, connect } = service;
  const lead = { id: 'lead', model_id: 'steps', delegates: ['steps'] };
  t.equal((await troupe.call('PUT', '/v1/config/agents/lead', lead, ADMIN)).status, 200);
  const { send, waits } = await inThreadOfAlice(service, 'lead');
  const delegates = (id: string) =>
    troupe.models.steps.push(
      asks([id, 'agent_run_steps', { prompt: 'note it' }]),
      asks([`${id}n`, TOOL, {}]),
    );

  delegates('d1');
  await send('alice');
  t.equal(kit.calls.length, 1, 'that of Alice in her own run');
  delegates('d2');
  await send('bob');
  const waiting = await eventually(
    () => waits('bob'),
    (run) => run !== undefined,
  );
  t.equal(kit.calls.length, 1, 'not that of the owner of the thread');
  if (!waiting) throw new Error('the run does not wait');
  await connect('bob', ticketOf(waiting).arguments.authorization);
  await eventually(
    async () => kit.calls.length,
    (count) => count === 2,
  );
  const [ofAlice, ofBob] = kit.calls.map(({ grant }) => grant.id);
  t.not(ofAlice, ofBob);
});

t.test('a run that a background task wakes calls with the account of its user (check 92)', async (t) => {
  const ends: ((result: Json) => void)[] = [];
  const work = defineTool({
    id: 'work',
    description: 'Starts a task.',
    input: z.object({}),
    execute: (_, { tasks }) => {
      tasks?.start({ run: () => new Promise((resolve) => void ends.push(resolve)) });
      return { data: 'started' };
    },
  });
  const service = await open(t, { app: { tools: [work] } });
  const { troupe, kit } = service;
  const worker = { id: 'worker', model_id: 'steps', plugin_ids: ['background_tasks'] };
  t.equal((await troupe.call('PUT', '/v1/config/agents/worker', worker, ADMIN)).status, 200);
  const { send, waits } = await inThreadOfAlice(service, 'worker');
  troupe.models.steps.push(asks(['w1', 'work', {}]), (sink) => {
    sink.text('started');
    return { stop: 'EndTurn' };
  });
  await send('bob');
  await eventually(
    async () => ends.length,
    (count) => count === 1,
  );
  troupe.models.steps.push(asks(['n1', TOOL, {}]));
  for (const end of ends) end('done');
  t.ok(
    await eventually(
      () => waits('bob'),
      (run) => run !== undefined,
    ),
    'the run waits for the account of Bob',
  );
  t.equal(kit.calls.length, 0);
});
