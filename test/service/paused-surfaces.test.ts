import t, { type Test } from 'tap';
import { digestOfCall } from '../../src/schema/call-digest.ts';
import { a2aFor } from './a2a/tasks-client.ts';
import { user as agUiUser, find as findEvent, RUN, startAgUi } from './ag-ui/ag-ui.ts';
import { admin, uses } from './budget.ts';
import { user as chatUser, find, startChat } from './chat/chat.ts';
import { mcpClient, type Rpc, rpc, text } from './mcp/mcp.ts';
import { eventually, startTroupe, type Troupe } from './troupe.ts';
import { runEcho, withUsers } from './users.ts';

/** The right to decide on an exhausted budget, and the form of its waits on every surface: identity.md 4, 5.4, check 75. */

const BUDGET = { id: 'b', window: { every: 'month' }, limits: { tokens: 1000 } };

/** Spends the budget with a run of the agent `steps`. */
const exhaust = async (t: Test, troupe: Pick<Troupe, 'call' | 'models'>, spec: object = {}) => {
  const { status } = await troupe.call('PUT', '/v1/config/budgets/b', { ...BUDGET, ...spec }, admin);
  t.equal(status, 200);
  troupe.models.steps.push(uses(1000, 0));
  const messages = [{ role: 'user', content: 'x' }];
  await troupe.call('POST', '/v1/runs', { agentId: 'steps', threadId: 'spender', messages }, admin);
};

const waiting = async (t: Test) => {
  const service = await withUsers(t);
  await exhaust(t, service);
  const alice = service.user('alice');
  await runEcho(alice, 't1', { agentId: 'steps' });
  const run = async () => Object((await alice.get('/v1/threads/t1/runs')).body).items[0];
  const { waiting: wait } = await run();
  return { service, alice, run, ticket: wait.tickets[0] };
};

t.test('pauses by default, and shows the end of the window', async (t) => {
  const { ticket, run } = await waiting(t);
  t.match(await run(), { status: 'waiting', user: 'alice', waiting: { reason: 'manual_pause' } });
  t.match(ticket.arguments, { budget: 'b', unit: 'tokens', spent: 1000, limit: 1000, resets_at: Number });
});

t.test('`configure:budgets` raises the budget, and its decision is recorded', async (t) => {
  const { service, alice, run, ticket } = await waiting(t);
  const raise = {
    toolCallId: ticket.ticket_id,
    action: 'resume',
    payload: { extra: { tokens: 5000 } },
    digest: digestOfCall({ tool: 'budget', arguments: ticket.arguments }),
  };
  const refused = {
    status: 403,
    body: { error: "a decision on 'budget' needs configure:budgets", needs: ['configure:budgets'] },
  };
  for (const decider of [alice, service.user('carol', 'approver'), service.user('dave', 'operator')]) {
    t.match(await decider.post('/v1/threads/t1/decision', raise), refused);
    t.match(await decider.post('/v1/threads/t1/decision', { ...raise, payload: null }), refused);
  }
  t.equal(
    (await service.user('erin', 'configure:budgets').post('/v1/threads/t1/decision', raise)).status,
    404,
  );
  t.match(await run(), { status: 'waiting' });
  const treasurer = service.user('erin', 'configure:budgets', 'read:all');
  service.models.steps.push(uses(10, 10));
  t.equal((await treasurer.post('/v1/threads/t1/decision', raise)).status, 202);
  await eventually(run, ({ status }) => status === 'done');
  const { items } = Object((await service.call('GET', '/v1/access-log', undefined, admin)).body);
  t.match(
    items.filter(({ kind }: { kind: string }) => kind === 'decide'),
    [{ user: 'erin', reason: "raise budget 'b' by 5000 tokens", thread_id: 't1' }],
  );
  const events = Object((await alice.get('/v1/threads/t1/events?limit=200')).body).items;
  t.match(
    events.find(({ event_kind }: { event_kind: string }) => event_kind === 'MailboxDecisionReceived'),
    { payload: { decided_by: 'erin', result: { extra: { tokens: 5000 } }, principal: { user: 'erin' } } },
  );
});

t.test('the run is refused more by a user who may write its thread', async (t) => {
  const { service, alice, run, ticket } = await waiting(t);
  const cancel = { toolCallId: ticket.ticket_id, action: 'cancel' };
  const reader = service.user('carol', 'approver');
  t.match(await reader.post('/v1/threads/t1/decision', cancel), { status: 403 });
  t.equal((await alice.post('/v1/threads/t1/decision', cancel)).status, 202);
  const ended = await eventually(run, ({ status }) => status === 'done');
  t.match(ended, { termination_reason: { type: 'stopped', value: { code: 'budget', detail: 'b' } } });
});

const LIMIT = { budget: 'b', unit: 'tokens', spent: 1000, limit: 1000 };

t.test('an A2A task is INPUT_REQUIRED, and names the budget', async (t) => {
  const { send, troupe } = await a2aFor(t);
  await exhaust(t, troupe);
  const task = await send({ tenant: 'steps' });
  t.equal(task.status.state, 'TASK_STATE_INPUT_REQUIRED');
  t.match(task.status.message?.parts, [
    { text: "Budget 'b' is exhausted" },
    { data: { name: 'budget', arguments: LIMIT } },
  ]);
});

t.test('a chat receives the limit, and no tool call', async (t) => {
  const chat = await startChat(t);
  await exhaust(t, chat);
  const frames = await chat.say('steps', 't1', chatUser('m1', 'Hi'));
  const ticketId = /^budget_/;
  t.match(find(frames, 'data-budget'), { id: ticketId, data: { ticketId, ...LIMIT } });
  t.notOk(frames.some(({ type }) => type.startsWith('tool-')));
  t.match(find(frames, 'finish'), { finishReason: 'tool-calls' });
  const run = async () => Object((await chat.call('GET', '/v1/threads/t1/runs/latest')).body);
  const { run_id, waiting: wait } = await run();
  const decision = { toolCallId: wait.ticket_ids[0], action: 'resume', payload: { extra: { tokens: 5000 } } };
  chat.models.steps.push(uses(10, 10));
  t.equal((await chat.call('POST', `/v1/runs/${run_id}/decision`, decision, admin)).status, 202);
  await eventually(run, ({ status }) => status === 'done');
  const { messages } = await chat.history('t1');
  t.match(messages, [{ role: 'user' }, { role: 'assistant', parts: [{ type: 'text', text: 'done' }] }]);
});

t.test('an AG-UI run is interrupted, with the limit in the metadata', async (t) => {
  const agUi = await startAgUi(t);
  await exhaust(t, agUi);
  const body = { agentId: 'steps', threadId: 't1', messages: [agUiUser('m1', 'Hi')] };
  const more = { tools: [], context: [], state: {}, forwardedProps: {} };
  const stream = await agUi.open(RUN, { ...body, ...more, runId: 'r1' });
  const events = (await stream.rest()).map(({ frame }) => frame);
  const finished = findEvent(events, 'RUN_FINISHED');
  t.match(finished, {
    outcome: {
      type: 'interrupt',
      interrupts: [
        {
          id: /^budget_/,
          reason: 'budget_exceeded',
          message: "Budget 'b' is exhausted",
          metadata: { action: 'budget:exceeded', budget: LIMIT },
        },
      ],
    },
  });
  const { id } = Object(finished).outcome.interrupts[0];
  const resume = [{ interruptId: id, status: 'resolved', payload: { extra: { tokens: 5000 } } }];
  const refused = await agUi.open(RUN, { ...body, ...more, runId: 'r2', resume });
  t.equal(refused.status, 403);
  t.match(Object((await agUi.call('GET', '/v1/threads/t1/runs/latest')).body), { status: 'waiting' });
});

const KEY = 'io.modelcontextprotocol';
const VERSION = '2026-07-28';

t.test('an MCP client is asked nothing, and its call reports the suspended run', async (t) => {
  const troupe = await startTroupe(t);
  await exhaust(t, troupe);
  const { stream } = mcpClient(() => troupe.url);
  const _meta = {
    [`${KEY}/protocolVersion`]: VERSION,
    [`${KEY}/clientCapabilities`]: { elicitation: { form: {}, url: {} } },
  };
  const headers = { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'steps' };
  const given = { name: 'steps', arguments: { message: 'go' }, _meta };
  const answers: Rpc[] = await (await stream(rpc(1, 'tools/call', given), headers)).rest();
  t.match(answers.at(-1)?.result, { isError: true });
  t.match(text(answers.at(-1) ?? {}), /suspended/);
});
