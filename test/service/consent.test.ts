import t, { type Test } from 'tap';
import { z } from 'zod';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { digestOfCall } from '../../src/schema/call-digest.ts';
import type { Json } from '../../src/schema/json.ts';
import type { Run, WaitingTicket } from '../../src/schema/run.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { asks, type Call } from './models.ts';
import { eventually, startTroupe, type Troupe } from './troupe.ts';
import { viewOf } from './view.ts';

/** runtime.md 12: a call is executed only after a person approved exactly the call that was shown. */

type Executed = { tool: string; note: string };

/** `solo` asks before each call; `parent` delegates to `child`, and `child` to `grandchild`, which also ask. */
const open = async (t: Test) => {
  const executed: Executed[] = [];
  const noting = (tool: string) =>
    defineTool({
      id: tool,
      description: 'Notes.',
      input: z.object({ note: z.string() }),
      needsApproval: true,
      execute: ({ note }) => ({ data: executed.push({ tool, note }) }),
    });
  const agents = [
    { id: 'solo' },
    { id: 'parent', delegates: ['child'] },
    { id: 'child', delegates: ['grandchild'] },
    { id: 'grandchild' },
  ].map((agent) => AgentSpec.parse({ model_id: 'steps', max_rounds: 8, ...agent }));
  const troupe = await startTroupe(t, {
    settings: { storage_dir: t.testdir() },
    app: { tools: [noting('read'), noting('write')], records: { ...NO_RECORDS, agents } },
  });
  return { troupe, executed };
};

const call = (id: string, tool: string, note: string): Call => [id, tool, { note }];

const run = async (troupe: Troupe, agentId: string, threadId = 'T') => {
  await troupe.runToEnd({ agentId, threadId, messages: [{ role: 'user', content: 'go' }] });
  return latest(troupe, threadId);
};

const latest = async (troupe: Troupe, thread = 'T'): Promise<Run> =>
  (await troupe.call('GET', `/v1/threads/${thread}/runs/latest`)).body as Run;

const ticketsOf = (run: Run): WaitingTicket[] => run.waiting?.tickets ?? [];

type Decision = { action?: string; payload?: Json; digest?: string };

const decide = (troupe: Troupe, toolCallId: string, decision: Decision = {}, thread = 'T') =>
  troupe.post(`/v1/threads/${thread}/decision`, { toolCallId, action: 'resume', ...decision });

const YES = { payload: { approved: true } };

/** Waits until the run has a ticket with another id. */
const nextTicket = async (troupe: Troupe, before: string | undefined): Promise<WaitingTicket> => {
  const found = await eventually(
    async () => ticketsOf(await latest(troupe))[0],
    (ticket) => ticket !== undefined && ticket.ticket_id !== before,
  );
  if (!found) throw new Error('no ticket is open');
  return found;
};

t.test('rejects an ambiguous payload and keeps the ticket open (check 61)', async (t) => {
  const { troupe, executed } = await open(t);
  troupe.models.steps.push(asks(call('c1', 'write', 'X')));
  const { run_id } = await run(troupe, 'solo');
  const unclear: Json[] = ['deny', false, {}, { approved: 'false' }, { approve: false }, { type: 'reject' }];
  for (const payload of unclear) {
    t.match(await decide(troupe, 'perm_c1', { payload }), {
      status: 422,
      body: { error: 'say "approved": true or false' },
    });
  }
  const events = await viewOf(troupe, 'T').events(run_id);
  t.notOk(events.some(({ event_kind }) => event_kind === 'MailboxDecisionReceived'));
  t.match(ticketsOf(await latest(troupe)), [{ ticket_id: 'perm_c1' }]);
  t.match(await decide(troupe, 'perm_c1', YES), { status: 202 });
  await viewOf(troupe, 'T').until(run_id, 'done');
  t.strictSame(executed, [{ tool: 'write', note: 'X' }]);
});

t.test('does not apply a duplicate decision to a later call with the same id (check 62)', async (t) => {
  const { troupe, executed } = await open(t);
  troupe.models.steps.push(asks(call('call_0', 'read', 'a')), asks(call('call_0', 'write', 'DANGEROUS')));
  await run(troupe, 'solo');
  t.match(await decide(troupe, 'call_0', YES), { status: 202 });
  const second = await nextTicket(troupe, 'perm_call_0');
  t.match(second.ticket_id, /^perm_call_0~.{8}$/);
  await troupe.restart();
  t.match(await decide(troupe, 'call_0', YES), {
    status: 409,
    body: { error: "'call_0' names more than one call; decide by ticket id" },
  });
  t.match(await decide(troupe, 'perm_call_0', YES), { status: 404 });
  t.strictSame(executed, [{ tool: 'read', note: 'a' }]);
  t.match(await decide(troupe, second.ticket_id, YES), { status: 202 });
  await eventually(
    async () => executed,
    ({ length }) => length === 2,
  );
});

t.test(
  'does not apply a late decision on a cancelled run to a call of the next run (check 62)',
  async (t) => {
    const { troupe, executed } = await open(t);
    troupe.models.steps.push(asks(call('call_0', 'read', 'a')), asks(call('call_0', 'write', 'DANGEROUS')));
    await run(troupe, 'solo');
    await troupe.post('/v1/threads/T/cancel', {});
    const [ticket] = ticketsOf(await run(troupe, 'solo'));
    t.match(ticket?.ticket_id, /^perm_call_0~/);
    t.match(await decide(troupe, 'perm_call_0', YES), { status: 404 });
    t.match(await decide(troupe, 'call_0', YES), { status: 409 });
    t.strictSame(executed, []);
  },
);

t.test('binds a decision to the digest of the call that was shown', async (t) => {
  const { troupe, executed } = await open(t);
  troupe.models.steps.push(asks(call('c1', 'write', 'X')));
  const [ticket] = ticketsOf(await run(troupe, 'solo'));
  t.equal(ticket?.digest, digestOfCall({ tool: 'write', arguments: { note: 'X' } }));
  const other = digestOfCall({ tool: 'write', arguments: { note: 'Y' } });
  t.match(await decide(troupe, 'perm_c1', { ...YES, digest: other }), {
    status: 409,
    body: { error: 'the call has changed' },
  });
  t.match(await decide(troupe, 'perm_c1', { ...YES, digest: String(ticket?.digest) }), { status: 202 });
  await eventually(
    async () => executed,
    ({ length }) => length === 1,
  );
});

t.test('rejects a remembered pattern that matches other tools', async (t) => {
  const { troupe } = await open(t);
  troupe.models.steps.push(asks(call('c1', 'write', 'X')));
  await run(troupe, 'solo');
  const remember = (pattern: string) => ({ payload: { approved: true, remember: 'thread', pattern } });
  t.match(await decide(troupe, 'perm_c1', remember('*')), {
    status: 422,
    body: { error: /^pattern must name/ },
  });
  t.match(await decide(troupe, 'perm_c1', remember('write(note = "X")')), { status: 202 });
});

t.test('does not execute several calls of a delegate on one approval', async (t) => {
  const { troupe, executed } = await open(t);
  const both = asks(call('w', 'read', 'a'), call('n', 'write', 'DELETE EVERYTHING'));
  troupe.models.steps.push(asks(['d1', 'agent_run_child', { prompt: 'x' }]), both);
  const [ticket] = ticketsOf(await run(troupe, 'parent'));
  t.match(ticket?.tickets, [
    { id: 'perm_n', tool: 'write', arguments: { note: 'DELETE EVERYTHING' }, agent_id: 'child' },
    { id: 'perm_w', tool: 'read', arguments: { note: 'a' }, agent_id: 'child' },
  ]);
  t.match(await decide(troupe, 'd1', YES), { status: 422, body: { error: /lists 2 tickets/ } });
  t.match(await decide(troupe, String(ticket?.ticket_id)), { status: 422 });
  t.match(await decide(troupe, 'perm_w', YES), { status: 202 }, 'a ticket is decided by its id');
  const rest = await nextTicket(troupe, ticket?.ticket_id);
  t.strictSame(executed, [{ tool: 'read', note: 'a' }]);
  t.equal(rest.ticket_id, `${ticket?.ticket_id}~1`);
  t.match(rest.tickets, [{ id: 'perm_n' }]);
  t.match(await decide(troupe, rest.ticket_id, { ...YES, digest: String(rest.digest) }), { status: 202 });
  await eventually(
    async () => executed,
    ({ length }) => length === 2,
  );
});

t.test('approves all calls of a delegate by the digest of their list', async (t) => {
  const { troupe, executed } = await open(t);
  const both = asks(call('w', 'read', 'a'), call('n', 'write', 'b'));
  troupe.models.steps.push(asks(['d1', 'agent_run_child', { prompt: 'x' }]), both);
  const { waiting, run_id } = await run(troupe, 'parent');
  const [ticket] = waiting?.tickets ?? [];
  t.match(await decide(troupe, 'd1', { ...YES, digest: '0' }), { status: 409 });
  t.match(await decide(troupe, 'd1', { ...YES, digest: String(ticket?.digest) }), { status: 202 });
  await viewOf(troupe, 'T').until(run_id, 'done');
  t.equal(executed.length, 2);
});

t.test('accepts edited arguments for a single call of a delegate only', async (t) => {
  const { troupe, executed } = await open(t);
  const both = asks(call('w', 'read', 'a'), call('s', 'read', 'b'));
  troupe.models.steps.push(asks(['d1', 'agent_run_child', { prompt: 'x' }]), both);
  const [ticket] = ticketsOf(await run(troupe, 'parent'));
  const edited = { payload: { approved: true, arguments: { note: 'EDITED' } } };
  t.match(await decide(troupe, 'd1', { ...edited, digest: String(ticket?.digest) }), { status: 422 });
  const digest = digestOfCall({ tool: 'read', arguments: { note: 'EDITED' } });
  const wrong = digestOfCall({ tool: 'read', arguments: { note: 7 } });
  t.match(
    await decide(troupe, 'perm_s', { payload: { approved: true, arguments: { note: 7 } }, digest: wrong }),
    {
      status: 422,
      body: { error: /^arguments: 'note': / },
    },
  );
  t.match(await decide(troupe, 'perm_s', { ...edited, digest }), { status: 202 });
  await nextTicket(troupe, ticket?.ticket_id);
  t.strictSame(executed, [{ tool: 'read', note: 'EDITED' }]);
});

t.test('applies an approval to no other call when its call was decided elsewhere', async (t) => {
  const { troupe, executed } = await open(t);
  troupe.models.steps.push(
    asks(['d1', 'agent_run_child', { prompt: 'x' }]),
    asks(call('call_0', 'read', 'a')),
    asks(call('call_0', 'write', 'DANGEROUS')),
  );
  const [shown] = ticketsOf(await run(troupe, 'parent'));
  const [below] = shown?.tickets ?? [];
  t.match(
    await troupe.post(`/v1/runs/${below?.run_id}/decision`, {
      toolCallId: below?.id,
      action: 'resume',
      ...YES,
    }),
    { status: 202 },
  );
  const now = await nextTicket(troupe, shown?.ticket_id);
  t.match(now.tickets, [{ tool: 'write', arguments: { note: 'DANGEROUS' } }]);
  for (const id of [shown?.ticket_id, below?.id])
    t.match(await decide(troupe, String(id), YES), { status: 404 });
  t.match(await decide(troupe, 'd1', YES), { status: 409 });
  t.strictSame(executed, [{ tool: 'read', note: 'a' }]);
  await troupe.restart();
  t.match(await decide(troupe, now.ticket_id, YES), { status: 202 });
  await eventually(
    async () => executed,
    ({ length }) => length === 2,
  );
});

t.test('lists, approves and denies calls two delegates below by their ids', async (t) => {
  const { troupe, executed } = await open(t);
  troupe.models.steps.push(
    asks(['d1', 'agent_run_child', { prompt: 'x' }]),
    asks(call('own', 'read', 'child'), ['d2', 'agent_run_grandchild', { prompt: 'y' }]),
    asks(call('g', 'write', 'deep'), call('h', 'read', 'deeper')),
  );
  let ticket = (await run(troupe, 'parent')).waiting?.tickets?.[0];
  const listed = (): string[] =>
    (ticket?.tickets ?? []).map(({ id, agent_id }) => `${agent_id} ${id}`).sort();
  t.strictSame(listed(), ['child perm_own', 'grandchild perm_g', 'grandchild perm_h']);
  t.match(await decide(troupe, 'perm_g', YES), { status: 202 });
  ticket = await nextTicket(troupe, ticket?.ticket_id);
  t.strictSame(executed, [{ tool: 'write', note: 'deep' }]);
  t.strictSame(listed(), ['child perm_own', 'grandchild perm_h']);
  t.match(await decide(troupe, 'perm_h', { payload: { approved: false } }), { status: 202 });
  ticket = await nextTicket(troupe, ticket?.ticket_id);
  t.strictSame(listed(), ['child perm_own']);
  t.match(await decide(troupe, ticket.ticket_id, YES), { status: 202 });
  await eventually(
    async () => executed,
    ({ length }) => length === 2,
  );
  t.strictSame(executed.at(-1), { tool: 'read', note: 'child' });
});
