import type OpenAI from 'openai';
import t from 'tap';
import { typesOf } from '../../protocols/openai/leg.ts';
import { asks } from '../models.ts';
import { countRuns, decisionsIn } from './chat.ts';
import { pick, startResponses, until } from './responses.ts';

/** Calls, approvals, background runs and reconnects of responses (openai-responses.md 7). */

const find = <Type extends OpenAI.Responses.ResponseOutputItem['type']>(
  { output }: OpenAI.Responses.Response,
  type: Type,
) =>
  output.find(
    (item): item is Extract<OpenAI.Responses.ResponseOutputItem, { type: Type }> => item.type === type,
  );

t.test('shows a call of the agent as a call of the server `troupe` (check 42)', async (t) => {
  const { client, troupe, events } = await startResponses(t);
  troupe.models.steps.push(asks(['c1', 'note']));
  const { events: found } = await events('/v1/responses', { model: 'steps', input: 'a', stream: true });
  t.same(typesOf(found).slice(2, 8), [
    'output_item.added',
    'mcp_call.in_progress',
    'mcp_call_arguments.delta',
    'mcp_call_arguments.done',
    'mcp_call.completed',
    'output_item.done',
  ]);
  const last = found.at(-1)?.response as OpenAI.Responses.Response;
  t.match(find(last, 'mcp_call'), { server_label: 'troupe', name: 'note', output: '"did c1"' });
  const stored = await client.responses.retrieve(last.id);
  t.strictSame(stored.output, last.output);
});

t.test('executes at most max_tool_calls calls of tools of the agent', async (t) => {
  const { client, troupe } = await startResponses(t);
  const { steps, requests } = troupe.models;
  steps.push(asks(['c1', 'note'], ['c2', 'note']), asks(['c3', 'note'], ['p1', 'pick', { a: 1 }]));
  const limits = { model: 'steps', tools: [pick], max_tool_calls: 1 };
  const asked = await client.responses.create({ ...limits, input: 'a' });
  t.equal(asked.max_tool_calls, 1);
  const results = JSON.stringify(requests.at(-1)?.request);
  t.match(results, /did c1/);
  t.match(results, /tool call limit reached/);
  t.notMatch(results, /did c2/);
  const call = find(asked, 'function_call');
  t.match(call, { name: 'pick' }, 'functions of the client do not count');
  const output = { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'red' } as const;
  const answer = { ...limits, previous_response_id: asked.id, input: [output] };
  steps.push(asks(['c4', 'note']));
  t.equal((await client.responses.create(answer)).status, 'completed');
  t.notMatch(JSON.stringify(requests.at(-1)?.request), /did c[234]/);

  steps.push(asks(['d1', 'note'], ['d2', 'note']));
  await client.responses.create({ model: 'steps', input: 'b' });
  t.match(JSON.stringify(requests.at(-1)?.request), /did d1.*did d2/s);
});

t.test('continues the run of a function call with its result, also after a restart (check 45)', async (t) => {
  const { troupe, client, ...rest } = await startResponses(t);
  troupe.models.steps.push(asks(['c1', 'pick', { a: 1 }]));
  const asked = await client.responses.create({ model: 'steps', input: 'a', tools: [pick] });
  const call = find(asked, 'function_call');
  t.match(call, { name: 'pick', arguments: '{"a":1}', call_id: /^call_[0-9a-z]{35}$/ });
  const missing = { previous_response_id: asked.id, input: 'b' };
  const refused = await troupe.post('/v1/responses', missing);
  t.equal(refused.status, 400);
  t.match(refused.body, { error: { message: `No tool output found for function call ${call?.call_id}.` } });
  await troupe.restart();
  const again = rest;
  t.ok(again);
  const output = { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'red' } as const;
  const done = await troupe.post('/v1/responses', { previous_response_id: asked.id, input: [output] });
  t.equal(done.status, 200);
  t.equal(await countRuns(troupe), 1);
  t.match(done.body, { id: asked.id.replace(/0001$/, '0002'), status: 'completed', output_text: 'echo: a' });
  t.match(JSON.stringify(troupe.models.requests.at(-1)?.request), /red/);
  const { body } = await troupe.call('GET', `/v1/runs/${uuidIn(asked.id)}/legs`);
  t.match(body, {
    items: [
      {
        id: asked.id,
        object: 'response',
        leg: 1,
        status: 'completed',
        request: { tools: [{ name: 'pick' }] },
      },
      { id: done.body.id, leg: 2, request: { previous_response_id: asked.id } },
    ],
  });
});

/** The run of a response. */
const uuidIn = (id: string): string =>
  id.replace(/^resp_(.{8})(.{4})(.{4})(.{4})(.{12}).{4}$/, '$1-$2-$3-$4-$5');

t.test('executes an approved call once, and denies another one (check 46)', async (t) => {
  const { client, troupe, tools } = await startResponses(t);
  troupe.models.steps.push(asks(['c1', 'risky']));
  const asked = await client.responses.create({ model: 'steps', input: 'a' });
  t.equal(asked.status, 'completed');
  const request = find(asked, 'mcp_approval_request');
  t.match(request, { server_label: 'troupe', name: 'risky', arguments: '{}' });
  const approval = {
    type: 'mcp_approval_response',
    approval_request_id: request?.id ?? '',
    approve: true,
  } as const;
  const done = await client.responses.create({ previous_response_id: asked.id, input: [approval] });
  t.match(find(done, 'mcp_call'), { approval_request_id: request?.id, output: '"did c1"' });
  t.same(tools.executed, ['c1']);
  t.match(await decisionsIn(troupe), [{ route: '/v1/responses', ip: '127.0.0.1', run_id: uuidIn(asked.id) }]);
  const repeated = await client.responses.create({ previous_response_id: asked.id, input: [approval] });
  t.equal(repeated.id, done.id);
  t.same(tools.executed, ['c1']);
  troupe.models.steps.push(asks(['c2', 'risky']));
  const other = await client.responses.create({ previous_response_id: done.id, input: 'b' });
  const denial = {
    type: 'mcp_approval_response',
    approval_request_id: find(other, 'mcp_approval_request')?.id ?? '',
    approve: false,
    reason: 'too risky',
  } as const;
  const denied = await client.responses.create({ previous_response_id: other.id, input: [denial] });
  t.equal(denied.status, 'completed');
  t.match(JSON.stringify(troupe.models.requests.at(-1)?.request), /too risky/);
  t.same(tools.executed, ['c1']);
});

t.test('answers concurrent approvals with the leg that the first one has started', async (t) => {
  const { client, troupe, tools } = await startResponses(t);
  troupe.models.steps.push(asks(['c1', 'risky']));
  const asked = await client.responses.create({ model: 'steps', input: 'a' });
  const request = find(asked, 'mcp_approval_request')?.id ?? '';
  const decide = (approve: boolean) =>
    client.responses.create({
      previous_response_id: asked.id,
      input: [{ type: 'mcp_approval_response', approval_request_id: request, approve }],
    });
  const [first, ...others] = await Promise.all([decide(true), decide(true), decide(true)]);
  for (const other of others) t.equal(other.id, first.id);
  t.same(tools.executed, ['c1']);
  t.equal((await troupe.call('GET', '/v1/threads')).body.total, 1);
});

t.test('answers an approval with the leg that a decision elsewhere has started (check 47)', async (t) => {
  const { client, troupe, tools } = await startResponses(t);
  troupe.models.steps.push(asks(['c1', 'risky']));
  const asked = await client.responses.create({ model: 'steps', input: 'a' });
  const run_id = (await troupe.call('GET', '/v1/runs')).body.items as { run_id: string }[];
  const id = run_id[0]?.run_id ?? '';
  const run = (await troupe.call('GET', `/v1/runs/${id}`)).body as { waiting?: { ticket_ids: string[] } };
  const decision = { toolCallId: run.waiting?.ticket_ids[0], action: 'resume', payload: { approved: true } };
  t.ok((await troupe.post(`/v1/runs/${id}/decision`, decision)).status < 300);
  await until(async () => (await troupe.call('GET', `/v1/runs/${id}`)).body.status === 'done');
  const request = find(asked, 'mcp_approval_request');
  const late = {
    type: 'mcp_approval_response',
    approval_request_id: request?.id ?? '',
    approve: false,
  } as const;
  const answer = await client.responses.create({ previous_response_id: asked.id, input: [late] });
  t.equal(answer.id, asked.id.replace(/0001$/, '0002'));
  t.match(find(answer, 'mcp_call'), { output: '"did c1"' });
  t.same(tools.executed, ['c1']);
});

t.test('runs in the background until it is cancelled (check 51)', async (t) => {
  const { client, troupe } = await startResponses(t);
  const started = await client.responses.create({ model: 'slow', input: 'a', background: true });
  t.match(started.status, /queued|in_progress/);
  await until(() => troupe.models.waiting() === 1);
  const [cancelled, again] = await Promise.all([
    client.responses.cancel(started.id),
    client.responses.cancel(started.id),
  ]);
  t.equal(cancelled.status, 'cancelled');
  t.strictSame(again, cancelled, 'equal for a concurrent request');
  t.same(cancelled.incomplete_details, { reason: 'cancelled' });
  t.match(await client.responses.cancel(started.id), { id: started.id, status: 'cancelled' });
  const second = await client.responses.create({ model: 'slow', input: 'b', background: true });
  await until(() => troupe.models.waiting() === 1);
  troupe.models.releaseAll();
  await until(async () => (await client.responses.retrieve(second.id)).status === 'completed');
  t.equal((await client.responses.retrieve(second.id)).output_text, 'partial answer');
});

t.test('cancels the run of a foreground request whose client hangs up (check 51)', async (t) => {
  const { client, troupe } = await startResponses(t);
  const stream = await client.responses.create({ model: 'slow', input: 'a', stream: true });
  let id = '';
  for await (const event of stream) {
    if (event.type === 'response.created') id = event.response.id;
    if (event.type === 'response.output_text.delta') break;
  }
  await until(async () => (await client.responses.retrieve(id)).status === 'cancelled');
  t.equal(troupe.models.waiting(), 0);
});

t.test(
  'reads a stream again from any event, live, after its end and after a restart (check 52)',
  async (t) => {
    const { client, troupe, events } = await startResponses(t);
    const started = await client.responses.create({ model: 'slow', input: 'a', background: true });
    await until(() => troupe.models.waiting() === 1);
    const path = `/v1/responses/${started.id}?stream=true`;
    const live = events(path);
    const late = events(`${path}&starting_after=3`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    troupe.models.releaseAll();
    const whole = (await live).events;
    t.same(
      whole.map(({ sequence_number }) => sequence_number),
      [...whole.keys()],
    );
    t.equal(whole.at(-1)?.type, 'response.completed');
    t.strictSame((await late).events, whole.slice(4));
    for (const k of whole.keys())
      t.strictSame((await events(`${path}&starting_after=${k}`)).events, whole.slice(k + 1), `after ${k}`);
    await troupe.restart();
    const { events: again, raw } = await events(path);
    t.strictSame(again, whole);
    t.ok(raw.endsWith('data: [DONE]\n\n'));
  },
);

t.test('ends a leg once whose process has died, with greater numbers (check 53)', async (t) => {
  const { client, troupe, events } = await startResponses(t);
  const started = await client.responses.create({ model: 'slow', input: 'a', background: true });
  await until(() => troupe.models.waiting() === 1);
  await troupe.restart();
  await until(() => troupe.models.waiting() === 1);
  const read = events(`/v1/responses/${started.id}?stream=true`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  troupe.models.releaseAll();
  const { events: found } = await read;
  const numbers = found.map(({ sequence_number }) => sequence_number);
  t.same(
    numbers,
    [...numbers].sort((a, b) => a - b),
  );
  t.equal(found.filter(({ type }) => type === 'response.completed').length, 1);
  t.match(found.at(-1)?.response, { status: 'completed' });
  t.equal(found.find(({ type }) => type === 'response.output_text.done')?.text, 'partial answer');
});
