import t, { type Test } from 'tap';
import { z } from 'zod';
import { digestOfCall } from '../../src/schema/call-digest.ts';
import type { Run, WaitingTicket } from '../../src/schema/run.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { asks } from './models.ts';
import { ADMIN_TOKEN, eventually } from './troupe.ts';
import { runEcho, type User, withUsers } from './users.ts';

/** The right to decide: identity.md 4, checks 47, 60, 63, 66, 67 and 69. */

const DIGEST = digestOfCall({ tool: 'risky', arguments: {} });
const yes = { toolCallId: 'c1', action: 'resume', payload: { approved: true } };

const decide = (user: User, decision: object) => user.post('/v1/threads/t1/decision', decision);

const suspended = async (t: Parameters<typeof withUsers>[0], tool = 'risky') => {
  const service = await withUsers(t);
  const alice = service.user('alice');
  service.models.steps.push(asks(['c1', tool]));
  await runEcho(alice, 't1', { agentId: 'steps' });
  return { service, alice };
};

t.test('records the verified user of a decision, and the name that the client sent', async (t) => {
  const { service, alice } = await suspended(t);
  t.equal((await decide(alice, { ...yes, decided_by: 'the boss' })).status, 202);
  await eventually(
    async () => service.tools.executed,
    (executed) => executed.includes('c1'),
  );
  const { body } = await alice.get('/v1/threads/t1/events');
  const events = (body.items as { event_kind: string; payload: object }[]).filter(
    ({ event_kind }) => event_kind === 'ToolPermissionResolved',
  );
  t.match(events, [
    {
      payload: {
        decided_by: 'alice',
        decided_as: 'the boss',
        digest: DIGEST,
        principal: { user: 'alice', credential: { kind: 'program' } },
      },
    },
  ]);
});

t.test('needs the grant for the tool, and from others the digest', async (t) => {
  const { service, alice } = await suspended(t);
  const narrow = service.user('alice', 'invoke', 'decide:*/get_*');
  t.match(await decide(narrow, yes), {
    status: 403,
    body: { error: "a decision on 'risky' needs decide:steps/risky", needs: ['decide:steps/risky'] },
  });
  t.equal((await decide(service.user('bob'), yes)).status, 404);
  const approver = service.user('bob', 'approver');
  t.match(await decide(approver, yes), {
    status: 422,
    body: { error: 'send the digest of what was shown' },
  });
  const edited = { approved: true, arguments: { a: 1 } };
  t.match(await decide(approver, { ...yes, payload: edited, digest: DIGEST }), {
    status: 403,
    body: { error: 'edited arguments must come from the user that the run acts for' },
  });
  t.strictSame(service.tools.executed, []);
  t.equal((await decide(approver, { ...yes, digest: DIGEST })).status, 202);
  await eventually(
    () => alice.get('/v1/threads/t1/runs'),
    ({ body }) => (body.items as { status: string }[])[0]?.status === 'done',
  );
  t.strictSame(service.tools.executed, ['c1']);
});

t.test('a call of the client is answered by the user of the run', async (t) => {
  const { service } = await suspended(t, 'pick_color');
  const bob = service.user('bob', 'member', 'write:all');
  t.match(await decide(bob, { toolCallId: 'c1', action: 'resume', payload: 'red' }), { status: 403 });
  const watcher = service.user('rita', 'approver');
  t.equal((await decide(watcher, { toolCallId: 'c1', action: 'cancel' })).status, 403);
  t.equal((await decide(bob, { toolCallId: 'c1', action: 'cancel' })).status, 202);
});

t.test('a decision in a chat request needs the same grant', async (t) => {
  const { service } = await suspended(t);
  const narrow = service.user('alice', 'invoke', 'decide:*/get_*');
  const body = {
    threadId: 't1',
    messages: [
      { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
      {
        id: 'a1',
        role: 'assistant',
        parts: [
          {
            type: 'tool-risky',
            toolCallId: 'c1',
            state: 'approval-responded',
            input: {},
            approval: { id: 'perm_c1', approved: true },
          },
        ],
      },
    ],
  };
  t.equal((await narrow.post('/v1/ai-sdk/chat', body)).status, 403);
  t.strictSame(service.tools.executed, []);
});

/** A run of `lead` whose delegate waits for the approval of `get_weather` and `send_mail`. */
const delegated = async (t: Test) => {
  const executed: string[] = [];
  const asking = (id: string) =>
    defineTool({
      id,
      description: id,
      input: z.object({}),
      needsApproval: true,
      execute: () => ({ data: executed.push(id) }),
    });
  const service = await withUsers(t, { app: { tools: [asking('get_weather'), asking('send_mail')] } });
  const lead = { id: 'lead', model_id: 'steps', delegates: ['steps'] };
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
  t.equal((await service.call('PUT', '/v1/config/agents/lead', lead, admin)).status, 200);
  service.models.steps.push(
    asks(['d1', 'agent_run_steps', { prompt: 'x' }]),
    asks(['w', 'get_weather'], ['m', 'send_mail']),
  );
  const alice = service.user('alice');
  await runEcho(alice, 't1', { agentId: 'lead' });
  const open = async (): Promise<WaitingTicket | undefined> =>
    (Object((await alice.get('/v1/threads/t1/runs/latest')).body) as Run).waiting?.tickets?.[0];
  const listed = await open();
  if (!listed) throw new Error('the run does not wait');
  return { service, alice, executed, open, listed };
};

t.test('a decision on all calls of a delegate needs the grant for each of them (check 67)', async (t) => {
  const { service, alice, executed, open, listed } = await delegated(t);
  const { ticket_id, digest = '' } = listed;
  t.strictSame(listed.tickets?.map(({ tool }) => tool).sort(), ['get_weather', 'send_mail']);
  const decider = service.user('bob', 'read:all', 'decide:steps/get_*');
  const missing = {
    status: 403,
    body: {
      error: "a decision on 'send_mail' needs decide:steps/send_mail",
      needs: ['decide:steps/send_mail'],
    },
  };
  for (const id of ['d1', ticket_id])
    for (const action of ['resume', 'cancel'])
      t.match(await decide(decider, { ...yes, toolCallId: id, action, digest }), missing, `${action} ${id}`);
  const mail = digestOfCall({ tool: 'send_mail', arguments: {} });
  t.match(await decide(decider, { ...yes, toolCallId: 'perm_m', digest: mail }), missing);
  t.equal((await open())?.digest, digest, 'nothing was decided');

  const weather = digestOfCall({ tool: 'get_weather', arguments: {} });
  t.equal((await decide(decider, { ...yes, toolCallId: 'perm_w', digest: weather })).status, 202);
  const rest = await eventually(open, (ticket) => ticket !== undefined && ticket.ticket_id !== ticket_id);
  t.strictSame(executed, ['get_weather'], 'only the decided call was executed');
  t.strictSame(
    rest?.tickets?.map(({ tool }) => tool),
    ['send_mail'],
  );
  const old = { ...yes, toolCallId: rest?.ticket_id, digest };
  const changed = { status: 409, body: { error: 'the call has changed' } };
  for (const user of [service.user('rita', 'approver'), alice]) t.match(await decide(user, old), changed);
  t.equal((await decide(alice, { ...old, toolCallId: 'd1' })).status, 409, 'the id of the delegating call');
  t.match((await decide(alice, { ...old, toolCallId: ticket_id })).status, /40[49]/, 'the decided ticket');
  t.strictSame(executed, ['get_weather']);
  t.equal((await decide(alice, { ...old, digest: String(rest?.digest) })).status, 202);
  await eventually(
    async () => executed,
    ({ length }) => length === 2,
  );
});

t.test('the routes of runs check the grant for the calls of a delegate (check 67)', async (t) => {
  const { service, executed, open, listed } = await delegated(t);
  const decider = service.user('bob', 'read:all', 'decide:steps/get_*');
  const run = (await service.user('alice').get('/v1/threads/t1/runs/latest')).body;
  const byRun = { ...yes, toolCallId: listed.ticket_id, digest: String(listed.digest) };
  t.equal((await decider.post(`/v1/runs/${run.run_id}/decision`, byRun)).status, 403);
  const [below] = listed.tickets ?? [];
  t.ok(below);
  const mail = { ...yes, toolCallId: 'perm_m', digest: digestOfCall({ tool: 'send_mail', arguments: {} }) };
  t.equal((await decider.post(`/v1/runs/${below?.run_id}/decision`, mail)).status, 403);
  t.equal((await open())?.digest, listed.digest);
  t.strictSame(executed, []);
});
