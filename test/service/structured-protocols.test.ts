import t, { type Test } from 'tap';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import type { JsonObject } from '../../src/schema/json.ts';
import { a2aFor } from './a2a/tasks-client.ts';
import { mcpClient } from './mcp/mcp.ts';
import { asks, hangs, type Inference } from './models.ts';
import { eventually, startTroupe, type Troupe } from './troupe.ts';

/** The structured result of a run in each protocol and after a restart: structured-results.md, checks 2, 8 and 11. */

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { team: { enum: ['billing', 'tech'] }, token: { type: 'string', default: 'secret' } },
  required: ['team'],
};
const VALUE = { team: 'billing' };
const TEXT = JSON.stringify(VALUE);

const AGENTS = [
  { id: 'typed', output_schema: SCHEMA },
  { id: 'listed', output_schema: { type: 'array', items: { type: 'number' } } },
  { id: 'boss', delegates: ['typed', 'listed'] },
].map((agent) => AgentSpec.parse({ model_id: 'steps', ...agent }));

const OPTIONS = { app: { records: { ...NO_RECORDS, agents: AGENTS } } };

const start = (t: Test): Promise<Troupe> => startTroupe(t, OPTIONS);

const answers = (value: unknown): Inference => asks(['f', 'final_answer', value as object]);

const framesOf = ({ body }: { body: Record<string, unknown> }): Record<string, unknown>[] =>
  String(body.text)
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)));

t.test('sends the result in chat v6 as a data part before the end', async (t) => {
  const troupe = await start(t);
  troupe.models.steps.push(answers(VALUE));
  const frames = framesOf(
    await troupe.post('/v1/ai-sdk/chat', {
      agentId: 'typed',
      messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
    }),
  );
  t.strictSame(
    frames.slice(-2).map(({ type, data }) => ({ type, data })),
    [
      { type: 'data-structured-output', data: VALUE },
      { type: 'finish', data: undefined },
    ],
  );
  t.strictSame(
    frames.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta),
    [TEXT],
  );
  t.notMatch(JSON.stringify(frames), 'final_answer');
});

t.test('returns the result in RUN_FINISHED of AG-UI', async (t) => {
  const troupe = await start(t);
  troupe.models.steps.push(answers({ result: [1, 2] }));
  const frames = framesOf(
    await troupe.post('/v1/ag-ui/run', {
      agentId: 'listed',
      threadId: 'T',
      messages: [{ id: 'm1', role: 'user', content: 'Hi' }],
    }),
  );
  t.match(frames.at(-1), { type: 'RUN_FINISHED', result: { structured_output: [1, 2], response: '[1,2]' } });
  t.notMatch(JSON.stringify(frames), 'final_answer');
});

t.test('returns the result in an A2A artifact as data after the text, whole and streamed', async (t) => {
  const { troupe, send, get, stream } = await a2aFor(t, OPTIONS);
  const parts = [{ text: TEXT }, { data: VALUE, mediaType: 'application/json' }];
  troupe.models.steps.push(answers(VALUE));
  const task = await send({ tenant: 'typed', messageId: 'm1' });
  t.match(task, { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts }] });
  t.match(await get(task.id), { artifacts: [{ parts }] });
  troupe.models.steps.push(answers(VALUE));
  const reader = await stream({ tenant: 'typed', messageId: 'm2' });
  const pieces = (await reader.rest()).flatMap((event) =>
    'artifactUpdate' in event ? event.artifactUpdate.artifact.parts : [],
  );
  t.strictSame(pieces, parts);
});

t.test('lists the schema of an agent in MCP, and returns structured content', async (t) => {
  const troupe = await start(t);
  const session = await mcpClient(() => troupe.url).open();
  const { result } = await session.ask('tools/list', {});
  const tools = Object.fromEntries(
    ((result?.tools ?? []) as { name: string; outputSchema?: unknown }[]).map((tool) => [tool.name, tool]),
  );
  t.strictSame(tools.typed?.outputSchema, SCHEMA);
  t.match(tools.listed?.outputSchema, {
    type: 'object',
    properties: { result: { type: 'array' } },
    required: ['result'],
  });
  t.notOk(tools.boss && 'outputSchema' in tools.boss);
  const call = async (name: string) => {
    const messages = await session.call(name, { message: 'Hi' }, { id: name });
    return (await messages.rest()).at(-1)?.result;
  };
  troupe.models.steps.push(answers(VALUE));
  t.match(await call('typed'), {
    content: [{ type: 'text', text: TEXT }],
    structuredContent: VALUE,
    isError: false,
  });
  troupe.models.steps.push(answers({ result: [1] }));
  t.match(await call('listed'), { structuredContent: { result: [1] } });
  const wrong = answers({ team: 1 });
  troupe.models.steps.push(wrong, wrong, wrong);
  const failed = await call('typed');
  t.match(failed, { isError: true }, 'official clients accept an error without structured content');
  t.notOk(failed && 'structuredContent' in failed);
});

t.test('returns the result of the delegate in a delegation', async (t) => {
  const troupe = await start(t);
  troupe.models.steps.push(asks(['d', 'agent_run_typed', { prompt: 'Sort it' }]), answers(VALUE));
  const messages = [{ role: 'user', content: 'Go' }];
  const events = await troupe.runToEnd({ agentId: 'boss', threadId: 'T', messages });
  const done = events.find(({ event_type }) => event_type === 'tool_call_done');
  t.match(done, { result: { data: { response: TEXT, output: { structured: VALUE } } } });
});

t.test('keeps the schema of an agent readable, even if a property is named like a secret', async (t) => {
  const troupe = await start(t);
  const headers = { authorization: 'Bearer admin-token-of-the-tests' };
  const { body } = await troupe.call('GET', '/v1/config/agents/typed', undefined, headers);
  const spec = (body.spec ?? body) as { output_schema?: unknown };
  t.strictSame(spec.output_schema, SCHEMA);
});

t.test('keeps the number of repairs across a restart, and ends the run with its result', async (t) => {
  const troupe = await start(t);
  troupe.models.steps.push(answers({ team: 1 }), hangs());
  const messages = [{ role: 'user', content: 'Go' }];
  const stream = await troupe.run({ agentId: 'typed', threadId: 'T', messages });
  const { run_id } = await stream.until('run_start');
  await eventually(
    async () => troupe.models.requests.length,
    (asked) => asked === 2,
  );
  // The run continues while the service starts.
  troupe.models.steps.push(answers({ team: 1 }), answers(VALUE));
  await troupe.restart();
  const { body } = await eventually(
    () => troupe.call('GET', `/v1/runs/${String(run_id)}`),
    ({ body }) => body.status === 'done',
  );
  t.match(body, { structured_output: VALUE, output_repairs: 2 });
  const [, , third] = troupe.models.requests;
  t.strictSame(third?.request.toolChoice, { tool: 'final_answer' }, 'the final answer is still forced');
});

t.test('keeps the schema of a request across a restart in the middle of its run', async (t) => {
  const troupe = await start(t);
  troupe.models.steps.push(hangs());
  const messages = [{ role: 'user', content: 'Go' }];
  const output_schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const stream = await troupe.run({ agentId: 'typed', threadId: 'T', messages, output_schema });
  const { run_id } = await stream.until('run_start');
  await eventually(
    async () => troupe.models.requests.length,
    (asked) => asked === 1,
  );
  troupe.models.steps.push(answers({ n: 1 }));
  await troupe.restart();
  const { body } = await eventually(
    () => troupe.call('GET', `/v1/runs/${String(run_id)}`),
    ({ body }) => body.status === 'done',
  );
  t.strictSame(body.structured_output, { n: 1 });
});

t.test('adds a step after the completion for steered input', async (t) => {
  const troupe = await start(t);
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  troupe.models.steps.push(async (sink, request, signal) => {
    await held;
    return answers({ team: 'tech' })(sink, request, signal);
  }, answers(VALUE));
  const messages = [{ role: 'user', content: 'Go' }];
  const stream = await troupe.run({ agentId: 'typed', threadId: 'T', messages });
  const { run_id } = await stream.until('run_start');
  const steered = await troupe.post('/v1/threads/T/messages', {
    mode: 'steer',
    messages: [{ role: 'user', content: 'It is about money' }],
  });
  t.equal(steered.status, 202);
  release();
  const events = await stream.rest();
  t.match(events.at(-1), { result: { structured_output: VALUE } });
  const { body } = await troupe.call('GET', `/v1/runs/${String(run_id)}`);
  t.match(body, { steps: 2, structured_output: VALUE });
});
