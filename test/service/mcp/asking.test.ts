import t from 'tap';
import { asks } from '../models.ts';
import { withTools } from '../suspended.ts';
import { eventually } from '../troupe.ts';
import { type Messages, mcpClient, type Rpc, rpc, text } from './mcp.ts';

/** Suspended runs ask the client of their call: mcp.md C5, and A10 for sessions. */

const KEY = 'io.modelcontextprotocol';
const VERSION = '2026-07-28';

const calling = (url: string, capabilities: object = { elicitation: {} }) => {
  const { stream } = mcpClient(() => url);
  let last = 0;
  return async (params: object): Promise<Rpc> => {
    last += 1;
    const _meta = { [`${KEY}/protocolVersion`]: VERSION, [`${KEY}/clientCapabilities`]: capabilities };
    const args = { name: 'steps', arguments: { message: 'go' } };
    const headers = { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'steps' };
    const messages = await (
      await stream(rpc(last, 'tools/call', { ...args, ...params, _meta }), headers)
    ).rest();
    return messages.at(-1) ?? {};
  };
};

type Request = { method: string; params: { message: string; requestedSchema: { required: string[] } } };

const requestsIn = ({ result }: Rpc) => (result?.inputRequests ?? {}) as Record<string, Request>;

const says = (answer: string) => (sink: { text(delta: string): void }) => {
  sink.text(answer);
  return { stop: 'EndTurn' as const };
};

t.test('asks for a permission and an input, and continues the call with them', async (t) => {
  const { troupe, tools } = await withTools(t);
  const { url, models, call: http } = troupe;
  const call = calling(url);
  models.steps.push(asks(['c1', 'risky', { path: '/x' }], ['c2', 'pick_color']), says('done'));
  const first = await call({});
  t.match(first.result, { resultType: 'input_required' });
  const requests = requestsIn(first);
  t.strictSame(Object.keys(requests).sort(), ['perm_c1', 'suspend_c2']);
  t.match(requests.perm_c1, {
    method: 'elicitation/create',
    params: { requestedSchema: { required: ['approve'] } },
  });
  t.match(requests.perm_c1?.params.message, /risky.*\/x/);
  t.match(requests.suspend_c2, { params: { requestedSchema: { required: ['answer'] } } });
  t.strictSame(tools.executed, []);
  const requestState = first.result?.requestState;

  const half = await call({
    requestState,
    inputResponses: { perm_c1: { action: 'accept', content: { approve: true } } },
  });
  t.strictSame(Object.keys(requestsIn(half)), ['suspend_c2'], 'the open ticket is requested again');
  const last = await call({
    requestState: half.result?.requestState,
    inputResponses: { suspend_c2: { action: 'accept', content: { answer: 'blue' } } },
  });
  t.strictSame([text(last), last.result?.isError], ['done', false]);
  t.strictSame(tools.executed, ['c1']);
  const { body } = await http('GET', '/v1/threads');
  t.equal((body.items as string[]).length, 1, 'one run makes all calls');
  const told = models.requests.at(-1)?.request.messages.filter(({ role }) => role === 'tool');
  t.match(JSON.stringify(told), /did c1.*blue/);
});

t.test('treats a declined or unclear approval as a denial', async (t) => {
  const { troupe, tools } = await withTools(t);
  const call = calling(troupe.url);
  for (const response of [
    { action: 'decline' },
    { action: 'cancel' },
    { action: 'accept', content: { approve: false } },
  ]) {
    troupe.models.steps.push(asks(['c1', 'risky']), says('denied then'));
    const first = await call({});
    const last = await call({
      requestState: first.result?.requestState,
      inputResponses: { perm_c1: response },
    });
    t.equal(text(last), 'denied then', JSON.stringify(response));
  }
  t.strictSame(tools.executed, []);
});

t.test('continues the call with a decision that was made elsewhere', async (t) => {
  const { troupe } = await withTools(t);
  const call = calling(troupe.url);
  troupe.models.steps.push(asks(['c1', 'risky']), says('approved elsewhere'));
  const first = await call({});
  const { run_id } = JSON.parse(String(first.result?.requestState));
  const decided = await troupe.post(`/v1/runs/${run_id}/decision`, { toolCallId: 'c1', action: 'resume' });
  t.equal(decided.status, 202);
  await eventually(
    async () => (await troupe.call('GET', `/v1/runs/${run_id}`)).body,
    ({ status }) => status === 'done',
  );
  const retried = {
    requestState: first.result?.requestState,
    inputResponses: { perm_c1: { action: 'decline' } },
  };
  t.equal(text(await call(retried)), 'approved elsewhere');
  t.equal(text(await call(retried)), 'approved elsewhere', 'a repeated request succeeds too');
});

t.test('rejects an invalid request state', async (t) => {
  const { troupe } = await withTools(t);
  const call = calling(troupe.url);
  await troupe.runToEnd({ agentId: 'echo', threadId: 'T', messages: [{ role: 'user', content: 'x' }] });
  const { body } = await troupe.call('GET', '/v1/threads/T/runs/latest');
  const { run_id } = body;
  for (const requestState of [
    'x',
    '{}',
    '[]',
    JSON.stringify({ thread_id: 'T', run_id: 'no-such' }),
    JSON.stringify({ thread_id: 'other', run_id }),
    JSON.stringify({ thread_id: 'T', run_id }),
  ]) {
    t.match(await call({ requestState, inputResponses: {} }), { error: { code: -32602 } }, requestState);
  }
});

t.test('reports a suspended run to a client without forms', async (t) => {
  const { troupe } = await withTools(t);
  troupe.models.steps.push(asks(['c1', 'risky']));
  const answer = await calling(troupe.url, {})({});
  t.strictSame([text(answer), answer.result?.isError], ['agent run suspended', true]);
});

t.test('asks the client in the stream of its call in a session', async (t) => {
  const { troupe, tools } = await withTools(t);
  const { models, url } = troupe;
  const session = await mcpClient(() => url).open({ capabilities: { elicitation: {} } });
  models.steps.push(asks(['c1', 'risky']), says('done'));
  const stream: Messages = await session.call('steps', { message: 'go' });
  const asked = await stream.until('elicitation/create');
  t.match(asked.params, { requestedSchema: { required: ['approve'] } });
  const answer = { jsonrpc: '2.0', id: asked.id, result: { action: 'accept', content: { approve: true } } };
  t.equal((await session.post(answer)).status, 202);
  const last = (await stream.rest()).at(-1) ?? {};
  t.strictSame([text(last), last.result?.isError], ['done', false]);
  t.strictSame(tools.executed, ['c1']);
});
