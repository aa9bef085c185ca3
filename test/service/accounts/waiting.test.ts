import t, { type Test } from 'tap';
import { digestOfCall } from '../../../src/schema/call-digest.ts';
import { a2aFor } from '../a2a/tasks-client.ts';
import { user as agUiUser, find as findEvent, RUN, startAgUi } from '../ag-ui/ag-ui.ts';
import { user as chatUser, find, startChat } from '../chat/chat.ts';
import { mcpClient, type Rpc, rpc, text } from '../mcp/mcp.ts';
import { asks } from '../models.ts';
import { withTools } from '../suspended.ts';
import { eventually } from '../troupe.ts';
import { runEcho, withUsers } from '../users.ts';
import { createMailTool, WAIT } from './mail-tool.ts';

/** How a run that waits for an account looks on every surface: identity.md 6.2, check 81. */

const CALL = ['c1', 'send_mail', { to: 'Bob' }] as const;

const waiting = async (t: Test) => {
  const mail = createMailTool();
  const service = await withUsers(t, { app: { tools: [mail.tool] } });
  const alice = service.user('alice');
  service.models.steps.push(asks([...CALL]));
  await runEcho(alice, 't1', { agentId: 'steps' });
  const run = async () => {
    const { body } = await alice.get('/v1/threads/t1/runs');
    return (body.items as Record<string, unknown>[])[0] ?? {};
  };
  return { service, alice, mail, run };
};

t.test('waits with a ticket that shows the account and its address', async (t) => {
  const { run } = await waiting(t);
  t.match(await run(), {
    status: 'waiting',
    user: 'alice',
    waiting: {
      reason: 'tool_permission',
      message: 'auth_required',
      ticket_ids: ['auth_c1'],
      tickets: [
        {
          ticket_id: 'auth_c1',
          tool_call_id: 'c1',
          tool_name: 'send_mail',
          reason: 'mcp:auth_required',
          message: "Connect 'mail' to go on",
          resume_mode: 'replay_tool_call',
          arguments: WAIT,
          call_arguments: { to: 'Bob' },
          digest: digestOfCall({ tool: 'send_mail', arguments: WAIT }),
        },
      ],
    },
  });
});

t.test('no decision connects an account, on the decision routes and in a chat', async (t) => {
  const { service, alice, mail, run } = await waiting(t);
  const admin = service.user('root', 'admin');
  for (const decider of [alice, admin, service.user('carol', 'approver')]) {
    for (const payload of [undefined, { approved: true }, { approved: true, arguments: { to: 'Eve' } }, 'ok'])
      t.match(
        await decider.post('/v1/threads/t1/decision', { toolCallId: 'auth_c1', action: 'resume', payload }),
        { status: 403, body: { error: /waits until its user connects an account/ } },
      );
  }
  const part = {
    type: 'tool-send_mail',
    toolCallId: 'c1',
    state: 'approval-responded',
    input: {},
    approval: { id: 'auth_c1', approved: true },
  };
  const chat = {
    agentId: 'steps',
    threadId: 't1',
    messages: [{ id: 'm', role: 'assistant', parts: [part] }],
  };
  t.equal((await alice.post('/v1/ai-sdk/chat', chat)).status, 403);
  t.match(await run(), { status: 'waiting' });
  t.strictSame(mail.executed, []);
});

t.test('a user who may write the thread cancels the wait, and the model reads the denial', async (t) => {
  const { service, alice, mail, run } = await waiting(t);
  const cancel = { toolCallId: 'auth_c1', action: 'cancel', payload: { reason: 'not now' } };
  const reader = service.user('carol', 'approver');
  t.match(await reader.post('/v1/threads/t1/decision', cancel), { status: 403 });
  const writer = service.user('dave', 'member', 'write:all');
  t.equal((await writer.post('/v1/threads/t1/decision', cancel)).status, 202);
  await eventually(run, ({ status }) => status === 'done');
  const results = service.models.requests.at(-1)?.request.messages.filter(({ role }) => role === 'tool');
  t.match(JSON.stringify(results), /denied.*not now/i);
  t.strictSame(mail.executed, []);
  t.equal((await alice.post('/v1/threads/t1/decision', cancel)).status, 404);
});

t.test('the wait of a call ends as a timeout with its offer', async (t) => {
  const mail = createMailTool({ expires_at: Date.now() - 1 });
  const { troupe } = await withTools(t, {
    app: { tools: [mail.tool] },
    settings: { mailbox: { lease_sweep_interval_ms: 20 } },
  });
  const { models, run, call } = troupe;
  models.steps.push(asks([...CALL]));
  await (await run({ agentId: 'steps', threadId: 't1', messages: [{ role: 'user', content: 'Hi' }] })).rest();
  const events = async () => {
    const { body } = await call('GET', '/v1/threads/t1/events');
    return body.items as { event_kind: string; payload: object }[];
  };
  const decided = await eventually(
    async () => (await events()).find(({ event_kind }) => event_kind === 'MailboxDecisionReceived'),
    (found) => found !== undefined,
  );
  t.match(decided, { payload: { action: 'cancel', decided_by: 'timeout', tool_call_id: 'c1' } });
  t.strictSame(mail.executed, []);
});

t.test('an A2A task is AUTH_REQUIRED, with the address in its status message', async (t) => {
  const mail = createMailTool();
  const { send, troupe } = await a2aFor(t, { app: { tools: [mail.tool] } });
  troupe.models.steps.push(asks([...CALL]));
  const task = await send({ tenant: 'steps' });
  t.equal(task.status.state, 'TASK_STATE_AUTH_REQUIRED');
  t.match(task.status.message?.parts, [
    { text: `Connect 'mail' to go on: ${WAIT.url}` },
    { data: { id: 'c1', name: 'send_mail', arguments: WAIT } },
  ]);
});

t.test('a chat receives the address, and no request for an approval', async (t) => {
  const mail = createMailTool();
  const { say, history, models, open } = await startChat(t, { app: { tools: [mail.tool] } });
  models.steps.push(asks([...CALL]));
  const frames = await say('steps', 't1', chatUser('m1', 'Hi'));
  const data = {
    ticketId: 'auth_c1',
    toolCallId: 'c1',
    server: 'mail',
    scopes: ['read'],
    authorization: 'a1',
    url: WAIT.url,
    expiresAt: WAIT.expires_at,
  };
  t.match(find(frames, 'data-authorization'), { id: 'auth_c1', data });
  t.notOk(frames.some(({ type }) => type === 'tool-approval-request'));
  const { messages } = await history('t1');
  t.match(messages.at(-1)?.parts, [
    {
      type: 'tool-send_mail',
      state: 'input-available',
      input: { to: 'Bob' },
      providerExecuted: true,
    },
    { type: 'data-authorization', id: 'auth_c1', data },
  ]);
  const other = await open('/v1/ai-sdk/chat', { agentId: 'steps', threadId: 't1', messages: [] });
  t.ok(other.status < 500);
});

t.test('an AG-UI run is interrupted, with the address in the metadata', async (t) => {
  const mail = createMailTool();
  const { open, models } = await startAgUi(t, { app: { tools: [mail.tool] } });
  models.steps.push(asks([...CALL]));
  const body = { agentId: 'steps', threadId: 't1', runId: 'r1', messages: [agUiUser('m1', 'Hi')] };
  const stream = await open(RUN, { ...body, tools: [], context: [], state: {}, forwardedProps: {} });
  const events = (await stream.rest()).map(({ frame }) => frame);
  t.match(findEvent(events, 'RUN_FINISHED'), {
    outcome: {
      type: 'interrupt',
      interrupts: [
        {
          id: 'auth_c1',
          toolCallId: 'c1',
          message: "Connect 'mail' to go on",
          metadata: { action: 'mcp:auth_required', authorization: WAIT },
        },
      ],
    },
  });
});

const KEY = 'io.modelcontextprotocol';
const VERSION = '2026-07-28';

const callModern = async (url: string, elicitation: object, params: object = {}): Promise<Rpc> => {
  const { stream } = mcpClient(() => url);
  const _meta = {
    [`${KEY}/protocolVersion`]: VERSION,
    [`${KEY}/clientCapabilities`]: { elicitation },
  };
  const headers = { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'steps' };
  const given = { name: 'steps', arguments: { message: 'go' }, ...params, _meta };
  return (await (await stream(rpc(1, 'tools/call', given), headers)).rest()).at(-1) ?? {};
};

t.test('an MCP client that shows addresses is asked for the account', async (t) => {
  const mail = createMailTool();
  const { troupe } = await withTools(t, { app: { tools: [mail.tool] } });
  troupe.models.steps.push(asks([...CALL]));
  const first = await callModern(troupe.url, { url: {} });
  t.match(first.result, {
    resultType: 'input_required',
    inputRequests: {
      auth_c1: {
        method: 'elicitation/create',
        params: { mode: 'url', message: "Connect 'mail' to go on", url: WAIT.url },
      },
    },
  });
  const { requestState } = first.result ?? {};
  const declined = { requestState, inputResponses: { auth_c1: { action: 'decline' } } };
  const last = await callModern(troupe.url, { url: {} }, declined);
  t.equal(last.result?.isError, false);
  t.strictSame(mail.executed, []);

  troupe.models.steps.push(asks(['c2', 'send_mail', { to: 'Bob' }]));
  const withoutAddresses = await callModern(troupe.url, {});
  t.match(withoutAddresses.result, { isError: true });
  t.match(text(withoutAddresses), /suspended/);
});

t.test('an MCP session reports a missing account as error -32042, and cancels the run', async (t) => {
  const mail = createMailTool();
  const { troupe } = await withTools(t, { app: { tools: [mail.tool] } });
  const session = await mcpClient(() => troupe.url).open({ capabilities: { elicitation: { url: {} } } });
  troupe.models.steps.push(asks([...CALL]));
  const { answer } = await session.callToEnd('steps', { message: 'go' });
  t.match(answer.error, {
    code: -32042,
    data: { elicitations: [{ mode: 'url', url: WAIT.url, elicitationId: 'a1' }] },
  });
  const { body } = await troupe.call('GET', '/v1/runs');
  t.match(body.items, [{ status: 'done', termination_reason: { type: 'cancelled' } }]);
});
